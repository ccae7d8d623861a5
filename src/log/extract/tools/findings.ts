import type { Diagnostic } from '../../../domain/failure.ts';
import { append } from '../../../lib/lists.ts';
import type { LogText } from '../../lines/lines.ts';
import { normaliseMessage } from '../../recognise/normalise.ts';
import type { Extraction } from '../extraction.ts';
import { isFile } from './place.ts';

/** A diagnostic on the way into an extraction, with the lines that belong to it. */
export interface Finding extends Omit<Diagnostic, 'at'> {
  readonly start: number;
  readonly end: number;
  /** What it weighs as the first of its kind; later ones weigh less. */
  readonly weight: number;
}

interface Known {
  /** Lines that a finding has taken. */
  readonly taken: Set<number>;
  /** Findings so far, by tool and severity. */
  readonly counts: Map<string, number>;
}

/** Most findings of one tool and severity that are kept. */
const MAX_KEPT = 200;
const WARNING_WEIGHT = 12;

const known = new WeakMap<Extraction, Known>();

/** Whether a finding has taken the line already. */
export function isTaken(found: Extraction, line: number): boolean {
  return knownOf(found).taken.has(line);
}

/** Counts one finding of a tool; answers how many there were before, or null where no more are kept. */
export function countFinding(found: Extraction, tool: string, severity: Diagnostic['severity']): number | null {
  const { counts } = knownOf(found);
  const key = `${tool} ${severity}`;
  const count = counts.get(key) ?? 0;
  counts.set(key, count + 1);
  return count < MAX_KEPT ? count : null;
}

/** What the finding after `count` others weighs. */
export function weightOf(severity: Diagnostic['severity'], weight: number, count: number): number {
  return severity === 'warning' ? WARNING_WEIGHT : weight - Math.min(count, 30) * 0.2;
}

/** Keeps lines from being read again by the readers that come after. */
export function take(found: Extraction, start: number, end: number): void {
  for (let line = start; line <= end; line++) knownOf(found).taken.add(line);
}

/** Adds a finding as data and as a block, unless there are too many of its kind. */
export function addFinding(log: LogText, finding: Finding, found: Extraction): void {
  const { start, end, weight: most, tool, severity, ...said } = finding;
  const count = countFinding(found, tool, severity);
  take(found, start, end);
  if (count === null) return;
  const weight = weightOf(severity, most, count);
  // A formatter has no more to say than the name of the file.
  const file = said.file ?? (isFile(said.message) && !/\s/.test(said.message) ? said.message : null);
  found.diagnostics.push({ tool, severity, ...said, file, message: said.message.slice(0, 500), at: { source: log.name, line: start } });
  found.blocks.push({ start, end, weight, reason: `${tool} ${severity}` });
}

/**
 * Puts what was said before, of another place, behind all that is said for the first time: a list that is cut still shows each message.
 * Moves the diagnostics from index `from` on.
 */
export function putRepeatsLast(found: Extraction, from: number): void {
  const seen = new Set<string>();
  const [firsts, repeats]: [Diagnostic[], Diagnostic[]] = [[], []];
  for (const one of found.diagnostics.splice(from)) {
    const key = `${one.severity} ${one.code} ${normaliseMessage(one.message)}`;
    (seen.has(key) ? repeats : firsts).push(one);
    seen.add(key);
  }
  append(found.diagnostics, [...firsts, ...repeats]);
}

function knownOf(found: Extraction): Known {
  const state = known.get(found) ?? { taken: new Set(), counts: new Map() };
  known.set(found, state);
  return state;
}
