import { createMaskingOptions } from '../../config/masking.ts';
import type { Config } from '../../config/schema.ts';
import { createMasker, type Masker } from '../../log/mask/mask.ts';
import type { DatasetRow } from '../cases/case.ts';
import { isRight, listJudgedCases } from '../figures/figure.ts';
import type { ReplayedCase } from '../run/replay.ts';
import type { CaseResult } from '../run/results.ts';
import { readResultLines } from '../run/results-file.ts';
import type { ReportedRun } from './replay-source.ts';

/** A case in one line. `more` contains the details of its section; null if it has none. */
export interface ReportCase {
  readonly id: string;
  readonly truth: string | null;
  readonly said: string | null;
  readonly probability: number | null;
  /** True if the answer is right; null if unknown. */
  readonly isRight: boolean | null;
  readonly error: string | null;
  readonly more: ReportCaseMore | null;
}

/** The maximum number of cases of a set that are all shown with details. */
const ALL_UP_TO = 100;
/**
 * The maximum number of cases with details in a larger set: failed cases, wrong cases, and those that a
 * figure refers to.
 */
const MAX_TOLD = 400;
/** The maximum number of characters of a case's excerpts. */
const MAX_TEXT = 8_000;
const MAX_LISTED = 20;

/**
 * Reads the cases of each run, most informative first. Details are read from the results file in a second
 * pass. Texts of people are masked.
 */
export async function reportCases(reported: readonly ReportedRun[], config: Config): Promise<ReportCase[][]> {
  const masker = createMasker(createMaskingOptions(config));
  const files = Map.groupBy(reported, ({ results }) => results?.path ?? '');
  const cases = new Map<ReportedRun, ReportCase[]>();
  for (const [path, runs] of files) {
    const lines = path === '' ? null : readResultLines(path);
    // Several runs may be in one file, one after the other.
    for (const run of runs) cases.set(run, await rankCases(run, lines, masker));
  }
  return reported.map((reportedRun) => cases.get(reportedRun) ?? []);
}

async function rankCases(
  { run, sections }: ReportedRun,
  lines: AsyncGenerator<CaseResult> | null,
  masker: Masker,
): Promise<ReportCase[]> {
  const linked = new Set(sections.flatMap(({ figures }) => figures.flatMap(({ against }) => against ?? [])));
  const ranked = run.cases
    .map((replayedCase, at) => ({ one: replayedCase, at, rank: computeRank(replayedCase, linked) }))
    .sort((left, right) => left.rank - right.rank || left.at - right.at);
  const described = ranked
    .filter(({ rank }) => run.cases.length <= ALL_UP_TO || rank < UNTOLD)
    .slice(0, MAX_TOLD);
  const chosen = new Set(described.map(({ at }) => at));
  const more = new Map<number, ReportCaseMore>();
  for (const [at, replayedCase] of run.cases.entries()) {
    const line = await lines?.next();
    if (chosen.has(at) && line !== undefined && line.done !== true)
      more.set(at, await readDetails(replayedCase.row, line.value, masker));
  }
  return await Promise.all(ranked.map(({ one, at }) => toReportCase(one, more.get(at) ?? null, masker)));
}

const UNTOLD = 4;

/**
 * Computes the rank of a case: 0 if it failed, 1 to 2 if it is wrong (most confident first), 3 if a figure
 * refers to it, 4 otherwise.
 */
function computeRank(replayedCase: ReplayedCase, linked: ReadonlySet<string>): number {
  if (replayedCase.result.error !== null) return 0;
  const [judged] = listJudgedCases([replayedCase]);
  if (judged !== undefined && judged.said !== null && !isRight(judged))
    return 2 - (replayedCase.result.confidence ?? 0);
  return linked.has(replayedCase.result.id) ? 3 : UNTOLD;
}

async function toReportCase(
  replayedCase: ReplayedCase,
  more: ReportCaseMore | null,
  masker: Masker,
): Promise<ReportCase> {
  const { result } = replayedCase;
  const [judged] = listJudgedCases([replayedCase]);
  return {
    id: result.id,
    truth: judged === undefined ? null : judged.accepted.join(' or '),
    said: result.category,
    probability: result.confidence,
    isRight: judged === undefined || judged.said === null ? null : isRight(judged),
    error: result.error === null ? null : (await masker.mask(result.error)).text,
    more,
  };
}

/** The details of a case that is shown in full. */
export type ReportCaseMore = Awaited<ReturnType<typeof readDetails>>;

async function readDetails(row: DatasetRow | null, result: CaseResult, masker: Masker) {
  const masked = async (text: string | null | undefined) =>
    text == null ? null : (await masker.mask(text)).text;
  const truth = new Set(row?.faulty_files ?? []);
  return {
    kind: result.kind,
    action: result.action,
    answerConfidence: result.answerConfidence,
    rootCause: result.rootCause,
    fixRecommendation: result.fixRecommendation,
    // The labels
    trueCause: await masked(row?.root_cause),
    trueFix: await masked(row?.fix),
    quotes: result.claims.flatMap(({ quotes }) => quotes).slice(0, MAX_LISTED),
    tools: result.tools,
    suspects: result.suspects
      .slice(0, MAX_LISTED)
      .map(({ path, line }) => ({ path, line, isTrue: truth.size === 0 ? null : truth.has(path) })),
    faultyFiles: (await masker.maskAll([...truth].slice(0, MAX_LISTED))).map(({ text }) => text),
    failingTests: result.failingTests
      .slice(0, MAX_LISTED)
      .map(({ suite, name }) => (suite === null ? name : `${suite} › ${name}`)),
    ...limitExcerpts(result),
    seconds: result.milliseconds / 1000,
    costUsd: result.usage.costUsd,
    iterations: result.iterations,
  };
}

/** Returns excerpts up to a total length, and the number of those that were left out. */
function limitExcerpts({ excerpts }: CaseResult) {
  let room = MAX_TEXT;
  const kept = excerpts.filter(({ text }) => {
    room -= text.length;
    return room >= 0;
  });
  return { excerpts: kept, moreExcerpts: excerpts.length - kept.length };
}
