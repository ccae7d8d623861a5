import { z } from 'zod';
import { type Analysis, getShownCategory } from '../domain/analysis.ts';
import { Build } from '../domain/build.ts';
import { Category } from '../domain/category.ts';
import { TriageError } from '../domain/errors.ts';
import { Evidence } from '../domain/evidence.ts';
import type { DecisionInput } from '../domain/review.ts';
import { WhoseVerdict } from '../domain/whose.ts';
import { omitUndefined } from '../lib/collections.ts';
import { type ArrangedAnswer, nameTests } from '../notifications/build-answers.ts';
import { createNoticeLinks } from '../notifications/notice-words.ts';
import { formatNumber } from '../notifications/visible-text.ts';
import { AnalysisSummary, type AnswerWithWhose, toAnalysisSummary } from '../service/answers/views.ts';
import {
  CauseOutput,
  Cursor,
  describeAnswer,
  describeStanding,
  fenceUntrusted,
  listReadableLines,
  Rows,
  takeFitting,
  toCauseOutput,
  toOneLine,
  UNTRUSTED,
} from './shapes.ts';
import {
  createCursor,
  defineTool,
  type ExplainLog,
  FIELDS,
  findAnswers,
  type InstallationDeps,
  type McpDeps,
  type McpTool,
  readOffset,
  type ToolAnswer,
} from './tool.ts';

const FAILURE_BYTES = 4_000;
const OTHER_CAUSES = 10;
const OTHER_TESTS = 3;

const FailureId = z
  .string()
  .min(1)
  .max(300)
  .describe(
    'An ID from list_failures, or a build as provider:number (number or run ID), such as github:812 ' +
      'or github:shop/api#812, or as its URL',
  );

/** Another cause of a build, without the facts that prove whose it is. */
const OtherCause = AnalysisSummary.extend({
  whose: WhoseVerdict.nullable().describe('Whose failure it is. Null if nothing is known about that'),
});

/** Creates the tool `get_failure`, which returns the answer for one failure. */
export function getFailure(deps: InstallationDeps): McpTool {
  return defineTool({
    name: 'get_failure',
    title: 'Get the cause of a failure',
    description:
      'Explains one CI failure: whose it is (this change, main, other pull requests, flaky, a machine), ' +
      'category, root cause, fix, how sure the answer is, the log lines ' +
      'that prove it with their numbers, suspected files and failing tests. Usually all you need. ' +
      'Call get_evidence for more lines or the full text of a piece of evidence (E1, E2, …). ' +
      'For a build with several causes, the one to fix first is explained, and the others are ' +
      'listed by id in the order in which to fix them.',
    input: z.strictObject({ id: FailureId }),
    output: z.object({
      cause: CauseOutput,
      build: Build.pick({
        id: true,
        provider: true,
        repository: true,
        pipeline: true,
        number: true,
        branch: true,
        commit: true,
        url: true,
      }).nullable(),
      page: z.string().nullable().describe('The answer in the console; null if its address is not known'),
      others: z.array(OtherCause).describe('Other causes of this build, in the order in which to fix them'),
    }),
    isShownByApp: true,
    run: async ({ id }) => {
      const { build, answers } = await findAnswers(id, deps);
      const [main, ...others] = answers;
      const { text, rest } = takeFitting([main.analysis.id, ...describeAnswer(main, build)], FAILURE_BYTES);
      const cut = rest === 0 ? '' : `\n… ${rest} more parts; get_evidence has the evidence in full`;
      const data = {
        cause: toCauseOutput(main),
        build,
        page: createNoticeLinks(deps.publicUrl).analysis(main.analysis.id),
        others: others.slice(0, OTHER_CAUSES).map(toOtherCause),
      };
      return { text: `${text}${cut}${listOthers('Other causes of this build', others, OTHER_CAUSES)}`, data };
    },
  });
}

function toOtherCause(answer: AnswerWithWhose): z.infer<typeof OtherCause> {
  const { tests, title, whose, ...summary } = toAnalysisSummary(answer);
  return {
    ...summary,
    title: toOneLine(title, 120),
    whose: whose?.verdict ?? null,
    tests: tests.slice(0, OTHER_TESTS).map((test) => toOneLine(test, 120)),
  };
}

/** Lists the further causes, one line each, with their tests. */
function listOthers(heading: string, others: readonly ArrangedAnswer[], most: number): string {
  if (others.length === 0) return '';
  const rows = others.slice(0, most).map(({ analysis, explains }) => {
    const { named, more } = nameTests(explains, OTHER_TESTS);
    const names = [
      ...named.map((name) => toOneLine(name, 120)),
      ...(more === 0 ? [] : [`and ${formatNumber(more)} more`]),
    ];
    const tests = named.length === 0 ? '' : ` (${names.join('; ')})`;
    return (
      `- ${analysis.id} · ${getShownCategory(analysis)} ` +
      `· ${describeStanding(analysis)}: ${toOneLine(analysis.answer.title, 120)}${tests}`
    );
  });
  const rest = others.length > most ? [`- … ${others.length - most} more`] : [];
  return `\n${heading}:\n${[...rows, ...rest].join('\n')}`;
}

const EVIDENCE = 'get_evidence';
const EVIDENCE_BYTES = 4_000;
const LINE = 400;
/** The maximum number of lines that are read for one answer; far more than fit. */
const WINDOW = 300;
/** The number of lines of each log in the overview. */
const EXCERPT = 16;

const Named = z.object({
  id: z.string().nullable().describe('Null: lines of a stored log'),
  tool: z.string().nullable(),
  lines: Rows,
});
const Piece = Evidence.pick({ title: true, source: true }).extend(Named.shape);
const Pieces = z.object({ pieces: z.array(Piece), next: Cursor });
type EvidenceAnswer = ToolAnswer<z.infer<typeof Pieces>>;

/**
 * Creates the tool `get_evidence`, which returns the evidence of an answer and the lines of the stored log
 * around it.
 */
export function getEvidence(deps: InstallationDeps): McpTool {
  return defineTool({
    name: EVIDENCE,
    title: 'Read evidence and log lines',
    description:
      'Reads the evidence of an answer. With only an id: all evidence, shortened. ' +
      'With evidence (E3): that piece in full. With from and to: ' +
      'those lines of the stored log, secrets masked. Use it when get_failure does not show enough; ' +
      'ask for the narrowest range that helps.',
    input: z.strictObject({
      id: FailureId,
      evidence: z
        .string()
        .regex(/^E\d{1,4}$/)
        .optional()
        .describe('One piece of evidence in full, such as E3'),
      from: z
        .int()
        .min(1)
        .max(1_000_000_000)
        .optional()
        .describe('First line of the log to read, 1-based; instead of evidence'),
      to: z.int().min(1).max(1_000_000_000).optional().describe('Last line to read'),
      source: z
        .string()
        .min(1)
        .max(500)
        .optional()
        .describe('Which log or report, as named in the proof (default: that of the main evidence)'),
      cursor: FIELDS.cursor.optional(),
    }),
    output: Pieces,
    run: async ({ id, evidence, from, to, source, cursor }) => {
      const [{ analysis: main }] = (await findAnswers(id, deps)).answers;
      const offset = readOffset(EVIDENCE, cursor);
      if (from !== undefined || to !== undefined) {
        const first = from ?? Math.max(1, (to ?? 1) - 40);
        return await readLogLines(
          main,
          source,
          first + offset,
          Math.max(first, to ?? first + 80),
          offset,
          deps,
        );
      }
      return evidence === undefined ? createOverview(main, offset) : readEvidence(main, evidence, offset);
    },
  });
}

async function readLogLines(
  analysis: Analysis,
  named: string | undefined,
  from: number,
  to: number,
  offset: number,
  { archive }: InstallationDeps,
): Promise<EvidenceAnswer> {
  const source = named ?? analysis.evidence.find(({ lineStart }) => lineStart !== undefined)?.source;
  const found =
    source === undefined
      ? null
      : await archive.lines(analysis.buildId, source, from, Math.min(to, from + WINDOW - 1));
  if (source === undefined || found === null) throw await createNoSuchSourceError(analysis, named, archive);
  if (found.lines.length === 0)
    throw new TriageError('invalid-input', `${toOneLine(source, 200)} has no line ${from}.`);
  const rows = found.lines.map((text, index) => `${found.lineStart + index}  ${text}`);
  const fitting = countRowsThatFit(rows);
  const last = found.lineStart + fitting - 1;
  const next =
    last < to && (fitting < rows.length || rows.length === WINDOW)
      ? createCursor(EVIDENCE, offset + fitting)
      : null;
  const more = next === null ? '' : `\n… ${to - last} more lines, cursor: ${next}`;
  const lines = found.lines
    .slice(0, fitting)
    .map((text, index) => ({ line: found.lineStart + index, text: toOneLine(text, LINE) }));
  const title = `${toOneLine(source, 200)} lines ${found.lineStart}–${last}`;
  return {
    text: `${title}. ${UNTRUSTED}\n${fenceUntrusted(rows.slice(0, fitting), LINE)}${more}`,
    data: { pieces: [{ id: null, tool: null, title, source, lines }], next },
  };
}

async function createNoSuchSourceError(
  analysis: Analysis,
  named: string | undefined,
  archive: InstallationDeps['archive'],
): Promise<TriageError> {
  const stored = (await archive.list(analysis.buildId))
    .slice(0, 20)
    .map(({ name, lines }) => `${toOneLine(name, 200)} (${lines} lines)`);
  const kept =
    stored.length === 0 ? 'The logs of this build are no longer stored.' : `Available: ${stored.join(', ')}.`;
  return new TriageError(
    'not-found',
    `${named === undefined ? 'The evidence names no log.' : `There is no ${toOneLine(named, 200)}.`} ${kept}`,
  );
}

/**
 * Returns the evidence of an answer: first the most informative lines of the logs, then the findings of the
 * tools. Evidence that was judged irrelevant to this failure is left out.
 */
function createOverview(analysis: Analysis, offset: number): EvidenceAnswer {
  const related = analysis.evidence.filter(({ id }) => analysis.verdict.grades[id] !== 'irrelevant');
  const items = [...related.filter(isLog), ...related.filter((item) => !isLog(item))].slice(offset);
  if (items.length === 0) return { text: 'There is no more evidence.', data: { pieces: [], next: null } };
  const rows = items.map((item) => pickInformativeRows(item, analysis));
  const blocks = items.map(
    (item, index) => `${formatHead(item)}\n${fenceUntrusted((rows[index] ?? []).map(numberRows), 240)}`,
  );
  const { text, shown, rest } = takeFitting(blocks, EVIDENCE_BYTES);
  const next = rest === 0 ? null : createCursor(EVIDENCE, offset + shown);
  const pieces = items.slice(0, shown).map((item, index) => toPiece(item, rows[index] ?? [], 240));
  return {
    text: `${UNTRUSTED}\n${text}${next === null ? '' : `\n… ${rest} more, cursor: ${next}`}`,
    data: { pieces, next },
  };
}

function isLog({ lineStart }: Evidence): boolean {
  return lineStart !== undefined;
}

/**
 * Picks the most informative lines of a piece of evidence: for a log, the lines around the first quoted line,
 * or its end if none is quoted, because it failed there; for a document, its beginning.
 */
function pickInformativeRows(item: Evidence, { answer }: Analysis): z.infer<typeof Rows> {
  const rows = [...listReadableLines(item)];
  if (!isLog(item)) return rows.slice(0, 4);
  const quoted = answer.claims
    .flatMap(({ quotes }) => quotes)
    .filter(({ source }) => source === item.source)
    .map((quote) => quote.line - (item.lineStart ?? 1))
    .find((index) => index >= 0 && index < rows.length);
  const from = Math.max(0, quoted === undefined ? rows.length - EXCERPT : quoted - EXCERPT / 2);
  return rows.slice(from, from + EXCERPT);
}

function readEvidence({ evidence }: Analysis, id: string, offset: number): EvidenceAnswer {
  const item = evidence.find((item) => item.id === id);
  if (item === undefined) {
    const known = evidence.map((item) => item.id).slice(0, 40);
    throw new TriageError('not-found', `There is no evidence ${id}; available: ${known.join(', ')}.`);
  }
  const lines = listReadableLines(item).slice(offset);
  const rows = lines.map(numberRows);
  const fitting = countRowsThatFit(rows);
  const rest = rows.length - fitting;
  const next = rest === 0 ? null : createCursor(EVIDENCE, offset + fitting);
  const more = next === null ? '' : `\n… ${rest} more lines, cursor: ${next}`;
  return {
    text: `${formatHead(item)}. ${UNTRUSTED}\n${fenceUntrusted(rows.slice(0, fitting), LINE)}${more}`,
    data: { pieces: [toPiece(item, lines.slice(0, fitting), LINE)], next },
  };
}

function formatHead({ id, tool, title, source, lineStart, lineEnd }: Evidence): string {
  const range = lineStart === undefined ? '' : ` lines ${lineStart}–${lineEnd ?? lineStart}`;
  return `${id} · ${tool} · ${toOneLine(title, 150)} · ${toOneLine(source, 150)}${range}`;
}

function numberRows({ line: number, text }: z.infer<typeof Rows>[number]): string {
  return number === null ? text : `${number}  ${text}`;
}

function toPiece(
  { id, tool, title, source }: Evidence,
  rows: z.infer<typeof Rows>,
  limit: number,
): z.infer<typeof Piece> {
  const lines = rows.map((row) => ({ ...row, text: toOneLine(row.text, limit) }));
  return { id, tool, title: toOneLine(title, 150), source, lines };
}

function countRowsThatFit(rows: readonly string[]): number {
  const lines = rows.map((row) => toOneLine(row, LINE));
  return takeFitting(lines, EVIDENCE_BYTES).shown;
}

const LOG_BYTES = 5_000;
/**
 * The maximum length of a pasted log, in characters. Reading takes about one second of processor time per
 * megabyte.
 */
const MAX_LOG = 500_000;
const MAX_CAUSES = 3;
const EXPLAIN_MS = 30_000;

/** Creates the tool `explain_log`, which explains a log from anywhere by rules alone. */
export function explainLog(explain: ExplainLog): McpTool {
  return defineTool({
    name: 'explain_log',
    title: 'Explain a pasted log',
    description:
      'Explains a CI log that you paste: category, cause, fix and the key lines with their numbers ' +
      'in the pasted text. Needs no stored build and stores nothing. Uses rules, no model. ' +
      'Prefer get_failure for a stored build: it knows the history. ' +
      'Paste the failing part, not the whole log.',
    input: z.strictObject({
      log: z
        .string()
        .min(1)
        .max(
          MAX_LOG,
          `Longer than ${MAX_LOG} characters: paste the part that fails, from its first error to the end`,
        )
        .describe('The text of the log, or its failing part'),
    }),
    output: z.object({ causes: z.array(CauseOutput.omit({ id: true })) }),
    timeoutMs: EXPLAIN_MS,
    isShownByApp: true,
    run: async ({ log }, { signal }) => {
      const answers = await explain(log, signal);
      const [main, ...others] = answers;
      if (main === undefined) return { text: 'No failure was found in this log.', data: { causes: [] } };
      const { text } = takeFitting(describeAnswer(main), LOG_BYTES);
      const listed = listOthers('Other causes in this log', others, OTHER_CAUSES);
      return { text: `${text}${listed}`, data: { causes: answers.slice(0, MAX_CAUSES).map(toCauseOutput) } };
    },
  });
}

const Feedback = z.strictObject({
  id: z
    .string()
    .min(1)
    .max(300)
    .describe('ID of the failure, from list_failures or get_failure, or of its review'),
  verdict: z
    .enum(['accept', 'correct', 'reject'])
    .describe('accept: the answer is right. correct: it is something else. reject: it is not usable'),
  said: z
    .string()
    .min(3)
    .max(1000)
    .describe('What the person said, word for word. It is stored as the reason'),
  category: z.enum(Category.options).optional().describe('The right category; correct needs it'),
  rootCause: z.string().min(1).max(4000).optional().describe('The right cause, with correct'),
  fix: z.string().min(1).max(4000).optional().describe('The right fix, with correct'),
});

/**
 * Creates the tool `submit_feedback`, with which an agent submits a person's decision about an answer. It is
 * offered only if this is allowed.
 */
export function submitFeedback(
  deps: InstallationDeps,
  { decide, openReview, reviewer }: NonNullable<McpDeps['feedback']>,
): McpTool {
  return defineTool({
    name: 'submit_feedback',
    title: "Store a person's decision",
    description:
      'Stores what a PERSON told you about an answer: that it is right, what it is instead, or that ' +
      'it is not usable. Never call it on your own judgement: decisions are reused to answer later ' +
      'failures of the same kind. Quote the person in said. The decision is stored as brought by ' +
      'an agent.',
    input: Feedback,
    output: z.object({ stored: Feedback.shape.verdict, teaching: z.string() }),
    manners: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    run: async ({ id, verdict, said, category, rootCause, fix }) => {
      const by = `${reviewer} (by an agent)`;
      const review =
        (await deps.stores.reviews.find(id)) ?? (await openReview(await findOneAnalysis(id, deps), by));
      const reason = `A person said: ${said}`;
      const input: DecisionInput = {
        type: verdict,
        reason,
        ...omitUndefined({ category, rootCause, fixRecommendation: fix }),
      };
      const { teaching } = await decide({ review, reviewer: by, input });
      return {
        text: `Stored: ${verdict}. ${toOneLine(teaching, 400)}`,
        data: { stored: verdict, teaching: toOneLine(teaching, 400) },
      };
    },
  });
}

async function findOneAnalysis(id: string, deps: InstallationDeps): Promise<string> {
  const { answers } = await findAnswers(id, deps);
  if (answers.length === 1) return answers[0].analysis.id;
  throw new TriageError('invalid-input', 'This build has several causes: use the ID of one of them.');
}
