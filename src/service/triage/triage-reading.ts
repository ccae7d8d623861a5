import type { Analysis } from '../../domain/analysis.ts';
import type { Build } from '../../domain/build.ts';
import type { ReadStage } from '../../domain/calibration.ts';
import type { FailureGroup, Reading, Survey } from '../../domain/reading.ts';
import type { TriageSubject } from '../../domain/triage.ts';
import type { ReadableSource } from '../../log/read-sources.ts';
import type { LogThreads } from '../../log/threads.ts';
import type { Logger } from '../../ports/telemetry.ts';
import type { LibraryStore, RuleStore } from '../../stores/library.ts';
import type { Draft } from './conclude.ts';
import { causesOfLogs, groupsOf, sourcesOfGroup, subjectOf } from './group.ts';
import { type InvestigateDeps, investigateOrWait } from './investigate.ts';
import type { OwnerFinder } from './owners.ts';
import { type BesideGreen, greenBehind } from './passing-builds.ts';
import { readAside } from './read-build.ts';
import { recallAnalysis, ruleAnalysis, ruleFor } from './recall.ts';

/** What a build left to be read, masked. */
export interface BuildMaterial {
  readonly build: Build;
  readonly sources: readonly ReadableSource[];
  readonly notes: readonly string[];
  readonly survey: Survey | null;
  /** Secrets hidden in the sources. */
  readonly secrets: number;
  /** Whether each log is that of a failed job, with a cause of its own; of other logs only some show a failure. */
  readonly jobLogs: boolean;
  readonly beside: BesideGreen | null;
  /** Stages of the reader left out, for measurements. */
  readonly without?: ReadonlySet<ReadStage>;
}

/** Where the groups of one build and their answers are kept. */
export interface AnswerKeeper {
  /** All groups of the build: those that were kept, with what this reading adds. */
  groups(reading: Reading, found: readonly FailureGroup[]): Promise<readonly FailureGroup[]>;
  /** The answer that was kept of the group, else the drafted one, now kept; null: it waits for a person. */
  answer(group: FailureGroup, draft: (triageId: string) => Promise<Draft | null>): Promise<Analysis | null>;
}

interface KnownAnswers {
  readonly library: Pick<LibraryStore, 'recall' | 'seen'>;
  readonly rules: Pick<RuleStore, 'active' | 'used'>;
  readonly logger: Pick<Logger, 'warn'>;
}

export interface TriageReadingDeps {
  readonly investigation: InvestigateDeps;
  /** Of log text that an analyst is shown. */
  readonly budgetTokens: number;
  /** Where large logs are read; absent: at once. */
  readonly threads?: Pick<LogThreads, 'read'>;
  /** What people decided and ruled before; absent: nothing. */
  readonly known?: KnownAnswers;
  /** Finds out whose a failure is; absent: nobody's. */
  readonly owners?: OwnerFinder;
}

export interface TriagedReading {
  readonly reading: Reading;
  /** One per cause that has an answer, in the order of the first failure. */
  readonly analyses: Analysis[];
  /** The failures of each cause. */
  readonly groups: readonly FailureGroup[];
}

/**
 * Reads a build, groups its failures by cause, and answers each group once: what the service, the terminal, the Action and replay do with
 * every build. They differ in where it is kept.
 */
export async function triageReading(
  material: BuildMaterial,
  keeper: AnswerKeeper,
  deps: TriageReadingDeps,
  signal: AbortSignal,
): Promise<TriagedReading> {
  const { build, sources, jobLogs } = material;
  const read = readerOf(material, deps, signal);
  const reading = await read(sources);
  const groups = await keeper.groups(reading, jobLogs ? await causesOfLogs(build.id, sources, read) : groupsOf(reading, build.id));
  const analyses: Analysis[] = [];
  for (const group of groups) {
    signal.throwIfAborted();
    const analysis = await keeper.answer(group, async (triageId) => {
      const shown = await read(jobLogs ? sourcesOfGroup(group, sources) : sources);
      const subject = subjectOf({ triageId, build, group, groups, reading: shown, notes: material.notes, survey: material.survey });
      const green = greenBehind(subject.excerpts, material.beside);
      return await draftFor(green === null ? subject : { ...subject, green }, deps, signal);
    });
    if (analysis !== null) analyses.push(analysis);
  }
  return { reading, analyses, groups };
}

/** What a person said of this failure, else what a reviewer's rule says of such failures, else what the graph finds; null where that waits for a person. A recall is counted in the transaction that saves it. */
async function draftFor(subject: TriageSubject, deps: TriageReadingDeps, signal: AbortSignal): Promise<Draft | null> {
  const { known, owners = async () => ({}) } = deps;
  const { clock } = deps.investigation;
  const { repository } = subject.build;
  const startedAt = clock.now();
  const at = new Date(startedAt).toISOString();
  if (known !== undefined) {
    const { library, rules, logger } = known;
    const entry = subject.generic ? null : await library.recall({ fingerprint: subject.fingerprint.value, repository });
    if (entry !== null) {
      const whose = await owners(subject, { category: entry.category, suspects: [] }, signal);
      return async (sql) => ({
        ...recallAnalysis(subject, entry, await library.seen(entry.id, at, sql), startedAt, clock.now()),
        ...whose,
      });
    }
    const match = await ruleFor(subject.failures, repository, { stores: { rules }, logger });
    if (match !== null) {
      const whose = await owners(subject, { category: match.rule.category, suspects: [] }, signal);
      return async (sql) => ({ ...ruleAnalysis(subject, match, await rules.used(match.rule, at, sql), startedAt, clock.now()), ...whose });
    }
  }
  const analysis = await investigateOrWait(subject, deps.investigation, signal);
  if (analysis === null) return null;
  const whose = await owners(subject, { category: analysis.category, suspects: analysis.answer.suspects }, signal);
  return async () => ({ ...analysis, ...whose });
}

type Read = (sources: readonly ReadableSource[]) => Promise<Reading>;

/** Reads each choice of sources once, beside green builds where there are any. */
function readerOf({ beside, secrets, without }: BuildMaterial, { budgetTokens, threads }: TriageReadingDeps, signal: AbortSignal): Read {
  const how = { budgetTokens, secrets, ...(beside === null ? {} : { green: beside.green }), ...(without === undefined ? {} : { without }) };
  const readings = new Map<string, Reading>();
  return async (sources) => {
    const key = JSON.stringify(sources.map(({ name }) => name));
    const reading = readings.get(key) ?? (await readAside(sources, how, threads, signal));
    readings.set(key, reading);
    return reading;
  };
}
