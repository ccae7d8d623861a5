/** Lines, both included, 1-based. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** A stretch of a log: lines that are shown, or lines that are not. */
export interface Stretch extends Range {
  readonly kind: 'lines' | 'gap';
}

/** Lines of one window of the full log. */
export const WINDOW = 400;
/** Lines that a gap shows at a time. */
export const STEP = 200;
/** Rows of one page. */
export const MAX_ROWS = 3_000;
const AROUND = 6;
/** Lines around evidence on other pages, lines shown of one piece, and of all. */
const BESIDE = 5;
const MOST_BESIDE = 20;
const MAX_BESIDE = 240;
/** Of the end of the failing step. */
const STEP_END = 40;
/** A gap of fewer lines costs more than it saves. */
const SMALL_GAP = 3;

export interface Telling {
  readonly lineCount: number;
  /** Where evidence stands; in any order, also beyond the log's end. */
  readonly evidence: readonly Range[];
  /** Last line of the step that failed, where it is known; else the log's. */
  readonly failedAt?: number;
}

/** The folded view: evidence with six lines around it, the last 40 lines of the failing step, and gaps. A short log is shown whole. */
export function foldedView({ lineCount, evidence, failedAt }: Telling): Stretch[] {
  if (lineCount <= WINDOW) return withGaps([{ from: 1, to: lineCount }], lineCount);
  const end = Math.min(failedAt ?? lineCount, lineCount);
  const around = evidence.map(({ from, to }) => ({ from: from - AROUND, to: Math.max(from, to) + AROUND }));
  return withGaps(bounded(merged([...around, { from: end - STEP_END + 1, to: end }], lineCount)), lineCount);
}

/** For a page beside the log: the first lines of each piece of evidence with five around it. */
export function evidenceView(lineCount: number, evidence: readonly Range[]): Stretch[] {
  const around = evidence.map(({ from, to }) => ({
    from: from - BESIDE,
    to: Math.min(Math.max(from, to), from + MOST_BESIDE - 1) + BESIDE,
  }));
  return withGaps(bounded(merged(around, lineCount), MAX_BESIDE), lineCount);
}

/** One window, with what is before and after it as gaps. */
export function windowView(lineCount: number, { from, to }: Range): Stretch[] {
  const start = Math.max(1, Math.min(from, lineCount));
  return withGaps([{ from: start, to: Math.min(Math.max(start, to), start + MAX_ROWS - 1, lineCount) }], lineCount);
}

/** The window around marked lines: the first of them is a third down. */
export function aroundView(lineCount: number, marked: Range): Stretch[] {
  const third = Math.floor(WINDOW / 3);
  const from = Math.max(1, Math.min(marked.from, lineCount) - third);
  return windowView(lineCount, { from, to: Math.max(from + WINDOW - 1, Math.min(marked.to + third, lineCount)) });
}

/** What a gap becomes when lines of it are shown: those lines, and what is left on either side. Nothing where they are not within it. */
export function openedGap(gap: Range, shown: Range): Stretch[] {
  const from = Math.max(gap.from, shown.from);
  const to = Math.min(gap.to, shown.to, from + MAX_ROWS - 1);
  if (to < from) return [];
  const before: Stretch = { kind: 'gap', from: gap.from, to: from - 1 };
  const after: Stretch = { kind: 'gap', from: to + 1, to: gap.to };
  return [before, { kind: 'lines', from, to } as const, after].filter((one) => one.to >= one.from);
}

/** Which lines of a gap are shown first: those next to what is shown already, before the first evidence its end. */
export function stepOf(gap: Range, isFirst: boolean, step = STEP): Range {
  return isFirst
    ? { from: Math.max(gap.from, gap.to - step + 1), to: gap.to }
    : { from: gap.from, to: Math.min(gap.to, gap.from + step - 1) };
}

/** "120", "120-140", "L120-L140" → lines; null where it is no such thing. */
export function readRange(text: string): Range | null {
  const [, first, last = first] = /^L?(\d{1,9})(?:-L?(\d{1,9}))?$/.exec(text.trim()) ?? [];
  const [from, to] = [Number(first), Number(last)];
  if (!(from >= 1) || !(to >= 1)) return null;
  return from <= to ? { from, to } : { from: to, to: from };
}

/** As it is in addresses: "120" or "120-140". */
export function writeRange({ from, to }: Range): string {
  return from === to ? String(from) : `${from}-${to}`;
}

/** In order, within the log, and one where they touch or nearly do. */
function merged(ranges: readonly Range[], lineCount: number): Range[] {
  const clipped = ranges
    .map(({ from, to }) => ({ from: Math.max(1, from), to: Math.min(to, lineCount) }))
    .filter(({ from, to }) => from <= to);
  const joined: { from: number; to: number }[] = [];
  for (const range of clipped.toSorted((left, right) => left.from - right.from)) {
    const before = joined.at(-1);
    if (before !== undefined && range.from - before.to - 1 < SMALL_GAP) before.to = Math.max(before.to, range.to);
    else joined.push({ ...range });
  }
  const [start, end] = [joined[0], joined.at(-1)];
  if (start !== undefined && start.from - 1 < SMALL_GAP) start.from = 1;
  if (end !== undefined && lineCount - end.to < SMALL_GAP) end.to = lineCount;
  return joined;
}

/** As many as fit into a page, from the first on. */
function bounded(ranges: readonly Range[], rows = MAX_ROWS): Range[] {
  let room = rows;
  return ranges.flatMap(({ from, to }) => {
    const end = Math.min(to, from + room - 1);
    room -= Math.max(0, end - from + 1);
    return end >= from ? [{ from, to: end }] : [];
  });
}

function withGaps(ranges: readonly Range[], lineCount: number): Stretch[] {
  const stretches: Stretch[] = [];
  let next = 1;
  for (const { from, to } of ranges) {
    if (from > next) stretches.push({ kind: 'gap', from: next, to: from - 1 });
    stretches.push({ kind: 'lines', from, to });
    next = to + 1;
  }
  if (next <= lineCount) stretches.push({ kind: 'gap', from: next, to: lineCount });
  return stretches;
}
