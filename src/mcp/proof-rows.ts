import type { Analysis } from '../domain/analysis.ts';
import type { Evidence } from '../domain/evidence.ts';
import { cleanLine, stripEscapes } from '../log/lines/clean.ts';
import { type ProofLine, proofLines } from '../publish/answer-facts.ts';

/** With more quoted lines than this they speak for themselves. */
const FEW = 4;
const AROUND = 3;
const MAX_ROWS = 14;

/** The lines that prove the answer, in the order of the log; around a few of them also their neighbours, as far as the evidence has them. */
export function proofRows(analysis: Analysis): ProofLine[] {
  const proof = proofLines(analysis);
  if (proof.length === 0 || proof.length > FEW) return proof;
  const rows = new Map(proof.map((row) => [keyOf(row), row]));
  for (const near of proof.flatMap((row) => neighboursOf(row, analysis.evidence))) {
    if (rows.size < MAX_ROWS && !rows.has(keyOf(near))) rows.set(keyOf(near), near);
  }
  return [...rows.values()].sort((a, b) => (a.source === b.source ? a.line - b.line : 0));
}

/** The lines of a piece of evidence as a person sees them: without the time and stream marks before them. */
export function readableLines({ text, lineStart }: Evidence): readonly { readonly line: number | null; readonly text: string }[] {
  return text.split('\n').map((row, index) => ({
    line: lineStart === undefined ? null : lineStart + index,
    text: lineStart === undefined ? row : cleanLine(stripEscapes(row)),
  }));
}

function neighboursOf({ source, line }: ProofLine, evidence: readonly Evidence[]): ProofLine[] {
  const around = evidence.find(
    (item) => item.source === source && item.lineStart !== undefined && item.lineStart <= line && line <= (item.lineEnd ?? 0),
  );
  if (around === undefined) return [];
  return readableLines(around)
    .flatMap((row) => (row.line === null ? [] : [{ source, line: row.line, text: row.text }]))
    .filter((row) => Math.abs(row.line - line) <= AROUND && row.text.trim() !== '')
    .sort((a, b) => Math.abs(a.line - line) - Math.abs(b.line - line));
}

function keyOf({ source, line }: ProofLine): string {
  return `${line} ${source}`;
}
