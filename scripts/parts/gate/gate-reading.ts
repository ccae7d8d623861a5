import { parseArgs } from 'node:util';
import {
  createJudge,
  createJudgeWithout,
  greenRules,
  harmlessJudgments,
  inventedToolJudgment,
  ownToolLeftOut,
  unknownToolJudgment,
} from '../../../test/support/judging-gates.ts';
import { pageGates } from '../../../test/support/page-gates.ts';
import {
  capturedFailures,
  createCachedRead,
  greenGate,
  harmlessLineGates,
  inventedToolGates,
  unknownToolGates,
} from '../../../test/support/reading-gates.ts';

/**
 * Checks reading and judging on the captured failures. `--each N` tries N kinds of harmless lines per failure
 * (there are 200), and `--list` prints the misses.
 */
const { values: asked } = parseArgs({
  options: { each: { type: 'string', default: '4' }, list: { type: 'boolean', default: false } },
});
const failures = capturedFailures();
const read = createCachedRead();
const judge = createJudge(read);
const figures = [
  ...harmlessLineGates(failures, Number(asked.each), read),
  ...unknownToolGates(failures, read),
  greenGate(failures),
  ...inventedToolGates(300),
  ...harmlessJudgments(failures, Number(asked.each), judge),
  unknownToolJudgment(failures, judge),
  ownToolLeftOut(failures, createJudgeWithout(read)),
  inventedToolJudgment(300, judge),
  greenRules(failures),
  ...(await pageGates(failures)),
];
for (const { name, value, bar, cases, missed } of figures) {
  const verdict = value >= bar ? 'held  ' : 'FAILED';
  console.log(`${verdict} ${value.toFixed(3)} (bar ${bar.toFixed(2)}, ${cases} cases) ${name}`);
  if (asked.list || value < bar)
    for (const label of missed.slice(0, asked.list ? missed.length : 10)) console.log(`         ${label}`);
}
const held = figures.filter(({ value, bar }) => value >= bar).length;
console.log(`reading and judging: ${held} of ${figures.length} bars held`);
if (held < figures.length) process.exitCode = 1;
