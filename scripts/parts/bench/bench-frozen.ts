import { benchFrozen } from './frozen.ts';

/**
 * Measures how long it takes to run recorded runs again, and what recording costs. Times are wall-clock times
 * of one process on this machine.
 */
const runs = Number(process.argv[2] ?? 1000);
const { identical, plainMs, recordedMs, frozenMs, bytes } = await benchFrozen(runs);
const each = (milliseconds: number) => `${(milliseconds / runs).toFixed(1)} ms`;
console.log(
  `${runs} runs answered by rules: ${each(plainMs)} each; recorded ${each(recordedMs)} (${((recordedMs / plainMs - 1) * 100).toFixed(1)} % more)`,
);
console.log(`recordings: ${(bytes / runs / 1024).toFixed(1)} KiB of JSON each`);
console.log(
  `run again: ${(frozenMs / 1000).toFixed(1)} s in all, ${each(frozenMs)} each (${(frozenMs / plainMs).toFixed(2)} of a run); ${identical} identical`,
);
