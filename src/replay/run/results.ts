import { type FileHandle, open, stat } from 'node:fs/promises';
import { z } from 'zod';
import { type Analysis, Correction } from '../../domain/analysis.ts';
import { CATEGORIES } from '../../domain/category.ts';
import { getErrorMessage, getErrorReason, TriageError } from '../../domain/errors.ts';
import { Blame, blameByText, blameByTrying } from '../../domain/experiment.ts';
import type { FailureGroup, Reading } from '../../domain/reading.ts';
import { jsonIn } from '../../lib/text.ts';
import { isUnknown, showsFailure } from '../../log/recognise/failures.ts';
import { numberedLines } from '../cases/dataset.ts';

const Probability = z.number().min(0).max(1);
const Count = z.number().min(0);
const Text = z.string().nullable();
const Line = z.int().nullable();
const Spent = z.object({ inputTokens: Count, outputTokens: Count, costUsd: Count });
const createListSchema = <Item extends z.ZodType>(item: Item) => z.array(item).readonly();

const Claim = z.object({
  text: z.string(),
  quotes: createListSchema(z.object({ source: z.string(), line: z.int(), text: z.string() })),
});
const Suspect = z.object({ path: z.string(), line: Line, score: z.number() });
const TestResult = z.object({ name: z.string(), suite: Text, file: Text, line: Line });

/** The result of one analysis, in the fields of the whole result, with its title and its tests. */
export const AnalysisResult = z.object({
  category: Text,
  kind: Text,
  probabilities: z.record(z.string(), Probability),
  confidence: Probability.nullable(),
  abstained: z.boolean().nullable(),
  title: Text,
  rootCause: Text,
  fixRecommendation: Text,
  claims: createListSchema(Claim),
  suspects: createListSchema(Suspect),
  failingTests: createListSchema(TestResult),
  fingerprint: Text,
  action: Text,
  analyst: Text,
  usage: Spent,
  answerConfidence: Probability.nullable(),
});
export type AnalysisResult = z.infer<typeof AnalysisResult>;

/**
 * One line of the results file, in camelCase and with a stable format. Unknown values are null or empty,
 * never left out. Keys with a default were added later, so that files of older versions lack them.
 */
export const CaseResult = z.object({
  id: z.string().min(1),
  category: Text,
  kind: Text,
  probabilities: z.record(z.string(), Probability),
  confidence: Probability.nullable(),
  abstained: z.boolean().nullable(),
  excerpts: createListSchema(
    z.object({
      source: z.string(),
      lineStart: z.int(),
      lineEnd: z.int(),
      text: z.string(),
      reason: z.string(),
    }),
  ),
  tokens: Count,
  logLines: Count,
  logBytes: Count,
  failingTests: createListSchema(TestResult),
  messages: createListSchema(z.string()),
  fingerprint: Text,
  suspects: createListSchema(Suspect),
  rootCause: Text,
  fixRecommendation: Text,
  claims: createListSchema(Claim),
  action: Text,
  analyst: Text,
  usage: Spent,
  milliseconds: Count,
  error: Text,
  /**
   * The confidence of the verified answer, which decides what is published. `confidence` is that of the
   * classification.
   */
  answerConfidence: Probability.nullable().default(null),
  iterations: z.int().nullable().default(null),
  terminationReason: Text.default(null),
  tools: createListSchema(z.object({ tool: z.string(), status: z.string() })).default([]),
  /** The corrections of the answer: one for each time it was sent back, with the outcome. */
  corrections: createListSchema(Correction).default([]),
  /**
   * The number of quotations in the claims, and the number of those that appear literally on their line of
   * the log. Null if the log was not read.
   */
  quotes: z
    .object({ made: z.int().min(0), literal: z.int().min(0) })
    .nullable()
    .default(null),
  /**
   * The number of tokens of the whole log, if its labeled lines are scored. Samples are counted if the log is
   * long.
   */
  logTokens: Count.nullable().default(null),
  /** Confidence of the verified answer before calibration; null if no analyst answered. */
  rawConfidence: Probability.nullable().default(null),
  model: Text.default(null),
  /**
   * The steps that failed, as the CI system marks them. `consequence` is true if a step failed only because
   * another one did.
   */
  failedSections: createListSchema(
    z.object({
      name: z.string(),
      source: z.string(),
      lineStart: z.int(),
      lineEnd: z.int(),
      exitCode: Line,
      consequence: z.boolean(),
    }),
  ).default([]),
  /**
   * True if the labeled step is among the failed ones. Null if no step is labeled or the log was not read.
   */
  stepFound: z.boolean().nullable().default(null),
  /**
   * The party at fault according to the answer: from an experiment that ran the failure again, otherwise from
   * the text. Null if no analyst answered.
   */
  blame: Blame.nullable().default(null),
  /** The probability that a re-run would pass. Null if no analyst answered. */
  transient: Probability.nullable().default(null),
  /**
   * Every answer to the build. The first one is the answer in the fields above. Rows that do not label each
   * failure have only the first one.
   */
  analyses: createListSchema(AnalysisResult).default([]),
  /** True if the logs and reports show that something failed. Null if they were not read. */
  failureFound: z.boolean().nullable().default(null),
  /**
   * The names in the advice, if the row has a known fix. `findable` is the number of names of the fix that
   * are at hand in logs and tree. `keyed` lists those of them that the advice contains. `invented` lists the
   * paths, versions and variables of the advice that are not at hand. Null if no fix is known or the log was
   * not read.
   */
  advice: z
    .object({
      findable: z.int().min(0),
      keyed: createListSchema(z.string()),
      invented: createListSchema(z.string()),
    })
    .nullable()
    .default(null),
});
export type CaseResult = z.infer<typeof CaseResult>;

const MAX_MESSAGES = 20;

/**
 * The answers to a case. `groups` are the failures of each cause, which identify the tests that an answer is
 * about.
 */
interface AnsweredCase {
  readonly reading: Reading;
  readonly analyses: readonly Analysis[];
  readonly groups?: readonly FailureGroup[];
}

/**
 * Returns the row of a case that was read, with its answer if an analyst was asked. If there are several
 * causes, the first one represents the build. The claims of all causes and the text of the other causes
 * follow its own, as readers see them together.
 */
export function toResult(
  id: string,
  { reading, analyses, groups = [] }: AnsweredCase,
  milliseconds: number,
): CaseResult {
  return {
    ...toAnswerRow(id, analyses[0] ?? null, milliseconds),
    ...ofAllCauses(analyses),
    excerpts: reading.excerpts.map(({ weight: _weight, ...excerpt }) => excerpt),
    tokens: reading.tokens,
    logLines: reading.sources.reduce((total, source) => total + source.lines, 0),
    logBytes: reading.sources.reduce((total, source) => total + source.bytes, 0),
    failingTests: testsIn(reading).map(({ name, suite, file, line }) => ({ name, suite, file, line })),
    messages: listMessages(reading),
    fingerprint: isUnknown(reading.fingerprint) ? null : reading.fingerprint.value,
    failedSections: reading.failedSections.map(
      ({ name, source, lineStart, lineEnd, exitCode = null, consequence = false }) => {
        return { name, source, lineStart, lineEnd, exitCode, consequence };
      },
    ),
    analyses: analyses.map((analysis) => toAnalysisResult(analysis, groups)),
    failureFound: showsFailure(reading),
  };
}

/** The number of causes after the first that are appended to its text. */
const MAX_OTHERS = 5;

function ofAllCauses(analyses: readonly Analysis[]): Partial<Pick<CaseResult, 'rootCause' | 'claims'>> {
  const [first, ...others] = analyses;
  if (first === undefined || others.length === 0) return {};
  const told = others.slice(0, MAX_OTHERS).map(({ answer }) => `Another cause: ${answer.rootCause}`);
  return {
    rootCause: [first.answer.rootCause, ...told].join(' '),
    claims: analyses.flatMap(({ answer }) => answer.claims.map(({ text, quotes }) => ({ text, quotes }))),
  };
}

/**
 * Returns the failing tests. A file that could not be loaded is a failure, but not a test if other tests have
 * names.
 */
function testsIn({ failingTests }: Reading): Reading['failingTests'] {
  const named = failingTests.filter(({ name, file }) => name !== file);
  return named.length > 0 ? named : failingTests;
}

function toAnalysisResult(analysis: Analysis, groups: readonly FailureGroup[]): AnalysisResult {
  const { answer, classification, verdict, usage, failureIds } = analysis;
  const own =
    groups.find(({ failures }) => failures.some(({ id }) => failureIds.includes(id)))?.failures ?? [];
  const tests = own.flatMap(({ test }) => (test === null ? [] : [test]));
  return {
    category: analysis.category,
    kind: analysis.kind,
    probabilities: classification.probabilities,
    confidence: classification.confidence,
    abstained: classification.abstained,
    title: answer.title,
    rootCause: answer.rootCause,
    fixRecommendation: answer.fixRecommendation,
    claims: answer.claims.map(({ text, quotes }) => ({ text, quotes })),
    suspects: answer.suspects.map(({ path, line, score }) => ({ path, line, score })),
    failingTests: tests.map(({ name, suite, file, line }) => ({ name, suite, file, line })),
    fingerprint: analysis.fingerprint,
    action: verdict.action,
    analyst: analysis.analyst,
    usage: { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens, costUsd: usage.costUsd },
    answerConfidence: verdict.confidence,
  };
}

/** Returns the row of a case that failed. A failure is an error, and never stops the replay. */
export function failedResult(id: string, error: string, milliseconds: number): CaseResult {
  return { ...toAnswerRow(id, null, milliseconds), error };
}

/** Returns a row with the fields of an analysis, without those that come only from the log. */
function toAnswerRow(id: string, analysis: Analysis | null, milliseconds: number): CaseResult {
  const { answer, classification, verdict, usage }: Partial<Analysis> = analysis ?? {};
  return {
    id,
    category: analysis?.category ?? null,
    kind: analysis?.kind ?? null,
    probabilities: classification?.probabilities ?? {},
    confidence: classification?.confidence ?? null,
    abstained: classification?.abstained ?? null,
    excerpts: [],
    tokens: 0,
    logLines: 0,
    logBytes: 0,
    failingTests: [],
    messages: [],
    fingerprint: null,
    suspects: answer?.suspects.map(({ path, line, score }) => ({ path, line, score })) ?? [],
    rootCause: answer?.rootCause ?? null,
    fixRecommendation: answer?.fixRecommendation ?? null,
    claims: answer?.claims.map(({ text, quotes }) => ({ text, quotes })) ?? [],
    action: verdict?.action ?? null,
    analyst: analysis?.analyst ?? null,
    usage: {
      inputTokens: usage?.inputTokens ?? 0,
      outputTokens: usage?.outputTokens ?? 0,
      costUsd: usage?.costUsd ?? 0,
    },
    milliseconds: Math.round(milliseconds),
    error: null,
    answerConfidence: verdict?.confidence ?? null,
    iterations: usage?.iterations ?? null,
    terminationReason: analysis?.terminationReason ?? null,
    tools: listTools(analysis),
    corrections: analysis?.corrections ?? [],
    quotes: null,
    logTokens: null,
    rawConfidence: verdict?.calibration?.raw ?? verdict?.confidence ?? null,
    model: analysis?.model ?? null,
    failedSections: [],
    stepFound: null,
    blame: analysis === null ? null : (blameByTrying(analysis.experiment) ?? blameByText(analysis)),
    transient: answer?.transient ?? null,
    analyses: [],
    failureFound: null,
    advice: null,
  };
}

function listTools(analysis: Analysis | null): CaseResult['tools'] {
  const outcomes = analysis?.steps.flatMap((step) => step.outcomes ?? []) ?? [];
  return outcomes.map(({ call, status }) => ({ tool: call.tool, status }));
}

function listMessages(reading: Reading): string[] {
  const thrown = reading.exceptions.map((exception) => `${exception.type}: ${exception.message}`);
  const diagnosed = reading.diagnostics.filter((one) => one.severity === 'error').map((one) => one.message);
  const tests = reading.failingTests.flatMap((test) => (test.message === null ? [] : [test.message]));
  const said = reading.messages.map((message) => message.text);
  return [...new Set([...tests, ...thrown, ...diagnosed, ...said])].slice(0, MAX_MESSAGES);
}

const PIECE = 65_536;
/** The file mode of results, which quote logs. A new file is accessible only to its owner. */
const OWNER_ONLY = 0o600;

export type ResultsFile = ReturnType<typeof resultsFile>;

export async function createResults(path: string): Promise<ResultsFile> {
  const handle = await opened(path, 'w');
  // A pipe or a device has no positions; a file is written by them.
  return resultsFile(path, handle, (await handle.stat()).isFile() ? 0 : null);
}

/**
 * Opens the file of an earlier run to continue after its last whole line. An incomplete last line is dropped.
 * Creates the file if it does not exist.
 */
export async function resumeResults(path: string): Promise<ResultsFile> {
  // 'a+' makes it where it is missing; writing goes by position, so that a torn end is written over.
  await (await opened(path, 'a+')).close();
  const handle = await opened(path, 'r+');
  const whole = await wholeLines(handle);
  await handle.truncate(whole);
  return resultsFile(path, handle, whole);
}

/** Reads every result of a file, in its order. Throws with the line if it is not a result. */
export async function* readResultLines(path: string): AsyncGenerator<CaseResult> {
  for await (const { line, text } of numberedLines(path)) {
    yield readLine(text, `${path}, line ${line}`);
  }
}

/** Opens a results file that grows by one line per case. Whatever happens, it contains only whole lines. */
function resultsFile(path: string, handle: FileHandle, start: number | null) {
  let end = start;
  const earlier = start === null || start === 0 ? null : readResultLines(path);
  return {
    path,
    /**
     * Returns the lines that an earlier run wrote, in their order, one at a time, and null after the last
     * one.
     */
    async next(): Promise<CaseResult | null> {
      const read = await earlier?.next();
      return read === undefined || read.done === true ? null : read.value;
    },
    /** Appends a result. If the disk is full, rejects and leaves the file as it was. */
    async append(result: CaseResult): Promise<void> {
      const bytes = Buffer.from(`${JSON.stringify(result)}\n`);
      try {
        await writeAll(handle, bytes, end);
      } catch (cause) {
        if (end !== null) await handle.truncate(end).catch(() => undefined);
        throw unwritten(path, cause, ' Its content is intact; free some space and continue with --resume.');
      }
      if (end !== null) end += bytes.length;
    },
    close: () => handle.close(),
  };
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number | null): Promise<void> {
  let at = 0;
  while (at < bytes.length) {
    const { bytesWritten } = await handle.write(
      bytes,
      at,
      bytes.length - at,
      position === null ? null : position + at,
    );
    at += bytesWritten;
  }
}

/**
 * Creates the error for a file that can no longer be written. `advice` is a sentence that says what to do.
 */
export function unwritten(path: string, cause: unknown, advice = ''): TriageError {
  return new TriageError(
    'storage-failed',
    `${path} cannot be written further: ${getErrorReason(cause)}.${advice}`,
    { cause },
  );
}

/**
 * Returns the position in bytes after the last whole line of a file. Anything after it was left by a process
 * that died.
 */
export async function wholeLines(handle: FileHandle): Promise<number> {
  let { size: end } = await handle.stat();
  while (end > 0) {
    const start = Math.max(0, end - PIECE);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(end - start), 0, end - start, start);
    const at = buffer.subarray(0, bytesRead).lastIndexOf(0x0a);
    if (at !== -1) return start + at + 1;
    end = start;
  }
  return 0;
}

async function opened(path: string, flags: string): Promise<FileHandle> {
  return open(path, flags, OWNER_ONLY).catch((cause: unknown) => {
    throw new TriageError('not-found', `--out: ${path} cannot be written: ${getErrorMessage(cause)}.`, {
      cause,
    });
  });
}

/** One run of a set of cases, as read from its results file. */
export interface RunResults {
  readonly path: string;
  /** The results by id, in the order of the file. */
  readonly results: ReadonlyMap<string, CaseResult>;
}

/**
 * Reads the file that `replay --out` wrote. Throws with the file and the line, because a comparison with half
 * a file would be one of other cases.
 */
export async function readResults(path: string): Promise<RunResults> {
  if (!(await isFile(path))) throw new TriageError('not-found', `${path} does not exist.`);
  const results = new Map<string, CaseResult>();
  const lines = new Map<string, number>();
  for await (const { line, text } of numberedLines(path)) {
    const result = withoutTexts(readLine(text, `${path}, line ${line}`));
    const { id } = result;
    const earlier = lines.get(id);
    if (earlier !== undefined)
      throw new TriageError(
        'invalid-input',
        `${path}, line ${line}: the case ${id} was already on line ${earlier}.`,
      );
    lines.set(id, line);
    results.set(id, result);
  }
  if (results.size === 0) throw new TriageError('invalid-input', `${path} contains no results.`);
  return { path, results };
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isFile() === true;
}

function readLine(text: string | null, where: string): CaseResult {
  if (text === null) throw new TriageError('invalid-input', `${where} is too long to be a result.`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const message = `${where} is not JSON: ${getErrorMessage(cause)}. Was the run that wrote it interrupted?`;
    throw new TriageError('invalid-input', message, { cause });
  }
  const parsed = CaseResult.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new TriageError(
      'invalid-input',
      `${where}, field ${issue?.path.join('.') || '(row)'}: ${issue?.message}`,
    );
  }
  const { category } = parsed.data;
  if (category !== null && !CATEGORIES.some((known) => known === category))
    throw new TriageError(
      'invalid-input',
      `${where}, field category: ${category} is not one of ${CATEGORIES.join(', ')}.`,
    );
  return parsed.data;
}

/**
 * Removes the texts of a result, because a hundred thousand results must fit in memory, several times over.
 */
function withoutTexts(result: CaseResult): CaseResult {
  const excerpts = result.excerpts.map((excerpt) => ({ ...excerpt, text: '', reason: '' }));
  return {
    ...result,
    excerpts,
    messages: [],
    claims: [],
    failingTests: [],
    rootCause: null,
    fixRecommendation: null,
    analyses: [],
  };
}

const Setting = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/**
 * The origin and settings of a results file. The manifest is stored next to it, and decides whether a run may
 * continue the file.
 */
export const RunManifest = z.object({
  schema: z.literal(1),
  version: z.string(),
  startedAt: z.string(),
  /** The data sets in the order in which they were replayed. */
  sources: z.array(z.object({ name: z.string(), sha256: z.string().nullable(), cases: z.int().nullable() })),
  /** Everything that an answer may depend on, by its display name. */
  settings: z.record(z.string(), Setting),
});
export type RunManifest = z.infer<typeof RunManifest>;

/** Parses a manifest. Returns null if the text is not one. */
export function parseManifest(text: string): RunManifest | null {
  const read = RunManifest.safeParse(jsonIn(text));
  return read.success ? read.data : null;
}

/**
 * Lists the differences between two runs, one phrase each. Returns none if the later run may reuse the
 * results of the earlier one.
 */
export function listDifferences(earlier: RunManifest, now: RunManifest): string[] {
  const differences =
    earlier.version === now.version ? [] : [`the version was ${earlier.version} and is now ${now.version}`];
  if (earlier.sources.length !== now.sources.length)
    differences.push(
      `it had ${earlier.sources.length} sources of cases, now there are ${now.sources.length}`,
    );
  for (const [index, source] of now.sources.entries()) {
    const before = earlier.sources[index];
    if (before !== undefined && (before.sha256 !== source.sha256 || before.cases !== source.cases))
      differences.push(
        before.name === source.name
          ? `the cases of ${source.name} have changed`
          : `it had ${before.name} where ${source.name} is now`,
      );
  }
  const names = new Set([...Object.keys(earlier.settings), ...Object.keys(now.settings)]);
  for (const name of names) {
    const [before, after] = [earlier.settings[name] ?? null, now.settings[name] ?? null];
    if (before !== after)
      differences.push(`${name} was ${before ?? 'not set'}, now it is ${after ?? 'not set'}`);
  }
  return differences;
}
