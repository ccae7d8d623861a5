import { type Analysis, withTried } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import { TriageError } from '../domain/errors.ts';
import { Experiment, findSuggestedFix } from '../domain/experiment.ts';
import { removeProse } from '../domain/experiment-facts.ts';
import { type Doubt, findDoubts } from '../domain/impossible-runs.ts';
import type { FailureGroup } from '../domain/reading.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { Database } from '../ports/database.ts';
import type { ShownStores } from '../stores/stores.ts';

interface ReportDeps {
  readonly stores: Pick<ShownStores, 'experiments' | 'notices'>;
  readonly database: Pick<Database, 'transaction'>;
  readonly masker: Masker;
}

/**
 * Stores the masked facts of an experiment on a build's failure, and adds them to the answers that it
 * concerns, now or when these exist. Returns the ids of these answers. Throws `impossible` if the runs
 * contradict the conclusions.
 */
export async function reportExperiment(
  { stores, database, masker }: ReportDeps,
  build: Build,
  experiment: Experiment,
  by: string,
): Promise<string[]> {
  const doubts = findDoubts(experiment, build.commit);
  if (doubts.length > 0) throw createImpossibleError(doubts);
  const kept = removeProse(await maskExperiment(experiment, masker));
  return await database.transaction(async (sql) => {
    await stores.experiments.add(build.id, kept, by, sql);
    const answers = await stores.experiments.apply(build.id, sql);
    if (answers.length > 0) await stores.notices.changed({ buildId: build.id, delayMs: 0 }, sql);
    return answers;
  });
}

const MAX_ISSUES = 20;

function createImpossibleError(doubts: readonly Doubt[]): TriageError {
  const [first] = doubts;
  const more = doubts.length > 1 ? ` So are ${doubts.length - 1} more values; see the issues.` : '';
  const message =
    `The experiment is impossible: ${first?.path} ${first?.message}.${more} faultline confirm of the ` +
    "server's version sends what it needs.";
  return new TriageError('impossible', message, { details: { issues: doubts.slice(0, MAX_ISSUES) } });
}

/**
 * Returns the answers with the experiment added to those that it concerns, as the store does: those whose
 * failures include every test that was run.
 */
export function withExperiment(
  analyses: readonly Analysis[],
  groups: readonly FailureGroup[],
  experiment: Experiment,
): Analysis[] {
  return analyses.map((analysis) => {
    const failures = groups
      .filter(({ fingerprint }) => fingerprint.value === analysis.fingerprint)
      .flatMap((group) => group.failures);
    const names = failures.flatMap(({ test }) => test?.name ?? []);
    const isIn = (test: string) => names.some((name) => test === name || test.endsWith(` › ${name}`));
    const isAbout = experiment.tests.length === 0 ? names.length === 0 : experiment.tests.every(isIn);
    return isAbout ? withTried(analysis, experiment) : analysis;
  });
}

const MAX_TEXT = 4_000;
/** Fields with fixed terms and commit ids, which contain no secrets. */
const NOT_MASKED = ['verdict', 'what', 'where', 'commit', 'dependsOn'];

/**
 * Masks every text of an experiment before it is sent or stored. A change that contained a secret is no
 * longer the one that was tried, so it is not suggested.
 */
export async function maskExperiment(
  experiment: Experiment,
  masker: Pick<Masker, 'maskAll'>,
): Promise<Experiment> {
  const texts: string[] = [];
  JSON.stringify(experiment, (key, value: unknown) => {
    if (typeof value === 'string' && !NOT_MASKED.includes(key)) texts.push(value);
    return value;
  });
  const masked = (await masker.maskAll(texts)).map(({ text }) => text);
  let at = 0;
  const replaced: unknown = JSON.parse(
    JSON.stringify(experiment, (key, value: unknown) => {
      if (typeof value !== 'string' || NOT_MASKED.includes(key)) return value;
      at += 1;
      // A mask may be longer than the secret that it replaces.
      return masked[at - 1]?.slice(0, Math.max(MAX_TEXT, value.length));
    }),
  );
  const parsed = Experiment.parse(replaced);
  const { fixes } = parsed;
  if (fixes === undefined || findSuggestedFix(parsed)?.diff === findSuggestedFix(experiment)?.diff)
    return parsed;
  return { ...parsed, fixes: { ...fixes, suggest: false } };
}
