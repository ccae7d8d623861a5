import type { Analysis } from '../../domain/analysis.ts';
import type { Evidence } from '../../domain/evidence.ts';
import type { BuildArchive } from '../../ports/build-archive.ts';
import { type Html, html, joinHtml, type Shown } from '../html.ts';
import {
  type LinePart,
  markFound,
  markWords,
  type ShownLine,
  showLines,
  toPlainText,
} from './render-line.ts';

/** The options for rendering the rows of one log. */
export interface RowsOptions {
  /** The prefix of line ids, for pages with several logs: "b-" gives "b-L120". */
  readonly prefix?: string;
  /** Returns the address of a line in the viewer. If null, line numbers are not links. */
  readonly lineAddress: ((line: number) => string) | null;
  /** Returns the address of a window of the viewer. */
  readonly windowAddress: (window: Range) => string;
  readonly evidence: readonly EvidenceLines[];
  readonly marked?: Range | null;
  readonly found?: { readonly text: string; readonly matchCase: boolean } | null;
  readonly stamps?: boolean;
  /** The number of lines that a gap shows at a time. */
  readonly step?: number;
  /** True if a script opens gaps when they come into view. */
  readonly opening?: boolean;
  /** Notes below lines, by line number. If set, evidence has no labels. */
  readonly notes?: ReadonlyMap<number, readonly Html[]>;
  /** Words that are underlined in cited lines. */
  readonly titleWords?: readonly string[];
  /** True if blank lines and the marks of groups are omitted. */
  readonly wordsOnly?: boolean;
}

/** Renders the rows of a view: one item for each line and each gap. */
export function renderRows(stretches: readonly ReadStretch[], lineCount: number, options: RowsOptions): Html {
  return joinHtml(
    stretches.map((stretch) =>
      stretch.kind === 'gap'
        ? gapRow(stretch, lineCount, options)
        : stretch.lines
            .filter((line) => options.wordsOnly !== true || hasWords(line))
            .map((line) => lineRow(line, stretch, options)),
    ),
    '\n',
  );
}

/** Tells whether a line has content: it is neither blank nor the mark of a group of lines. */
export function hasWords(line: Pick<ShownLine, 'parts'>): boolean {
  const text = toPlainText(line).trim();
  return text !== '' && !/^(?:##\[(?:end)?group\]|::(?:end)?group::|section_(?:start|end):\d)/.test(text);
}

/**
 * Renders a list of rows. `label` names the log. If `wrap` is absent, the reader's preference decides whether
 * long lines wrap. Without `isWhole`, blank lines and the marks of groups are hidden.
 */
export function logList(
  rows: Html,
  {
    label,
    wrap,
    isWhole = false,
  }: { readonly label: string; readonly wrap?: boolean | undefined; readonly isWhole?: boolean },
): Html {
  const how = wrap === undefined ? '' : wrap ? ' wrap' : ' nowrap';
  return html`<div class="lines${how}${isWhole && ' whole'}" role="region" aria-label="${label}"
    tabindex="0"><ol role="list">
    ${rows}
    </ol></div>`;
}

/** Renders one line. Its text never becomes a link or markup. */
export function lineRow(line: ShownLine, within: Range, options: RowsOptions): Html {
  const { number } = line;
  const evidence = options.evidence.filter(({ from, to }) => from <= number && number <= to);
  const isCited = evidence.some(({ cited }) => cited.includes(number));
  const isMarked = options.marked != null && options.marked.from <= number && number <= options.marked.to;
  const { found, titleWords = [], notes } = options;
  const content =
    found != null
      ? markFound(line, found.text, found.matchCase)
      : isCited
        ? markWords(line, titleWords)
        : line;
  const classes = [isCited && 'cited', isMarked && 'sel', !hasWords(line) && 'blank']
    .filter((name) => name !== false)
    .join(' ');
  const first = evidence.filter((other) => number === findFirstLine(other, within));
  const anchors =
    notes !== undefined && first.map(({ id, anchor }) => anchor && html`<span id="${id}"></span>`);
  return html`<li id="${options.prefix}L${number}"
    data-line="${number}"${classes !== '' && html` class="${classes}"`}${
      first.length > 0 && html` data-evidence`
    }>${renderNumber(number, options)}<code>${anchors}${
      options.stamps === true && line.stamp !== null && html`<span class="ts">${line.stamp} </span>`
    }${content.parts.map(renderPart)}${
      line.missing > 0 &&
      html`<span class="rest">… +${line.missing.toLocaleString('en-US')} characters</span>`
    }</code>${
      line.overwritten !== null && overwrites(line.overwritten)
    }${notes === undefined && evidence.map((item) => chip(item, number, within))}</li>${notes?.get(number)}`;
}

function renderNumber(number: number, { lineAddress }: RowsOptions): Html {
  if (lineAddress === null) return html`<span class="n">${number}</span>`;
  return html`<a class="n" href="${lineAddress(number)}" aria-label="Line ${number}">${number}</a>`;
}

function renderPart({ text, classes, found }: LinePart): Html {
  const inner = found === true ? html`<mark>${text}</mark>` : html`${text}`;
  return classes === '' ? inner : html`<span class="${classes}">${inner}</span>`;
}

function overwrites({ times, texts }: NonNullable<ShownLine['overwritten']>): Html {
  const earlier = times - texts.length;
  return html`<details class="over"><summary>↻ ${times.toLocaleString('en-US')}
    ${times === 1 ? 'overwrite' : 'overwrites'}</summary>${
      earlier > 0 && html`<span class="quiet">${earlier.toLocaleString('en-US')} earlier</span>\n`
    }${joinHtml(texts, '\n')}</details>`;
}

/**
 * Returns the line that shows the label of a piece of evidence: its first visible cited line, or else its
 * first visible line.
 */
function findFirstLine({ cited, from }: EvidenceLines, within: Range): number {
  return cited.find((line) => within.from <= line && line <= within.to) ?? Math.max(from, within.from);
}

/**
 * Renders the label of a piece of evidence. On its first cited line, the label links to the claims. On other
 * cited lines, it only shows the id.
 */
function chip(evidence: EvidenceLines, number: number, within: Range): Shown {
  const { id, anchor, title, href, from, cited } = evidence;
  if (number !== findFirstLine(evidence, within))
    return cited.includes(number) && html`<span class="chip" aria-hidden="true">${id}</span>`;
  const name = anchor && number === (cited[0] ?? from) && html` id="${id}"`;
  if (href === null) return html`<span class="chip"${name} title="${title}">${id}</span>`;
  return html`<a class="chip"${name} href="${href}" title="${title}" aria-label="${id}: ${title}">${id}</a>`;
}

/**
 * Renders a gap. Its link works without scripts. With scripts, the gap opens in place with the data in
 * `data-gap`.
 */
function gapRow({ from, to }: Range, lineCount: number, options: RowsOptions): Html {
  const { step = STEP, windowAddress } = options;
  const count = to - from + 1;
  const words =
    `⋯ ${count.toLocaleString('en-US')} ${count === 1 ? 'line' : 'lines'} not shown: ` +
    `show ${Math.min(count, step).toLocaleString('en-US')}`;
  const [first, second] =
    from === 1 ? [true, null] : [false, to === lineCount || count <= step ? null : true];
  const link = (isLast: boolean, text: string) => {
    const visible = getStepRange({ from, to }, isLast, step);
    return html`<a data-gap="${writeRange({ from, to })}" href="${windowAddress(visible)}">${text}</a>`;
  };
  return html`<li class="gap" data-from="${from}"
    data-to="${to}"${options.opening === true && html` data-opening`}>${link(first, words)}${
      second !== null && html` ${link(second, `or the last ${step.toLocaleString('en-US')}`)}`
    }</li>`;
}

/** A part of a view with its lines. A gap has none. */
export interface ReadStretch extends Stretch {
  readonly lines: readonly ShownLine[];
}

/** The maximum number of lines of one request. The archive returns no more. */
const AT_ONCE = 2_000;
/**
 * The maximum distance of parts that are read by one request, because they are in the same chunk or in
 * neighboring ones.
 */
const NEAR = 500;

/** Reads the lines of a view. Returns null if the text was deleted. */
export async function readStretches(
  archive: Pick<BuildArchive, 'lines'>,
  of: { readonly buildId: string; readonly name: string },
  stretches: readonly Stretch[],
): Promise<ReadStretch[] | null> {
  const questions = splitQuestions(stretches);
  const answers = await Promise.all(
    questions.map(({ from, to }) => archive.lines(of.buildId, of.name, from, to)),
  );
  if (answers.some((answer) => answer === null)) return null;
  const windows = answers.flatMap((answer) => answer ?? []);
  return stretches.map((stretch) => {
    if (stretch.kind === 'gap') return { ...stretch, lines: [] };
    const lines = windows.flatMap(({ lineStart, lines }) =>
      lines.slice(Math.max(0, stretch.from - lineStart), Math.max(0, stretch.to - lineStart + 1)),
    );
    return { ...stretch, lines: showLines(lines, stretch.from) };
  });
}

/**
 * Returns ranges that contain all shown lines. They do not overlap, and each is small enough for one request.
 */
function splitQuestions(stretches: readonly Stretch[]): { from: number; to: number }[] {
  const questions: { from: number; to: number }[] = [];
  for (const { kind, from, to } of stretches) {
    if (kind === 'gap') continue;
    const last = questions.at(-1);
    if (last !== undefined && from - last.to <= NEAR && to - last.from < AT_ONCE) {
      last.to = to;
      continue;
    }
    for (let start = from; start <= to; start += AT_ONCE)
      questions.push({ from: start, to: Math.min(to, start + AT_ONCE - 1) });
  }
  return questions;
}

/** The lines of one log that a piece of evidence covers. */
export interface EvidenceLines extends Range {
  /** The id, such as "E3". */
  readonly id: string;
  readonly title: string;
  readonly source: string;
  /**
   * The lines that a claim quotes, in order. All lines if a claim cites the evidence without a quotation.
   * Only these are highlighted.
   */
  readonly cited: readonly number[];
  /** True if `#E3` links to these lines. */
  readonly anchor: boolean;
  /** The address of the claims that cite it. Null if there are none. */
  readonly href: string | null;
}

type Cited = Pick<EvidenceLines, 'from' | 'to' | 'cited'>;

/**
 * Lists the evidence of an analysis that refers to lines of the text with this name, in the order of the ids.
 */
export function listEvidenceLines(
  { evidence, answer }: Pick<Analysis, 'evidence' | 'answer'>,
  name: string,
): (Evidence & Cited)[] {
  return evidence.flatMap((item) => {
    const lines = item.source === name ? getLineRange(item) : null;
    return lines === null ? [] : [{ ...item, ...lines, cited: listCitedLines(answer.claims, item, lines) }];
  });
}

function listCitedLines(
  claims: Analysis['answer']['claims'],
  { id, source }: Evidence,
  { from, to }: Range,
): number[] {
  const quotes = claims
    .flatMap((claim) => claim.quotes)
    .filter((quote) => quote.source === source && from <= quote.line && quote.line <= to);
  if (quotes.length > 0)
    return [...new Set(quotes.map(({ line }) => line))].toSorted((left, right) => left - right);
  if (!claims.some(({ evidence }) => evidence.includes(id))) return [];
  return Array.from({ length: Math.min(to - from + 1, MAX_UNQUOTED) }, (_, at) => from + at);
}

/** The maximum number of highlighted lines of evidence that is cited without a quotation. */
const MAX_UNQUOTED = 40;

/** Returns the lines that prove something: each cited line, or the whole piece if no line is cited. */
export function getProofRanges({ from, to, cited }: Cited): Range[] {
  return cited.length === 0 ? [{ from, to }] : cited.map((line) => ({ from: line, to: line }));
}

/** The tool name of excerpts that the reader of the logs chose. All other evidence was requested. */
export const READER = 'log';

/** Returns the lines of a piece of evidence, or null if it has none. */
export function getLineRange({ lineStart, lineEnd = lineStart }: Evidence): Range | null {
  if (lineStart === undefined || lineEnd === undefined) return null;
  return { from: lineStart, to: Math.max(lineStart, lineEnd) };
}

/** A range of lines, 1-based, including both ends. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** A part of a log: lines that are shown, or a gap. */
export interface Stretch extends Range {
  readonly kind: 'lines' | 'gap';
}

/** The number of lines in one window of the full log. */
export const WINDOW = 400;
/** The number of lines that a gap shows at a time. */
const STEP = 200;
/** The maximum number of rows on one page. */
export const MAX_ROWS = 3_000;
const AROUND = 6;
/**
 * The number of lines around evidence on other pages, the maximum number of lines of one piece of evidence,
 * and of all pieces.
 */
const BESIDE = 5;
const MAX_NEARBY = 20;
const MAX_BESIDE = 240;
/** The number of lines shown from the end of the failing step. */
const STEP_END = 40;
/** The minimum number of lines in a gap. Shorter gaps take more room than their lines. */
const SMALL_GAP = 3;

interface Telling {
  readonly lineCount: number;
  /** The lines of evidence, in any order. They may exceed the end of the log. */
  readonly evidence: readonly Range[];
  /** The last line of the failed step. The last line of the log if it is unknown. */
  readonly failedAt?: number;
}

/**
 * Returns the collapsed view: evidence with six lines around it, the last 40 lines of the failed step, and
 * gaps. A short log is shown in full.
 */
export function foldLog({ lineCount, evidence, failedAt }: Telling): Stretch[] {
  if (lineCount <= WINDOW) return withGaps([{ from: 1, to: lineCount }], lineCount);
  const end = Math.min(failedAt ?? lineCount, lineCount);
  const around = evidence.map(({ from, to }) => ({ from: from - AROUND, to: Math.max(from, to) + AROUND }));
  return withGaps(
    limitRanges(mergeRanges([...around, { from: end - STEP_END + 1, to: end }], lineCount)),
    lineCount,
  );
}

/**
 * Returns the view for other pages than the viewer: the first lines of each piece of evidence with five lines
 * around it.
 */
export function createEvidenceView(lineCount: number, evidence: readonly Range[]): Stretch[] {
  const around = evidence.map(({ from, to }) => ({
    from: from - BESIDE,
    to: Math.min(Math.max(from, to), from + MAX_NEARBY - 1) + BESIDE,
  }));
  return withGaps(limitRanges(mergeRanges(around, lineCount), MAX_BESIDE), lineCount);
}

/** Returns the view of one window, with gaps before and after it. */
export function createWindowView(lineCount: number, { from, to }: Range): Stretch[] {
  const start = Math.max(1, Math.min(from, lineCount));
  return withGaps(
    [{ from: start, to: Math.min(Math.max(start, to), start + MAX_ROWS - 1, lineCount) }],
    lineCount,
  );
}

/** Returns the window around marked lines. The first marked line is a third from the top. */
export function createAroundView(lineCount: number, marked: Range): Stretch[] {
  const third = Math.floor(WINDOW / 3);
  const from = Math.max(1, Math.min(marked.from, lineCount) - third);
  return createWindowView(lineCount, {
    from,
    to: Math.max(from + WINDOW - 1, Math.min(marked.to + third, lineCount)),
  });
}

/**
 * Replaces a gap by the opened lines and the remaining gaps on either side. Returns an empty list if the
 * lines are not in the gap.
 */
export function openGap(gap: Range, opened: Range): Stretch[] {
  const from = Math.max(gap.from, opened.from);
  const to = Math.min(gap.to, opened.to, from + MAX_ROWS - 1);
  if (to < from) return [];
  const before: Stretch = { kind: 'gap', from: gap.from, to: from - 1 };
  const after: Stretch = { kind: 'gap', from: to + 1, to: gap.to };
  return [before, { kind: 'lines', from, to } as const, after].filter(
    (stretch) => stretch.to >= stretch.from,
  );
}

/**
 * Returns the lines that a gap shows first: those next to the evidence. Before the first evidence, these are
 * the last lines of the gap.
 */
export function getStepRange(gap: Range, isFirst: boolean, step = STEP): Range {
  return isFirst
    ? { from: Math.max(gap.from, gap.to - step + 1), to: gap.to }
    : { from: gap.from, to: Math.min(gap.to, gap.from + step - 1) };
}

/** Parses lines such as "120", "120-140" and "L120-L140". Returns null for any other text. */
export function readRange(text: string): Range | null {
  const [, first, last = first] = /^L?(\d{1,9})(?:-L?(\d{1,9}))?$/.exec(text.trim()) ?? [];
  const [from, to] = [Number(first), Number(last)];
  if (!(from >= 1) || !(to >= 1)) return null;
  return from <= to ? { from, to } : { from: to, to: from };
}

/** Formats lines for addresses: "120" or "120-140". */
export function writeRange({ from, to }: Range): string {
  return from === to ? String(from) : `${from}-${to}`;
}

/** Sorts ranges, limits them to the log, and merges ranges that touch or nearly touch. */
function mergeRanges(ranges: readonly Range[], lineCount: number): Range[] {
  const clipped = ranges
    .map(({ from, to }) => ({ from: Math.max(1, from), to: Math.min(to, lineCount) }))
    .filter(({ from, to }) => from <= to);
  const joined: { from: number; to: number }[] = [];
  for (const range of clipped.toSorted((left, right) => left.from - right.from)) {
    const before = joined.at(-1);
    if (before !== undefined && range.from - before.to - 1 < SMALL_GAP)
      before.to = Math.max(before.to, range.to);
    else joined.push({ ...range });
  }
  const [start, end] = [joined[0], joined.at(-1)];
  if (start !== undefined && start.from - 1 < SMALL_GAP) start.from = 1;
  if (end !== undefined && lineCount - end.to < SMALL_GAP) end.to = lineCount;
  return joined;
}

/** Keeps the first ranges, as many as fit on a page. */
function limitRanges(ranges: readonly Range[], rows = MAX_ROWS): Range[] {
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
