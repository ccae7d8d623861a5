import { z } from 'zod';
import { Action, type Analysis, ShownAnalysis, toShownAnalysis } from '../../domain/analysis.ts';
import { Build, BuildStatus, Provider } from '../../domain/build.ts';
import { Category, Kind } from '../../domain/category.ts';
import { TriageError } from '../../domain/errors.ts';
import { ExplainedFailures } from '../../domain/explained-failures.ts';
import { FailureRow } from '../../domain/failure.ts';
import { LibraryEntry } from '../../domain/library.ts';
import { MAX_SEARCH, SEARCH_NAMES } from '../../domain/search.ts';
import { TriageJob } from '../../domain/triage.ts';
import type { Whose } from '../../domain/whose.ts';
import { findMax } from '../../lib/collections.ts';
import { type ArrangedAnswer, arrangeAnswers, pairWithFailures } from '../../notifications/build-answers.ts';
import { clip } from '../../notifications/visible-text.ts';
import { createListSchema, pageQuery } from '../../ports/database.ts';
import type { ShownStores } from '../../stores/stores.ts';
import { addWhose, findShownWhose, ShownWhose, type WhoseAnswer } from './whose.ts';

/** One answer of a build in a few words. */
export const AnalysisSummary = z.object({
  id: z.string(),
  category: ShownAnalysis.shape.category,
  kind: Kind,
  title: z.string(),
  confidence: z.number(),
  action: Action,
  failures: z.int(),
  tests: z.array(z.string()).describe('Names of the failed tests, at most twenty'),
  grouped: z.string().nullable().describe('Why its failures share one answer; null for a single failure'),
  whose: ShownWhose.nullable().describe('Whose the failure is; null if nothing around the build is known'),
});
export type AnalysisSummary = z.infer<typeof AnalysisSummary>;

const MAX_SUMMARY_TESTS = 20;
const MAX_SUMMARY_NAME = 200;

/** An answer with its position; `whose` is absent if there is no history. */
export type AnswerWithWhose = ArrangedAnswer & { readonly whose?: Whose | null };

export function toAnalysisSummary({ analysis, explains, whose = null }: AnswerWithWhose): AnalysisSummary {
  const { id, kind, answer, verdict } = analysis;
  const { confidence, action } = verdict;
  const { failures, grouped } = explains;
  const tests = explains.tests.slice(0, MAX_SUMMARY_TESTS).map((test) => clip(test, MAX_SUMMARY_NAME));
  return {
    id,
    category: toShownAnalysis(analysis).category,
    kind,
    title: answer.title,
    confidence,
    action,
    failures,
    tests,
    grouped,
    whose: findShownWhose(whose),
  };
}

/** The maximum number of names of tests in one answer. The others are counted. */
const MAX_TESTS = 1_000;

/** An answer as programs receive it, with its failures among those of its build. */
export const AnsweredAnalysis = ShownAnalysis.extend({
  explains: ExplainedFailures,
  whose: AnalysisSummary.shape.whose,
});

export function getAnsweredAnalysis({
  analysis,
  explains,
  whose = null,
}: AnswerWithWhose): z.infer<typeof AnsweredAnalysis> {
  const tests = explains.tests.slice(0, MAX_TESTS);
  const unnamed = explains.unnamed + explains.tests.length - tests.length;
  return {
    ...toShownAnalysis(analysis),
    explains: { ...explains, tests, unnamed, logs: [...explains.logs] },
    whose: findShownWhose(whose),
  };
}

/** Reads the answers of a build with their failures and whose they are, in the order in which to fix them. */
export async function readBuildAnswers(
  { analyses, builds, failures }: Pick<ShownStores, 'analyses' | 'failures' | 'builds'>,
  buildId: string,
): Promise<WhoseAnswer<ArrangedAnswer>[]> {
  const [build, found, groups] = await Promise.all([
    builds.find(buildId),
    analyses.listByBuild(buildId),
    failures.groupsOfBuild(buildId),
  ]);
  const answers = arrangeAnswers(pairWithFailures(found, groups));
  return await addWhose({ analyses, failures }, build, answers);
}

const name = z.string().min(1).max(300);
const time = z.iso.datetime({ offset: true }).or(z.iso.date()).optional();

// Queries are strict: a misspelt filter is refused rather than ignored.
export const BuildsQuery = z.strictObject({
  provider: Provider.optional(),
  repository: name.optional(),
  pipeline: name.optional(),
  number: name.optional(),
  branch: name.optional(),
  status: BuildStatus.optional(),
  job: name.optional().describe('A job in which it failed'),
  since: time.describe('Received from then on: a date (UTC), or a time with an offset'),
  until: time.describe('Received before then: a date (UTC), or a time with an offset'),
  ...pageQuery,
});

export const ByNumberQuery = z.strictObject({
  provider: Provider,
  number: name,
  repository: name.optional(),
  pipeline: name.optional(),
});

/** The filter that distinguishes several builds with the same `provider:number`. */
export const NarrowQuery = z.strictObject({ repository: name.optional(), pipeline: name.optional() });

export const FailuresQuery = z.strictObject({
  repository: name.optional(),
  category: Category.optional(),
  fingerprint: name.optional(),
  test: name.optional(),
  text: z.string().min(1).max(500).optional().describe('Words that message, test and file must contain'),
  q: z
    .string()
    .min(1)
    .max(MAX_SEARCH)
    .optional()
    .describe(
      'A search as in the console, such as `repo:shop/api is:flaky since:7d "connection refused"`. ' +
        `Filters: ${Object.values(SEARCH_NAMES).join(', ')}`,
    ),
  since: time.describe('A date, or a time with an offset'),
  ...pageQuery,
});

const yesOrNo = z.enum(['true', 'false']).default('false');

export const LibraryQuery = z.strictObject({
  withdrawn: yesOrNo.describe('Include withdrawn entries'),
  flagged: yesOrNo.describe('Only entries that green builds contradict and that nobody confirmed'),
  ...pageQuery,
});

/** The progress of a build; `step` names the current node of the graph if it is known. */
export const TriageState = TriageJob.pick({
  state: true,
  attempts: true,
  error: true,
  createdAt: true,
  updatedAt: true,
}).extend({
  step: z.string().nullable(),
});
export type TriageState = z.infer<typeof TriageState>;

export const BuildList = createListSchema(Build);

export const BuildView = z.object({
  build: Build,
  /** The state of the triage; null if the build needs none: it passed, or was only stored. */
  triage: TriageState.nullable(),
  analyses: z.array(AnalysisSummary),
});

export const BuildAnalyses = z.object({
  buildId: z.string(),
  triage: TriageState.nullable(),
  analyses: z.array(AnsweredAnalysis),
});

export const FailureList = createListSchema(FailureRow);

export const LibraryList = createListSchema(LibraryEntry);

/** The error if several builds have the requested number. */
export const AmbiguousBuild = z.object({
  error: z.object({
    code: z.literal('conflict'),
    message: z.string(),
    requestId: z.string().optional(),
    details: z.object({
      candidates: z.array(Build.pick({ id: true, repository: true, pipeline: true, attempt: true })),
    }),
  }),
});

export interface BuildNumber {
  readonly provider: Provider;
  readonly number: string;
  readonly repository?: string | undefined;
  readonly pipeline?: string | undefined;
}

const MAX_CANDIDATES = 20;

/** Finds a stored analysis. Throws `not-found`. */
export async function findAnalysis(
  analyses: Pick<ShownStores['analyses'], 'find'>,
  id: string,
): Promise<Analysis> {
  const analysis = await analyses.find(id);
  if (analysis === null) throw new TriageError('not-found', `There is no analysis ${id}.`);
  return analysis;
}

/**
 * Finds a build by its id, by its URL at its CI, or by `provider:number`. The number is that of the build or
 * the id of the run at its CI, and the repository may precede it: `github:shop/api#812`. Throws TriageError
 * `not-found` or `conflict`.
 */
export async function findBuild(
  builds: ShownStores['builds'],
  id: string,
  narrow: Pick<BuildNumber, 'repository' | 'pipeline'>,
): Promise<Build> {
  if (/^https?:\/\//.test(id)) return await findByUrl(builds, id);
  const [, provider, repository, number] =
    /^([a-z]{1,20}):(?:([^#\s]{1,200})#)?([^#\s]{1,200})$/.exec(id) ?? [];
  if (provider !== undefined && number !== undefined) {
    const known = Provider.safeParse(provider);
    if (!known.success)
      throw new TriageError(
        'not-found',
        `There is no provider "${provider}". Use one of ${Provider.options.join(', ')}.`,
      );
    return await findByNumber(builds, {
      provider: known.data,
      number,
      ...narrow,
      ...(repository !== undefined && { repository }),
    });
  }
  const build = await builds.find(id);
  if (build === null)
    throw new TriageError(
      'not-found',
      `There is no build ${id}. Name it by its ID, by its URL, or as provider:number.`,
    );
  return build;
}

/** The maximum number of prefixes of a URL that are looked up, longest first. */
const MAX_BEGINNINGS = 100;

/**
 * Finds the build with this URL at its CI, or the build whose URL is a prefix of it, as for the page of a job
 * or an attempt.
 */
async function findByUrl(builds: ShownStores['builds'], url: string): Promise<Build> {
  const cuts = [...url.matchAll(/[/?&#]/g)]
    .map(({ index }) => index)
    .filter((index) => index > url.indexOf('//') + 2);
  const beginnings = [...new Set([url.length, ...cuts.toReversed()])]
    .slice(0, MAX_BEGINNINGS)
    .map((end) => url.slice(0, end));
  const urls = beginnings.flatMap((beginning) => [beginning, `${beginning}/`]);
  const found = await builds.list({ urls }, { limit: 200, offset: 0 });
  const nearest = findMax(found.map((build) => build.url?.replace(/\/$/, '').length ?? 0));
  const there = found.filter((build) => build.url?.replace(/\/$/, '').length === nearest);
  const attempt = Number(/\/attempts\/(\d{1,6})(?:[/?#]|$)/.exec(url)?.[1]);
  const asked = there.filter((build) => build.attempt === attempt);
  return pickBuild(asked.length > 0 ? asked : there, `at ${clip(url, MAX_SAID)}`);
}

/** The maximum number of characters of a URL in a message. */
const MAX_SAID = 200;

/**
 * Finds the newest attempt of the one build with this number or run id. Throws TriageError `not-found`, or
 * `conflict` with the candidates in its details if several repositories or pipelines have such a build.
 */
export async function findByNumber(
  builds: ShownStores['builds'],
  { provider, number, repository, pipeline }: BuildNumber,
): Promise<Build> {
  const filter = {
    provider,
    run: number,
    ...(repository !== undefined && { repository }),
    ...(pipeline !== undefined && { pipeline }),
  };
  const found = await builds.list(filter, { limit: 200, offset: 0 });
  // Run ids are longer than build numbers. If both match, the number that people see takes precedence.
  const numbered = found.filter((build) => build.number === number);
  return pickBuild(
    numbered.length > 0 ? numbered : found,
    `${number} of ${provider}${describeWhere(repository, pipeline)}`,
  );
}

/** Returns the newest attempt of the only build among these. `which` names the request in errors. */
function pickBuild(found: readonly Build[], which: string): Build {
  const newest = listNewestAttempts(found);
  const [build] = newest;
  if (build === undefined) throw new TriageError('not-found', `There is no build ${which}.`);
  if (newest.length === 1) return build;
  const candidates = newest
    .slice(0, MAX_CANDIDATES)
    .map(({ id, repository, pipeline, attempt }) => ({ id, repository, pipeline, attempt }));
  const message = `${newest.length} builds are named by ${which}; specify the repository and pipeline, or use an ID.`;
  throw new TriageError('conflict', message, { details: { candidates } });
}

function listNewestAttempts(builds: readonly Build[]): Build[] {
  const newest = new Map<string, Build>();
  for (const build of builds) {
    const key = JSON.stringify([build.repository, build.pipeline]);
    const known = newest.get(key);
    if (known === undefined || build.attempt > known.attempt) newest.set(key, build);
  }
  return [...newest.values()];
}

function describeWhere(repository: string | undefined, pipeline: string | undefined): string {
  return `${repository === undefined ? '' : ` in ${repository}`}${pipeline === undefined ? '' : ` (${pipeline})`}`;
}
