import { z } from 'zod';
import type { Analysis } from '../../domain/analysis.ts';
import { TriageError } from '../../domain/errors.ts';
import { Evidence } from '../../domain/evidence.ts';
import { Cursor, line, Rows, readableLines, takeFitting, UNTRUSTED, untrusted } from '../shapes.ts';
import { cursorOf, defineTool, FIELDS, findAnalyses, type InstallationDeps, type McpTool, offsetOf, type ToolAnswer } from '../tool.ts';
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
  source: z.string().min(1).max(500).optional().describe('Which log or report, as named in the proof (default: that of the main evidence)'),
  cursor: FIELDS.cursor.optional(),
});

const Named = z.object({ id: z.string().nullable().describe('Null: lines of a stored log'), tool: z.string().nullable(), lines: Rows });
const Piece = Evidence.pick({ title: true, source: true }).extend(Named.shape);
const Output = z.object({ pieces: z.array(Piece), next: Cursor });
type EvidenceAnswer = ToolAnswer<z.infer<typeof Output>>;

/** `get_evidence`: what an answer rests on, and the lines of the stored log around it. */
export function getEvidence(deps: InstallationDeps): McpTool {
  return defineTool({
    name: NAME,
    title: 'Read evidence and log lines',
    description:
      'Reads the evidence of an answer. With only an id: all evidence, shortened. With evidence (E3): that piece in full. With from and to: those lines of the stored log, secrets masked. Use it when get_failure does not show enough; ask for the narrowest range that helps.',
    input: Input,
    output: Output,
    run: async ({ id, evidence, from, to, source, cursor }) => {
      const { analyses } = await findAnalyses(id, deps);
      const [main] = analyses;
      if (main === undefined) throw new TriageError('not-found', 'There is no analysis for it.');
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
): Promise<EvidenceAnswer> {
  const source = named ?? analysis.evidence.find(({ lineStart }) => lineStart !== undefined)?.source;
  const found = source === undefined ? null : await archive.lines(analysis.buildId, source, from, Math.min(to, from + WINDOW - 1));
  if (source === undefined || found === null) throw await noSuchSource(analysis, named, archive);
  if (found.lines.length === 0) throw new TriageError('invalid-input', `${line(source, 200)} has no line ${from}.`);
  const rows = found.lines.map((text, index) => `${found.lineStart + index}  ${text}`);
  const shown = rowsThatFit(rows);
  const last = found.lineStart + shown - 1;
  const next = last < to && (shown < rows.length || rows.length === WINDOW) ? cursorOf(NAME, offset + shown) : null;
  const more = next === null ? '' : `\n… ${to - last} more lines, cursor: ${next}`;
  const lines = found.lines.slice(0, shown).map((text, index) => ({ line: found.lineStart + index, text: line(text, LINE) }));
  const title = `${line(source, 200)} lines ${found.lineStart}–${last}`;
  return {
    text: `${title}. ${UNTRUSTED}\n${untrusted(rows.slice(0, shown), LINE)}${more}`,
    data: { pieces: [{ id: null, tool: null, title, source, lines }], next },
  };
}

async function noSuchSource(analysis: Analysis, named: string | undefined, archive: InstallationDeps['archive']): Promise<TriageError> {
  const stored = (await archive.list(analysis.buildId)).slice(0, 20).map(({ name, lines }) => `${line(name, 200)} (${lines} lines)`);
  const kept = stored.length === 0 ? 'The logs of this build are no longer stored.' : `Available: ${stored.join(', ')}.`;
  return new TriageError('not-found', `${named === undefined ? 'The evidence names no log.' : `There is no ${line(named, 200)}.`} ${kept}`);
}

/** The log first, at its telling lines; then what tools brought. What was judged to say nothing about this failure is left out. */
function overview(analysis: Analysis, offset: number): EvidenceAnswer {
  const related = analysis.evidence.filter(({ id }) => analysis.verdict.grades[id] !== 'irrelevant');
  const items = [...related.filter(isLog), ...related.filter((item) => !isLog(item))].slice(offset);
  if (items.length === 0) return { text: 'There is no more evidence.', data: { pieces: [], next: null } };
  const telling = items.map((item) => tellingRows(item, analysis));
  const blocks = items.map((item, index) => `${headOf(item)}\n${untrusted((telling[index] ?? []).map(numbered), 240)}`);
  const { text, shown, rest } = takeFitting(blocks, BUDGET_BYTES);
  const next = rest === 0 ? null : cursorOf(NAME, offset + shown);
  const pieces = items.slice(0, shown).map((item, index) => pieceOf(item, telling[index] ?? [], 240));
  return { text: `${UNTRUSTED}\n${text}${next === null ? '' : `\n… ${rest} more, cursor: ${next}`}`, data: { pieces, next } };
}

function isLog({ lineStart }: Evidence): boolean {
  return lineStart !== undefined;
}

/** Of a log the lines around the first that was quoted, else its end: there it failed. Of a document its beginning. */
function tellingRows(item: Evidence, { answer }: Analysis): z.infer<typeof Rows> {
  const rows = [...readableLines(item)];
  if (!isLog(item)) return rows.slice(0, 4);
  const quoted = answer.claims
    .flatMap(({ quotes }) => quotes)
    .filter(({ source }) => source === item.source)
    .map((quote) => quote.line - (item.lineStart ?? 1))
    .find((index) => index >= 0 && index < rows.length);
  const from = Math.max(0, quoted === undefined ? rows.length - EXCERPT : quoted - EXCERPT / 2);
  return rows.slice(from, from + EXCERPT);
}

function inFull({ evidence }: Analysis, id: string, offset: number): EvidenceAnswer {
  const item = evidence.find((one) => one.id === id);
  if (item === undefined) {
    const known = evidence.map((one) => one.id).slice(0, 40);
    throw new TriageError('not-found', `There is no evidence ${id}; available: ${known.join(', ')}.`);
  }
  const lines = readableLines(item).slice(offset);
  const rows = lines.map(numbered);
  const shown = rowsThatFit(rows);
  const rest = rows.length - shown;
  const next = rest === 0 ? null : cursorOf(NAME, offset + shown);
  const more = next === null ? '' : `\n… ${rest} more lines, cursor: ${next}`;
  return {
    text: `${headOf(item)}. ${UNTRUSTED}\n${untrusted(rows.slice(0, shown), LINE)}${more}`,
    data: { pieces: [pieceOf(item, lines.slice(0, shown), LINE)], next },
  };
}

function headOf({ id, tool, title, source, lineStart, lineEnd }: Evidence): string {
  const range = lineStart === undefined ? '' : ` lines ${lineStart}–${lineEnd ?? lineStart}`;
  return `${id} · ${tool} · ${line(title, 150)} · ${line(source, 150)}${range}`;
}

function numbered({ line: number, text }: z.infer<typeof Rows>[number]): string {
  return number === null ? text : `${number}  ${text}`;
}

function pieceOf({ id, tool, title, source }: Evidence, rows: z.infer<typeof Rows>, limit: number): z.infer<typeof Piece> {
  const lines = rows.map((row) => ({ ...row, text: line(row.text, limit) }));
  return { id, tool, title: line(title, 150), source, lines };
}

function rowsThatFit(rows: readonly string[]): number {
  const lines = rows.map((row) => line(row, LINE));
  return takeFitting(lines, BUDGET_BYTES).shown;
}
