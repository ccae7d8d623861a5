import { readTokens } from './code-tokens.ts';
import { sumNumbers } from './collections.ts';

/**
 * One contiguous change in a patch: removed and added lines with up to three lines of context on either side.
 */
export interface LineChange {
  readonly removed: readonly string[];
  readonly added: readonly string[];
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** The line number of the first added line, or of the line that follows the removed ones. */
  readonly newLine: number;
  readonly oldLine: number;
}

const CONTEXT = 3;
const HEAD = /^@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@/;

interface PatchLine {
  readonly mark: string;
  readonly text: string;
  readonly oldLine: number;
  readonly newLine: number;
}

/** Reads the changes of one file's unified diff, in their order. Lines that belong to no hunk are ignored. */
export function readChanges(patch: string): LineChange[] {
  return splitHunks(patch).flatMap((lines) =>
    findChangedRanges(lines).map((stretch) => toChange(lines, stretch)),
  );
}

/** Maximum length of a patch that is compared as code. A longer patch always counts as a change. */
const MAX_READ = 40_000;
/**
 * Maximum number of neighboring changes compared together: reformatting one statement may split into several.
 */
const MAX_TOGETHER = 8;

/** Reads the changes of a file's unified diff without those that leave the same code in another format. */
export function readAlterations(patch: string, path: string): LineChange[] {
  if (patch.length > MAX_READ) return readChanges(patch);
  return splitHunks(patch).flatMap((lines) => {
    const stretches = findChangedRanges(lines);
    const altering: ChangedRange[] = [];
    for (let at = 0; at < stretches.length; at += 1) {
      const last = stretches.slice(at, at + MAX_TOGETHER).findIndex((stretch) => {
        const [start, end] = [stretches[at]?.start ?? 0, stretch.end];
        return isSameCode(lines.slice(findEdge(lines, start, -1), findEdge(lines, end, 1)), path);
      });
      const stretch = stretches[at];
      if (last < 0 && stretch !== undefined) altering.push(stretch);
      at += Math.max(0, last);
    }
    return altering.map((stretch) => toChange(lines, stretch));
  });
}

/**
 * Checks whether a patch leaves the same code in another format. Returns false if the patch has fewer lines
 * than `additions` and `deletions`, because a cut patch may hide changes. A count is null if it is not known.
 */
export function isOnlyFormatting(
  patch: string,
  path: string,
  { additions, deletions }: { readonly additions: number | null; readonly deletions: number | null },
): boolean {
  const changes = readChanges(patch);
  const added = sumNumbers(changes.map((change) => change.added.length));
  const removed = sumNumbers(changes.map((change) => change.removed.length));
  const isWhole = added >= (additions ?? 0) && removed >= (deletions ?? 0);
  return (
    changes.length > 0 && isWhole && patch.length <= MAX_READ && readAlterations(patch, path).length === 0
  );
}

/** Writes a change as a hunk of a unified diff. */
export function formatChange({ removed, added, before, after, newLine, oldLine }: LineChange): string {
  const around = before.length + after.length;
  // Other added lines are context here, so `oldLine - before.length` may be less than 1.
  const old = `${Math.max(1, oldLine - before.length)},${removed.length + around}`;
  const head = `@@ -${old} +${newLine - before.length},${added.length + around} @@`;
  const mark = (lines: readonly string[], sign: string) => lines.map((line) => `${sign}${line}`);
  return [head, mark(before, ' '), mark(removed, '-'), mark(added, '+'), mark(after, ' ')].flat().join('\n');
}

/**
 * Returns the first and last line of a change in the new file. A removal is placed at the line that follows
 * it.
 */
export function findChangedRange({ newLine, added }: LineChange): [number, number] {
  return [newLine, newLine + Math.max(1, added.length) - 1];
}

function splitHunks(patch: string): PatchLine[][] {
  const hunks: PatchLine[][] = [];
  let [oldLine, newLine] = [0, 0];
  for (const line of patch.split('\n')) {
    const head = HEAD.exec(line);
    const mark = line[0] ?? ' ';
    if (head !== null) {
      [oldLine, newLine] = [Number(head[1]), Math.max(1, Number(head[2]))];
      hunks.push([]);
    } else if (mark === ' ' || mark === '+' || mark === '-') {
      hunks.at(-1)?.push({ mark, text: line.slice(1), oldLine, newLine });
      if (mark !== '+') oldLine += 1;
      if (mark !== '-') newLine += 1;
    }
  }
  return hunks;
}

/** A range of changed lines in a hunk; the end is exclusive. */
interface ChangedRange {
  readonly start: number;
  readonly end: number;
}

function findChangedRanges(lines: readonly PatchLine[]): ChangedRange[] {
  const stretches: ChangedRange[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    if (lines[at]?.mark === ' ') continue;
    const start = at;
    while (at < lines.length && lines[at]?.mark !== ' ') at += 1;
    stretches.push({ start, end: at });
  }
  return stretches;
}

/** Returns the index at which the context above (-1) or below (1) a range ends. */
function findEdge(lines: readonly PatchLine[], from: number, step: 1 | -1): number {
  let edge = from;
  const isContext = () => lines[step < 0 ? edge - 1 : edge]?.mark === ' ';
  while (Math.abs(edge - from) < CONTEXT && isContext()) edge += step;
  return edge;
}

function isSameCode(lines: readonly PatchLine[], path: string): boolean {
  const [before = '', after = ''] = ['+', '-'].map((other) => {
    const side = lines.filter(({ mark }) => mark !== other).map(({ text }) => text);
    return readTokens(side, path).join('\0');
  });
  return before === after;
}

function toChange(lines: readonly PatchLine[], { start, end }: ChangedRange): LineChange {
  const changed = lines.slice(start, end);
  const select = (sign: string) => changed.filter(({ mark }) => mark === sign).map(({ text }) => text);
  return {
    removed: select('-'),
    added: select('+'),
    before: readContext(lines, start - 1, -1).reverse(),
    after: readContext(lines, end, 1),
    newLine: changed[0]?.newLine ?? 1,
    oldLine: changed[0]?.oldLine ?? 1,
  };
}

/** Reads the nearest lines of the new file, starting at a line in one direction. */
function readContext(lines: readonly PatchLine[], from: number, step: 1 | -1): string[] {
  const texts: string[] = [];
  for (let at = from; texts.length < CONTEXT && at >= 0 && at < lines.length; at += step) {
    const line = lines[at];
    if (line !== undefined && line.mark !== '-') texts.push(line.text);
  }
  return texts;
}
