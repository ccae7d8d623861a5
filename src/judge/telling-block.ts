import type { TriageSubject } from '../domain/triage.ts';
import { cleanLine, stripEscapes } from '../log/lines/clean.ts';
import type { Fact, Facts } from './facts.ts';

/** A line of an excerpt as a person sees it. */
export interface ShownLine {
  readonly source: string;
  readonly line: number;
  readonly text: string;
}

/** The lines that tell of one failure: what sentences may take their values from. */
export interface TellingBlock {
  /** The deciding line; of a fact that no line shows, its text without a place. */
  readonly trigger: { readonly text: string; readonly source: string | null; readonly line: number | null };
  /** The lines around the trigger, those after it first. */
  readonly paragraph: readonly ShownLine[];
  /** All lines of the failed step that were kept, in their order. */
  readonly step: readonly ShownLine[];
}

/** Lines after and before the deciding line that complete it. */
const REACH = 6;
const MAX_LINES = 1500;
const MAX_TEXT = 1000;

/** Reads the block around a fact. Lines of other steps are not part of it. */
export function readBlock(fact: Fact, { subject }: Facts): TellingBlock {
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
 * Reads the last lines of the failed steps that say anything; of the whole log where no step is marked as
 * failed.
 */
export function readLastLines({ subject }: Facts, count: number): string[] {
  const lines = listLinesOfFailedSteps(readLines(subject), subject).map(({ text }) => text.trim());
  return lines
    .filter((text) => /[\p{L}\p{N}]/u.test(text) && !/^##\[(?:end)?group\]/.test(text))
    .slice(-count);
}

/** Reads the excerpts line by line, in the order of the log. */
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

/** Tells whether two lines belong to one step; lines of no marked step do. */
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
 * Returns the paragraph from the trigger on as one text, its wrapped lines joined, and which line each part
 * of it is from.
 */
export function joinAfter({ trigger, paragraph }: TellingBlock): {
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
