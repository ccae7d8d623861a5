import { compileTriageGraph, compileTriageGraphInMemory } from '../../../graphs/triage/graph.ts';
import { TriageLimits } from '../../../graphs/triage/state.ts';
import { createTimeoutOutcome } from '../../../graphs/triage/tool-calls.ts';
import type { Analysis, Step } from '../../domain/analysis.ts';
import type { Category } from '../../domain/category.ts';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import type { ToolCall, ToolOutcome } from '../../domain/evidence.ts';
import type { Recording } from '../../domain/recording.ts';
import type { ReviewerQuestion } from '../../domain/review.ts';
import { omitUndefined } from '../../lib/collections.ts';
import type { Toolbox, ToolDescription } from '../../ports/toolbox.ts';
import { type InvestigateDeps, investigate } from '../../service/triage/investigate.ts';
import {
  computeFullHash,
  createSubjectHash,
  toCanonicalJson,
} from '../../service/triage/recording/recording-lines.ts';
import type { Today } from '../../service/triage/recording/today.ts';
import {
  CarriedNoFurther,
  createFrozenAnalyst,
  type Difference,
  listDifferingFields,
  openBook,
  type RecordingBook,
} from './frozen-analyst.ts';

/** The result of running a recording with today's code. */
export interface FrozenRun {
  readonly triageId: string;
  readonly analysisId: string | null;
  readonly missing: readonly string[];
  /** The differences in the order in which they occurred. */
  readonly differences: readonly Difference[];
  /** The reason why the run did not finish; null if it did. */
  readonly stopped: string | null;
  /** The SHA-256 of the canonical answer; null if there is none. */
  readonly before: string | null;
  readonly after: string | null;
  readonly identical: boolean;
  /** The visible parts of the answer that changed: category, kind, action, title, root cause, fix. */
  readonly changed: readonly string[];
  readonly notes: readonly string[];
  /** Today's answer, with the recorded times. */
  readonly analysis: Analysis | null;
}

/** The time limit of a run in milliseconds. No run without external calls takes that long. */
const TIME_LIMIT_MS = 120_000;
const graphWithoutWaits = compileTriageGraph();

/**
 * Runs today's graph with a recording. Nodes, routes and the composition by verify are today's, and judgments
 * by rules are made again. Judgments by models and the results of tools are the recorded ones. Throws only
 * `cancelled`, or the signal's reason.
 */
export async function runFrozen(recording: Recording, today: Today, signal: AbortSignal): Promise<FrozenRun> {
  const differences: Difference[] = [];
  const differs = (difference: Difference) => void differences.push(difference);
  const notes: string[] = [];
  compareMakers(recording, today, differs, notes);
  try {
    const deps = createFrozenDeps(recording, today, differs);
    const analysis = await investigate(recording.subject, deps, signal);
    if (analysis === null)
      return createFrozenRun(
        recording,
        differences,
        notes,
        null,
        'The run is waiting for a reviewer, whose answer is not in the recording.',
      );
    const timed = recording.analysis === null ? analysis : withRecordedTimes(analysis, recording.analysis);
    return createFrozenRun(recording, differences, notes, timed, null);
  } catch (error) {
    if (signal.aborted) throw error;
    return createFrozenRun(recording, differences, notes, null, describeStop(error));
  }
}

function createFrozenDeps(
  recording: Recording,
  today: Today,
  differs: (difference: Difference) => void,
): InvestigateDeps {
  const { madeBy, answers } = recording;
  const limits = getLimitsFor(recording, today);
  const seconds = limits.budget?.seconds ?? null;
  const bench = {
    book: openBook(recording),
    today,
    hashSubject: createSubjectHash(),
    differs,
    byRules: madeBy.analyst === 'rules',
    seconds,
  };
  const clock = createFrozenClock(recording);
  const waits = answers.length > 0;
  return {
    analyst: createFrozenAnalyst(madeBy.analyst, 'analyst', bench),
    fallbackAnalyst: madeBy.spare === null ? undefined : createFrozenAnalyst(madeBy.spare, 'spare', bench),
    toolbox: createFrozenToolbox(bench.book, today, differs),
    clock,
    onStep: clock.onStep,
    // Only a graph that waits needs a checkpointer, which takes time.
    graph: waits ? compileTriageGraphInMemory() : graphWithoutWaits,
    durable: waits,
    limits,
    timeLimitMs: TIME_LIMIT_MS,
    ...(waits ? { questions: recordAnswers(recording) } : {}),
  };
}

/**
 * Returns the limits of a run. Calibrations and the published routes are not only configuration, so the
 * recorded ones are used.
 */
function getLimitsFor(recording: Recording, { boundBy, limits }: Today): TriageLimits {
  const recorded = getLimitsIn(recording);
  if (boundBy === 'recorded') return recorded;
  return { ...limits, ...omitUndefined({ calibrations: recorded.calibrations, bound: recorded.bound }) };
}

function getLimitsIn({ limits }: Recording): TriageLimits {
  const read = TriageLimits.safeParse(limits);
  if (read.success) return read.data;
  throw new TriageError(
    'invalid-input',
    `The limits of the recorded run cannot be read: ${read.error.issues[0]?.message ?? ''}`,
  );
}

function recordAnswers({ answers, triageId, subject }: Recording): NonNullable<InvestigateDeps['questions']> {
  const left = [...answers];
  return {
    findByTriage: async () => {
      const answer = left.shift();
      if (answer === undefined) return toQuestion({ state: 'waiting' });
      return answer === null
        ? toQuestion({ state: 'expired' })
        : toQuestion({
            state: 'answered',
            answer: answer.text,
            answeredBy: answer.by,
            answeredAt: answer.at,
          });
    },
  };

  function toQuestion(
    partial: Partial<ReviewerQuestion> & Pick<ReviewerQuestion, 'state'>,
  ): ReviewerQuestion {
    const { id, repository } = subject.build;
    const when = new Date(0).toISOString();
    const asked = {
      id: triageId,
      kind: 'question',
      triageId,
      buildId: id,
      repository,
      title: '',
      question: '',
      openedAt: when,
      expiresAt: when,
    } as const;
    return { ...asked, category: 'CODE_ERROR', answer: null, answeredBy: null, answeredAt: null, ...partial };
  }
}

function compareMakers(
  recording: Recording,
  today: Today,
  differs: (difference: Difference) => void,
  notes: string[],
): void {
  const { madeBy, limits } = recording;
  const fields = listDifferingFields({ ...limits, calibrations: undefined, bound: undefined }, today.limits);
  if (fields.length > 0 && today.boundBy === 'configured') differs({ what: 'limits', fields });
  if (fields.length > 0 && today.boundBy === 'recorded')
    notes.push(
      'Run with the recorded limits; configured ' +
        `today: ${fields.map(({ path, after }) => `${path} ${after ?? 'absent'}`).join(', ')}.`,
    );
  if (madeBy.faultline !== today.madeBy.faultline)
    notes.push(`Recorded by Faultline ${madeBy.faultline}; this is ${today.madeBy.faultline}.`);
  if (madeBy.rules !== today.madeBy.rules) notes.push('The table of rules has changed since.');
  if (madeBy.model === null || madeBy.model === today.madeBy.model) return;
  if (today.madeBy.model === null)
    notes.push(`No model is configured here; the answers of ${madeBy.model} come from the recording.`);
  else differs({ what: 'model', before: madeBy.model, after: today.madeBy.model });
}

function describeStop(error: unknown): string {
  if (error instanceof CarriedNoFurther)
    return `The recording ends here: ${error.message}, and a model call would be needed.`;
  return getErrorMessage(error);
}

function createFrozenRun(
  recording: Recording,
  differences: Difference[],
  notes: readonly string[],
  analysis: Analysis | null,
  stopped: string | null,
): FrozenRun {
  const recorded = recording.analysis;
  const [before, after] = [recorded, analysis].map((answer) =>
    answer === null ? null : computeFullHash(answer),
  );
  const identical = before !== null && before === after;
  // No question differs, so the code between the questions does.
  if (recorded !== null && analysis !== null && !identical)
    differences.push({ what: 'analysis', fields: listDifferingFields(recorded, analysis) });
  return {
    triageId: recording.triageId,
    analysisId: recorded?.id ?? null,
    missing: recording.missing,
    differences,
    stopped,
    before: before ?? null,
    after: after ?? null,
    identical,
    changed: recorded === null || analysis === null ? [] : listChangedParts(recorded, analysis),
    notes,
    analysis,
  };
}

const PARTS: readonly (readonly [name: string, of: (analysis: Analysis) => unknown])[] = [
  ['category', ({ category }) => category],
  ['kind', ({ kind }) => kind],
  ['action', ({ verdict }) => verdict.action],
  ['title', ({ answer }) => answer.title],
  ['root cause', ({ answer }) => answer.rootCause],
  ['fix', ({ answer }) => answer.fixRecommendation],
];

function listChangedParts(before: Analysis, after: Analysis): string[] {
  return PARTS.flatMap(([name, of]) =>
    toCanonicalJson(of(before)) === toCanonicalJson(of(after)) ? [] : [name],
  );
}

/**
 * Creates a toolbox with today's descriptions and the recorded results. A tool that was never called is
 * unavailable.
 */
function createFrozenToolbox(
  book: RecordingBook,
  today: Pick<Today, 'toolbox'>,
  differs: (difference: Difference) => void,
): Toolbox {
  const compared = new Set<Category>();
  return {
    offered: (category) => today.toolbox.offered(category),
    describe: (name) => today.toolbox.describe(name),
    askable: async (category) => {
      const offered = today.toolbox.offered(category);
      const recorded = book.tools(category);
      if (recorded === null) return offered.filter(({ name }) => book.everAskable.has(name));
      if (!compared.has(category)) compareTools(category, recorded.offered, offered, differs);
      compared.add(category);
      return offered.filter(({ name }) => recorded.askable.includes(name));
    },
    run: async (call) => {
      const recorded = book.call(call);
      if (recorded === null) {
        differs({ what: 'call-not-recorded', tool: call.tool, args: toCanonicalJson(call.args) });
        return createNotRecorded(call);
      }
      return recorded.outcome === null ? createTimeoutOutcome(call, 0) : { ...recorded.outcome, call };
    },
  };
}

function compareTools(
  category: Category,
  before: readonly string[],
  after: readonly ToolDescription[],
  differs: (difference: Difference) => void,
): void {
  const names = after.map(({ name }) => name);
  const gone = before.filter((name) => !names.includes(name));
  const added = names.filter((name) => !before.includes(name));
  if (gone.length + added.length > 0) differs({ what: 'tools', category, gone, added });
}

function createNotRecorded(call: ToolCall): ToolOutcome {
  return {
    call,
    status: 'unavailable',
    findings: [],
    summary: 'This call is not in the recording.',
    milliseconds: 0,
    attempts: 0,
  };
}

/**
 * Creates the clock of a recorded run. Each step begins and ends at its recorded time, so that a budget of
 * seconds ends at the same point.
 */
function createFrozenClock({ startedAt, analysis }: Pick<Recording, 'startedAt' | 'analysis'>) {
  const steps = analysis?.steps ?? [];
  const start = Date.parse(startedAt);
  let finished = 0;
  let asked = -1;
  let last = start;
  return {
    now: () => {
      const step = steps[finished];
      // The first question is the run's own, before any step.
      if (asked === -1 || step === undefined) {
        asked = Math.max(asked, 0);
        return last;
      }
      asked += 1;
      const begun = Date.parse(step.startedAt);
      last = asked === 1 ? begun : begun + step.milliseconds;
      return last;
    },
    /** Must be called after each finished step. */
    onStep: () => {
      finished += 1;
      asked = 0;
    },
  };
}

/**
 * Returns the answer of a frozen run with the id and times of the recorded one. Steps and judgments are
 * matched by their position. Everything else is that of the run.
 */
function withRecordedTimes(now: Analysis, recorded: Analysis): Analysis {
  const { id, createdAt, milliseconds } = recorded;
  return {
    ...now,
    id,
    createdAt,
    milliseconds,
    steps: now.steps.map((step, index) => getStepAt(step, recorded.steps[index])),
  };
}

function getStepAt(step: Step, recorded: Step | undefined): Step {
  if (recorded === undefined) return step;
  const { startedAt, milliseconds } = recorded;
  const [judgments, outcomes] = [
    copyDurations(step.judgements, recorded.judgements),
    copyDurations(step.outcomes, recorded.outcomes),
  ];
  return { ...step, startedAt, milliseconds, ...omitUndefined({ judgements: judgments, outcomes }) };
}

function copyDurations<Item extends { readonly milliseconds: number }>(
  items: readonly Item[] | undefined,
  recorded: readonly { readonly milliseconds: number }[] | undefined,
): Item[] | undefined {
  return items?.map((item, index) => ({
    ...item,
    milliseconds: recorded?.[index]?.milliseconds ?? item.milliseconds,
  }));
}
