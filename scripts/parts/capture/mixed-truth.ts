import { createHash } from 'node:crypto';

import type { MixedBuild, MixedFailure } from './mixed-row.ts';
import { listCitedLines } from './truth.ts';

/** A log of a build, with its job if there are several. */
export interface CapturedLog {
  readonly name: string;
  readonly path: string;
  readonly text: string;
}

/** A failure in a row of `mixed.jsonl`. Lines are 1-based and inclusive over `text.split('\n')`. */
export type LabelledFailure = Omit<MixedFailure, 'at' | 'lines'> & {
  readonly log_lines: ReadonlyArray<[number, number]>;
};

/** Describes a build for `mixed.jsonl`, from its table and its logs. */
export function describeBuild(build: MixedBuild, logs: readonly CapturedLog[]) {
  const { runner, green, passedOnRetry } = build;
  const failures = labelFailures(build, logs);
  return {
    runner,
    shape: nameShape(build),
    split: splitByRunner(runner),
    green,
    tests_passed_on_retry: passedOnRetry,
    failures,
  };
}

/** Returns what makes the build hard to read. Figures are computed for each. */
function nameShape({ findings, green, jobs, passedOnRetry, run }: MixedBuild): string {
  if (green === true) return 'green';
  if (jobs !== undefined || typeof run !== 'string') return 'steps';
  if (passedOnRetry !== undefined) return 'retried';
  return findings === true ? 'findings' : 'tests';
}

/** Finds the lines of each failure by literal search. Throws if the log contradicts the table. */
function labelFailures(build: MixedBuild, logs: readonly CapturedLog[]): LabelledFailure[] {
  const outputs = logs.map((log) => ({ ...log, text: hideCommands(log.text) }));
  for (const words of [build.tally].flat()) {
    if (!outputs.some(({ text }) => withoutColors(text).includes(words)))
      throw new Error(`no log counts "${words}"`);
  }
  refuseSharedMessages(build.failures);
  return build.failures.map((failure) => {
    const { at, lines = [], ...kept } = failure;
    const log =
      failure.log === undefined && outputs.length === 1
        ? outputs[0]
        : outputs.find(({ name }) => name === failure.log);
    if (log === undefined) throw new Error(`"${failure.message}" names no log of the build`);
    if (failure.test !== undefined && !withoutColors(log.text).includes(failure.test))
      throw new Error(`no log names the test "${failure.test}"`);
    return { ...kept, log_lines: findLines(log.text, at, [failure.message, ...lines]) };
  });
}

/** Assigns a runner to one of two halves by its name. One half is held back from the work on rules. */
export function splitByRunner(runner: string): 'work' | 'held' {
  return (createHash('sha256').update(`mixed builds 38 ${runner}`).digest()[0] ?? 0) % 2 === 0
    ? 'work'
    : 'held';
}

/** Lists messages that are part of one with another cause, and could be found in the wrong place. */
function refuseSharedMessages(failures: readonly MixedFailure[]): void {
  for (const failure of failures) {
    const other = failures.find(
      ({ cause, message }) =>
        cause !== failure.cause && normalize(message).includes(normalize(failure.message)),
    );
    if (other !== undefined)
      throw new Error(`"${failure.message}" stands in the message of another cause: "${other.message}"`);
  }
}

function normalize(text: string): string {
  return text.toLowerCase().replace(/\s+/g, ' ').trim();
}

function findLines(
  text: string,
  at: string | undefined,
  quotes: Parameters<typeof listCitedLines>[1],
): Array<[number, number]> {
  const [[header, end] = [1, 1]] = at === undefined ? [] : listCitedLines(text, [at]);
  const below = text.split('\n').slice(header - 1);
  const own = listCitedLines(below.join('\n'), quotes).map(([from, to]): [number, number] => [
    from + header - 1,
    to + header - 1,
  ]);
  const all = at === undefined ? own : [[header, end] as [number, number], ...own];
  const sorted = all.toSorted(([a], [b]) => a - b);
  return sorted.filter(
    ([from, to], index) => !sorted.some(([a, b], place) => place < index && a <= from && to <= b),
  );
}

/** Blanks the echo of a step's commands, so that no quote is found there. */
function hideCommands(text: string): string {
  let echo = false;
  return text
    .split('\n')
    .map((line) => {
      if (line.includes('##[group]Run ')) echo = true;
      const hidden = echo;
      if (line.endsWith('##[endgroup]')) echo = false;
      return hidden ? '' : line;
    })
    .join('\n');
}

function withoutColors(text: string): string {
  return text.replace(/\u001b\[[0-9;]*[A-Za-z]/g, '');
}
