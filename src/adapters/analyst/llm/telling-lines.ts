import type { TriageSubject } from '../../../domain/subject.ts';
import { cutMiddle } from './cut-text.ts';

/** The lines on which extractors found something, by source, most reliable first. */
export type TellingLines = ReadonlyMap<string, readonly number[]>;

/** A test's message or an exception's goes on below its first line; what led to it stands just above. */
const BEFORE = 1;
const AFTER = 4;
/** Share of the room that the last lines get: how a step ended stands there. */
const ENDING = 0.2;

/** Where the failing tests, exceptions, compiler messages and error lines of this failure stand. */
export function tellingLinesOf(subject: TriageSubject): TellingLines {
  const found = new Map<string, number[]>();
  const add = (source: string, line: number) => {
    const lines = found.get(source) ?? [];
    if (!lines.includes(line)) found.set(source, [...lines, line]);
  };
  const errors = subject.diagnostics.filter((entry) => entry.severity === 'error');
  for (const { at } of [...subject.failingTests, ...subject.exceptions, ...errors, ...subject.messages])
    if (at !== null) add(at.source, at.line);
  for (const exit of subject.exits) add(exit.source, exit.line);
  return found;
}

/**
 * Numbered lines within `limit` characters: around the telling ones, and the last; where nothing tells, the first two thirds and the
 * end. Marks say how many lines are missing in between. `lineStart` is the number of the first.
 */
export function cutAround(lines: readonly string[], lineStart: number, telling: readonly number[], limit: number): string[] {
  const size = lines.reduce((sum, line) => sum + line.length + 1, 0);
  const here = telling.map((line) => line - lineStart).filter((index) => index >= 0 && index < lines.length);
  if (size <= limit || here.length === 0) return cutMiddle(lines, limit);
  const kept = new Set<number>();
  let room = limit;
  const keep = (index: number, floor = 0) => {
    const line = lines[index];
    if (line === undefined || kept.has(index) || room - line.length - 1 < floor) return;
    kept.add(index);
    room -= line.length + 1;
  };
  const ending = limit * ENDING;
  for (const index of here) keep(index, ending);
  for (const index of here) {
    for (let offset = 1; offset <= AFTER; offset++) keep(index + offset, ending);
    for (let offset = 1; offset <= BEFORE; offset++) keep(index - offset, ending);
  }
  for (let index = lines.length - 1; index >= 0 && room > 0; index--) {
    const before = kept.size;
    keep(index);
    if (kept.size === before && !kept.has(index)) break;
  }
  return withMarks(lines, kept);
}

function withMarks(lines: readonly string[], kept: ReadonlySet<number>): string[] {
  const shown: string[] = [];
  let missing = 0;
  const mark = () => {
    if (missing > 0) shown.push(`[… ${missing} ${missing === 1 ? 'line is' : 'lines are'} not shown …]`);
    missing = 0;
  };
  for (const [index, line] of lines.entries()) {
    if (!kept.has(index)) {
      missing += 1;
      continue;
    }
    mark();
    shown.push(line);
  }
  mark();
  return shown;
}
