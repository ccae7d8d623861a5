import type { Analysis } from '../../domain/analysis.ts';
import type { Evidence } from '../../domain/evidence.ts';
import type { BuildArchive } from '../../ports/build-archive.ts';
import { type Html, html, joined, type Shown } from '../html.ts';
import { type LinePart, markFound, type ShownLine, showLines } from './render-line.ts';
import { type Range, STEP, type Stretch, stepOf, writeRange } from './window.ts';

/** How the rows of one log are drawn. */
export interface RowsOptions {
  /** Before the ids of lines, where several logs are on one page: "b-" makes "b-L120". */
  readonly prefix?: string;
  /** Leads to a line of the viewer; null: its number is no link. */
  readonly lineAddress: ((line: number) => string) | null;
  /** Leads to a window of the viewer. */
  readonly windowAddress: (window: Range) => string;
  readonly evidence: readonly EvidenceLines[];
  readonly marked?: Range | null;
  readonly found?: { readonly text: string; readonly matchCase: boolean } | null;
  readonly stamps?: boolean;
  /** Lines that a gap shows at a time. */
  readonly step?: number;
  /** Gaps open by themselves when they come into view, where scripts run. */
  readonly opening?: boolean;
}

/** The rows of a view: one item a line, one a gap. */
export function rowsOf(stretches: readonly ReadStretch[], lineCount: number, options: RowsOptions): Html {
  return joined(
    stretches.map((stretch) =>
      stretch.kind === 'gap' ? gapRow(stretch, lineCount, options) : stretch.lines.map((line) => lineRow(line, stretch, options)),
    ),
    '\n',
  );
}

/** A list of rows. `label` says which log it is; whether long lines wrap is the reader's wish where it is not said. */
export function logList(rows: Html, { label, wrap }: { readonly label: string; readonly wrap?: boolean | undefined }): Html {
  const how = wrap === undefined ? '' : wrap ? ' wrap' : ' nowrap';
  return html`<div class="log${how}" role="region" aria-label="${label}" tabindex="0"><ol role="list">
${rows}
</ol></div>`;
}

/** One line. Its text is never a link, and never markup. */
export function lineRow(line: ShownLine, within: Range, options: RowsOptions): Html {
  const { number } = line;
  const evidence = options.evidence.filter(({ from, to }) => from <= number && number <= to);
  const isCited = evidence.some(({ cited }) => cited.includes(number));
  const isMarked = options.marked != null && options.marked.from <= number && number <= options.marked.to;
  const shown = options.found == null ? line : markFound(line, options.found.text, options.found.matchCase);
  const classes = [isCited ? 'ev' : evidence.length > 0 && 'near', isMarked && 'sel'].filter((one) => one !== false).join(' ');
  const isFirst = evidence.some((one) => number === firstOf(one, within));
  return html`<li id="${options.prefix}L${number}" data-line="${number}"${classes !== '' && html` class="${classes}"`}${isFirst && html` data-evidence`}>${numberOf(number, options)}<span class="tx">${
    options.stamps === true && line.stamp !== null && html`<span class="ts">${line.stamp} </span>`
  }${shown.parts.map(partOf)}${line.missing > 0 && html`<span class="more">… +${line.missing.toLocaleString('en-US')} characters</span>`}</span>${
    line.overwritten !== null && overwrites(line.overwritten)
  }${evidence.map((one) => chip(one, number, within))}</li>`;
}

function numberOf(number: number, { lineAddress }: RowsOptions): Html {
  if (lineAddress === null) return html`<span class="no">${number}</span>`;
  return html`<a class="no" href="${lineAddress(number)}" aria-label="Line ${number}">${number}</a>`;
}

function partOf({ text, classes, found }: LinePart): Html {
  const inner = found === true ? html`<mark>${text}</mark>` : html`${text}`;
  return classes === '' ? inner : html`<span class="${classes}">${inner}</span>`;
}

function overwrites({ times, texts }: NonNullable<ShownLine['overwritten']>): Html {
  const earlier = times - texts.length;
  return html`<details class="over"><summary>↻ ${times.toLocaleString('en-US')} ${times === 1 ? 'overwrite' : 'overwrites'}</summary>${
    earlier > 0 && html`<span class="quiet">${earlier.toLocaleString('en-US')} earlier</span>\n`
  }${joined(texts, '\n')}</details>`;
}

/** Where a piece of evidence is named among the lines that are shown: on the first that is cited, else on its first. */
function firstOf({ cited, from }: EvidenceLines, within: Range): number {
  return cited.find((line) => within.from <= line && line <= within.to) ?? Math.max(from, within.from);
}

/** On the first line that is cited it leads to the claims; on the other cited ones it only says whose they are. */
function chip(evidence: EvidenceLines, number: number, within: Range): Shown {
  const { id, anchor, title, href, from, cited } = evidence;
  if (number !== firstOf(evidence, within)) return cited.includes(number) && html`<span class="chip" aria-hidden="true">${id}</span>`;
  const name = anchor && number === (cited[0] ?? from) && html` id="${id}"`;
  if (href === null) return html`<span class="chip"${name} title="${title}">${id}</span>`;
  return html`<a class="chip"${name} href="${href}" title="${title}" aria-label="${id}: ${title}">${id}</a>`;
}

/** Lines that are not shown. The link works by itself; a script opens the gap in place by what is in `data-gap`. */
function gapRow({ from, to }: Range, lineCount: number, options: RowsOptions): Html {
  const { step = STEP, windowAddress } = options;
  const count = to - from + 1;
  const words = `⋯ ${count.toLocaleString('en-US')} ${count === 1 ? 'line' : 'lines'} not shown: show ${Math.min(count, step).toLocaleString('en-US')}`;
  const [first, second] = from === 1 ? [true, null] : [false, to === lineCount || count <= step ? null : true];
  const link = (isLast: boolean, text: string) => {
    const shown = stepOf({ from, to }, isLast, step);
    return html`<a data-gap="${writeRange({ from, to })}" href="${windowAddress(shown)}">${text}</a>`;
  };
  return html`<li class="gap" data-from="${from}" data-to="${to}"${options.opening === true && html` data-opening`}>${link(first, words)}${second !== null && html` ${link(second, `or the last ${step.toLocaleString('en-US')}`)}`}</li>`;
}

/** A stretch of a view with the lines that it shows; none for a gap. */
export interface ReadStretch extends Stretch {
  readonly lines: readonly ShownLine[];
}

/** Lines of one question; the archive gives no more. */
const AT_ONCE = 2_000;
/** Stretches this close are read by one question: their chunks are the same, or neighbours. */
const NEAR = 500;

/** Reads the lines of a view. Null where the text is gone. */
export async function readStretches(
  archive: Pick<BuildArchive, 'lines'>,
  of: { readonly buildId: string; readonly name: string },
  stretches: readonly Stretch[],
): Promise<ReadStretch[] | null> {
  const questions = questionsFor(stretches);
  const answers = await Promise.all(questions.map(({ from, to }) => archive.lines(of.buildId, of.name, from, to)));
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

/** Ranges that hold all lines that are shown, each small enough for one answer, none overlapping another. */
function questionsFor(stretches: readonly Stretch[]): { from: number; to: number }[] {
  const questions: { from: number; to: number }[] = [];
  for (const { kind, from, to } of stretches) {
    if (kind === 'gap') continue;
    const last = questions.at(-1);
    if (last !== undefined && from - last.to <= NEAR && to - last.from < AT_ONCE) {
      last.to = to;
      continue;
    }
    for (let start = from; start <= to; start += AT_ONCE) questions.push({ from: start, to: Math.min(to, start + AT_ONCE - 1) });
  }
  return questions;
}

/** Lines of one log that a piece of evidence is on. */
export interface EvidenceLines extends Range {
  /** "E3" */
  readonly id: string;
  readonly title: string;
  readonly source: string;
  /** Those of its lines that a claim quotes, in order; all of them where a claim rests on it without quoting. Only these are highlighted. */
  readonly cited: readonly number[];
  /** Whether `#E3` is to lead here. */
  readonly anchor: boolean;
  /** Where the claims that rest on it are; null: nowhere to go. */
  readonly href: string | null;
}

type Cited = Pick<EvidenceLines, 'from' | 'to' | 'cited'>;

/** The evidence of an analysis that is on lines of the text of this name, in the order of its numbers. */
export function evidenceLines({ evidence, answer }: Pick<Analysis, 'evidence' | 'answer'>, name: string): (Evidence & Cited)[] {
  return evidence.flatMap((one) => {
    const lines = one.source === name ? linesOf(one) : null;
    return lines === null ? [] : [{ ...one, ...lines, cited: citedLines(answer.claims, one, lines) }];
  });
}

function citedLines(claims: Analysis['answer']['claims'], { id, source }: Evidence, { from, to }: Range): number[] {
  const quotes = claims
    .flatMap((claim) => claim.quotes)
    .filter((quote) => quote.source === source && from <= quote.line && quote.line <= to);
  if (quotes.length > 0) return [...new Set(quotes.map(({ line }) => line))].toSorted((left, right) => left - right);
  if (!claims.some(({ evidence }) => evidence.includes(id))) return [];
  return Array.from({ length: Math.min(to - from + 1, MAX_UNQUOTED) }, (_, at) => from + at);
}

/** Lines that are highlighted of evidence that is cited without a quotation. */
const MAX_UNQUOTED = 40;

/** The lines that prove something: each that is cited; where none is, the whole piece. */
export function proofOf({ from, to, cited }: Cited): Range[] {
  return cited.length === 0 ? [{ from, to }] : cited.map((line) => ({ from: line, to: line }));
}

/** The tool of excerpts that the reader of the logs chose. All other evidence was requested. */
export const READER = 'log';

/** Evidence that can be pointed at names a line. */
export function linesOf({ lineStart, lineEnd = lineStart }: Evidence): Range | null {
  if (lineStart === undefined || lineEnd === undefined) return null;
  return { from: lineStart, to: Math.max(lineStart, lineEnd) };
}
