import type { TriageSubject } from '../domain/triage.ts';
import { cleanLine, stripEscapes } from '../log/lines/clean.ts';
import type { Fact, Facts } from './facts.ts';

/** A line of an excerpt, cleaned. */
export interface ShownLine {
  readonly source: string;
  readonly line: number;
  readonly text: string;
}

/** The lines about one failure, from which sentences may take values. */
export interface FailureBlock {
  /** The deciding line. If no excerpt shows it, the text of the fact without a place. */
  readonly trigger: { readonly text: string; readonly source: string | null; readonly line: number | null };
  /** The lines around the deciding line, those after it first. */
  readonly paragraph: readonly ShownLine[];
  /** All lines of the failed step in the excerpts, in order. */
  readonly step: readonly ShownLine[];
}

/** The number of lines after and before the deciding line that belong to its paragraph. */
const REACH = 6;
const MAX_LINES = 1500;
const MAX_TEXT = 1000;

/** Reads the lines around a fact. Lines of other steps are excluded. */
export function readBlock(fact: Fact, { subject }: Facts): FailureBlock {
  const lines = readLines(subject);
  const at =
    fact.source !== null && fact.line !== null
      ? { source: fact.source, line: fact.line }
      : findLine(fact.text, lines);
  const trigger = { text: fact.text, source: at?.source ?? null, line: at?.line ?? null };
  if (at === null) return { trigger, paragraph: [], step: listLinesOfFailedSteps(lines, subject) };
  const step = lines.filter((line) => isSameStep(line, at, subject));
  const nearby = step.filter(({ line }) => Math.abs(line - at.line) <= REACH);
  const after = nearby.filter(({ line }) => line >= at.line);
  const before = nearby.filter(({ line }) => line < at.line).reverse();
  return { trigger, paragraph: [...after, ...before], step };
}

/**
 * Returns the last informative lines of the failed steps, or of the whole log if no step is marked as failed.
 */
export function readLastLines({ subject }: Facts, count: number): string[] {
  const lines = listLinesOfFailedSteps(readLines(subject), subject).map(({ text }) => text.trim());
  return lines
    .filter((text) => /[\p{L}\p{N}]/u.test(text) && !/^##\[(?:end)?group\]/.test(text))
    .slice(-count);
}

/** Returns the lines of all excerpts, in the order of the log. */
function readLines({ excerpts }: TriageSubject): ShownLine[] {
  const lines: ShownLine[] = [];
  for (const { source, lineStart, text } of excerpts) {
    for (const [offset, raw] of text.split('\n').entries()) {
      if (lines.length >= MAX_LINES) return lines;
      lines.push({
        source,
        line: lineStart + offset,
        text: cleanLine(stripEscapes(raw)).trimEnd().slice(0, MAX_TEXT),
      });
    }
  }
  return lines.sort((left, right) => (left.source === right.source ? left.line - right.line : 0));
}

function findLine(text: string, lines: readonly ShownLine[]): ShownLine | null {
  const start = text.split('\n')[0]?.trim().slice(0, 120) ?? '';
  return start.length < 8 ? null : (lines.find((line) => line.text.includes(start)) ?? null);
}

/** Tells whether two lines belong to the same step. Lines outside of marked steps belong together. */
export function isSameStep(
  left: Pick<ShownLine, 'source' | 'line'>,
  at: { readonly source: string; readonly line: number },
  subject: TriageSubject,
): boolean {
  if (left.source !== at.source) return false;
  const section = subject.failedSections.find(
    ({ source, lineStart, lineEnd }) => source === at.source && lineStart <= at.line && at.line <= lineEnd,
  );
  return section === undefined || (section.lineStart <= left.line && left.line <= section.lineEnd);
}

function listLinesOfFailedSteps(lines: readonly ShownLine[], { failedSections }: TriageSubject): ShownLine[] {
  const sections = failedSections.filter(
    ({ consequence, tolerated }) => consequence !== true && tolerated !== true,
  );
  if (sections.length === 0) return [...lines];
  return lines.filter((line) =>
    sections.some(
      ({ source, lineStart, lineEnd }) =>
        source === line.source && lineStart <= line.line && line.line <= lineEnd,
    ),
  );
}

/**
 * Joins the paragraph from the deciding line on into one text, with wrapped lines joined. Also returns the
 * line of each part.
 */
export function joinAfter({ trigger, paragraph }: FailureBlock): {
  readonly text: string;
  readonly lineAt: (index: number) => ShownLine | null;
} {
  const after = paragraph.filter(({ line }) => trigger.line === null || line >= trigger.line);
  const starts: number[] = [];
  let text = '';
  for (const shownLine of after) {
    starts.push(text.length);
    text += `${shownLine.text.trim()} `;
  }
  return { text, lineAt: (index) => after[starts.findLastIndex((start) => start <= index)] ?? null };
}
