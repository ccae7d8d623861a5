import type { Section } from '../../domain/failure.ts';
import type { LogText } from '../lines/lines.ts';
import type { Mark } from './system.ts';
import { failedSection, withConsequences } from './system.ts';

const ENDED = /^Build step '(.{1,200})' (?:marked build as failure|changed build result to (?:FAILURE|UNSTABLE))/;

/** Build steps that failed a freestyle job. Each starts with the workspace in brackets and the command: `[ledger] $ /bin/sh -xe …`. */
export function freestyleFailures(log: LogText, marks: readonly Mark[]): Section[] {
  const failed: Section[] = [];
  let started: Mark | undefined;
  for (const mark of marks) {
    if (/^\[[^\]]{1,120}\] \$ /.test(mark.text)) started = mark;
    const name = ENDED.exec(mark.text)?.[1];
    if (name === undefined) continue;
    // Publishers start no command of their own: what they blame stands just above.
    const start = started?.line ?? Math.max(failed.at(-1)?.lineEnd ?? 1, mark.line - 5);
    failed.push(failedSection(log, [name], start, mark.line));
    started = undefined;
  }
  return withConsequences(failed);
}
