import { z } from 'zod';
import type { Analysis } from '../../domain/analysis.ts';
import { TriageError } from '../../domain/errors.ts';
import type { Evidence } from '../../domain/evidence.ts';
import { line, takeFitting, UNTRUSTED, untrusted } from '../bounded-text.ts';
import { cursorOf, offsetOf } from '../cursor.ts';
import type { InstallationDeps } from '../deps.ts';
import { findAnalyses } from '../find-analysis.ts';
import { readableLines } from '../proof-rows.ts';
import { defineTool, FIELDS, type McpTool } from '../tool.ts';
import { FailureId } from './get-failure.ts';

const NAME = 'get_evidence';
const BUDGET_BYTES = 4_000;
const LINE = 400;
/** Lines read for one answer; far more than fit. */
const WINDOW = 300;
/** Lines of each log in the overview. */
const EXCERPT = 16;

const Input = z.strictObject({
  id: FailureId,
  evidence: z
    .string()
    .regex(/^E\d{1,4}$/)
    .optional()
    .describe('One piece of evidence in full, such as E3'),
  from: z.int().min(1).max(1_000_000_000).optional().describe('First line of the log to read, 1-based; instead of evidence'),
  to: z.int().min(1).max(1_000_000_000).optional().describe('Last line to read'),
  source: z.string().min(1).max(500).optional().describe("Which log or report, as the proof names it; by default the main evidence's"),
  cursor: FIELDS.cursor.optional(),
});

/** `get_evidence`: what an answer rests on, and the lines of the stored log around it. */
export function getEvidence(deps: InstallationDeps): McpTool {
  return defineTool({
    name: NAME,
    title: 'Read evidence and log lines',
    description:
      'Reads what an answer rests on. With only an id: every piece of evidence, shortened. With evidence (E3): that one in full. With from and to: those lines of the stored log, secrets masked. Use it when get_failure does not show enough; ask for the narrowest range that helps.',
    input: Input,
    run: async ({ id, evidence, from, to, source, cursor }) => {
      const { analyses } = await findAnalyses(id, deps);
      const [main] = analyses;
      if (main === undefined) return 'Nothing is known of it.';
      const offset = offsetOf(NAME, cursor);
      if (from !== undefined || to !== undefined) {
        const first = from ?? Math.max(1, (to ?? 1) - 40);
        return await logLines(main, source, first + offset, Math.max(first, to ?? first + 80), offset, deps);
      }
      return evidence === undefined ? overview(main, offset) : inFull(main, evidence, offset);
    },
  });
}

async function logLines(
  analysis: Analysis,
  named: string | undefined,
  from: number,
  to: number,
  offset: number,
  { archive }: InstallationDeps,
): Promise<string> {
  const source = named ?? analysis.evidence.find(({ lineStart }) => lineStart !== undefined)?.source;
  const found = source === undefined ? null : await archive.lines(analysis.buildId, source, from, Math.min(to, from + WINDOW - 1));
  if (source === undefined || found === null) throw await noSuchSource(analysis, named, archive);
  if (found.lines.length === 0) throw new TriageError('invalid-input', `${line(source, 200)} has no line ${from}.`);
  const rows = found.lines.map((text, index) => `${found.lineStart + index}  ${text}`);
  const shown = rowsThatFit(rows);
  const last = found.lineStart + shown - 1;
  const more =
    last < to && (shown < rows.length || rows.length === WINDOW)
      ? `\n… ${to - last} more lines, cursor: ${cursorOf(NAME, offset + shown)}`
      : '';
  return `${line(source, 200)} lines ${found.lineStart}–${last}. ${UNTRUSTED}\n${untrusted(rows.slice(0, shown), LINE)}${more}`;
}

async function noSuchSource(analysis: Analysis, named: string | undefined, archive: InstallationDeps['archive']): Promise<TriageError> {
  const stored = (await archive.list(analysis.buildId)).slice(0, 20).map(({ name, lines }) => `${line(name, 200)} (${lines} lines)`);
  const kept = stored.length === 0 ? 'No log of this build is kept any more.' : `Kept are: ${stored.join(', ')}.`;
  return new TriageError('not-found', `${named === undefined ? 'The evidence names no log.' : `There is no ${line(named, 200)}.`} ${kept}`);
}

/** The log first, at its telling lines; then what tools brought. What was judged to say nothing about this failure is left out. */
function overview(analysis: Analysis, offset: number): string {
  const told = analysis.evidence.filter(({ id }) => analysis.verdict.grades[id] !== 'irrelevant');
  const blocks = [...told.filter(isLog), ...told.filter((item) => !isLog(item))]
    .slice(offset)
    .map((item) => `${headOf(item)}\n${untrusted(tellingRows(item, analysis), 240)}`);
  if (blocks.length === 0) return 'There is no more evidence.';
  const { text, shown, rest } = takeFitting(blocks, BUDGET_BYTES);
  return `${UNTRUSTED}\n${text}${rest === 0 ? '' : `\n… ${rest} more, cursor: ${cursorOf(NAME, offset + shown)}`}`;
}

function isLog({ lineStart }: Evidence): boolean {
  return lineStart !== undefined;
}

/** Of a log the lines around the first that was quoted, else its end: there it failed. Of a document its beginning. */
function tellingRows(item: Evidence, { answer }: Analysis): string[] {
  const rows = linesOf(item);
  if (!isLog(item)) return rows.slice(0, 4);
  const quoted = answer.claims
    .flatMap(({ quotes }) => quotes)
    .filter(({ source }) => source === item.source)
    .map((quote) => quote.line - (item.lineStart ?? 1))
    .find((index) => index >= 0 && index < rows.length);
  const from = Math.max(0, quoted === undefined ? rows.length - EXCERPT : quoted - EXCERPT / 2);
  return rows.slice(from, from + EXCERPT);
}

function inFull({ evidence }: Analysis, id: string, offset: number): string {
  const item = evidence.find((one) => one.id === id);
  if (item === undefined) {
    const known = evidence.map((one) => one.id).slice(0, 40);
    throw new TriageError('not-found', `There is no evidence ${id}; known are ${known.join(', ')}.`);
  }
  const rows = linesOf(item).slice(offset);
  const shown = rowsThatFit(rows);
  const rest = rows.length - shown;
  const more = rest === 0 ? '' : `\n… ${rest} more lines, cursor: ${cursorOf(NAME, offset + shown)}`;
  return `${headOf(item)}. ${UNTRUSTED}\n${untrusted(rows.slice(0, shown), LINE)}${more}`;
}

function headOf({ id, tool, title, source, lineStart, lineEnd }: Evidence): string {
  const range = lineStart === undefined ? '' : ` lines ${lineStart}–${lineEnd ?? lineStart}`;
  return `${id} · ${tool} · ${line(title, 150)} · ${line(source, 150)}${range}`;
}

function linesOf(item: Evidence): string[] {
  return readableLines(item).map(({ line: number, text }) => (number === null ? text : `${number}  ${text}`));
}

function rowsThatFit(rows: readonly string[]): number {
  return takeFitting(
    rows.map((row) => line(row, LINE)),
    BUDGET_BYTES,
  ).shown;
}
