import type { ReadFailure } from '../fingerprint/failures.ts';
import { joinRanges } from '../line-ranges.ts';
import type { ReadLog } from '../read-log.ts';
import { isWithin, type LineRange } from '../sections/system.ts';

/** The maximum number of lines of the shared context that are linked to one cause. */
const MAX_LINKED = 20;

/**
 * Names that link a line of the shared context to a failure: a host with its port, a service's address, an
 * environment variable.
 */
const NAMES = new RegExp(
  String.raw`\b(?:\d{1,3}(?:\.\d{1,3}){3}|localhost|[a-z][\w-]{0,60}(?:\.[a-z][\w-]{0,60}){0,6})` +
    String.raw`:\d{2,5}\b|\b[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,6}\b`,
  'g',
);

/** Names that too many tools print to link anything. */
const COMMON =
  /^(?:ERR_[A-Z_]{1,60}|[a-z][\w-]{0,60}\.(?:[cm]?[jt]sx?|py|go|rs|rb|java|kt|cs|php|exs?|cc?|cpp|h):\d+)$/;

/**
 * Finds lines that no failure owns and that name the same service, address or variable as these failures do.
 * `owned` lines are left out.
 */
export function findLinkedLines(
  read: ReadLog,
  failures: readonly ReadFailure[],
  owned: readonly LineRange[],
): LineRange[] {
  const messages = failures.slice(0, 10).map(({ message }) => message);
  const names = [...new Set(messages.flatMap((text) => text.slice(0, 1_000).match(NAMES) ?? []))].filter(
    (name) => !COMMON.test(name),
  );
  if (names.length === 0) return [];
  const taken = joinRanges(owned);
  const candidates = [...new Set(read.hits.flat())].sort((a, b) => a - b);
  const linked: LineRange[] = [];
  for (const line of candidates) {
    if (linked.length === MAX_LINKED) break;
    if (isWithin(taken, line)) continue;
    const text = read.log.line(line);
    if (names.some((name) => text.includes(name))) linked.push({ start: line, end: line });
  }
  return linked;
}
