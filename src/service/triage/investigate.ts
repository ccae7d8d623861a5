import { startDeadline } from '../../../graphs/triage/budget.ts';
import type { TriageContext } from '../../../graphs/triage/context.ts';
import type { TriageGraph } from '../../../graphs/triage/graph.ts';
import { createResumeCommand, isWaiting, type ReviewerAnswer } from '../../../graphs/triage/question.ts';
import { computeRecursionLimit } from '../../../graphs/triage/routes.ts';
import type { TriageLimits, TriageStateValue } from '../../../graphs/triage/state.ts';
import { type Analysis, type Classification, listCorrections } from '../../domain/analysis.ts';
import type { CalibrationInUse, ReadStage } from '../../domain/calibration.ts';
import { TriageError } from '../../domain/errors.ts';
import type { ToolOutcome } from '../../domain/evidence.ts';
import { createId } from '../../domain/ids.ts';
import type { PublishBound } from '../../domain/publish-bound.ts';
import type { ReviewerQuestion } from '../../domain/review.ts';
import type { TriageSubject } from '../../domain/triage.ts';
import { omitUndefined } from '../../lib/collections.ts';
import { cutAfter, toStorable } from '../../lib/text.ts';
import type { Clock } from '../../lib/time.ts';
import { NOTHING_FOUND } from '../../log/fingerprint/failures.ts';
import type { Masker } from '../../log/mask/mask.ts';
import type { ReviewerClient } from '../../ports/toolbox.ts';
import type { QuestionStore } from '../../stores/conversations.ts';
import type { NoticeStore } from '../../stores/notices.ts';
import type { RunRecorder, RunRecording } from './recording/recorder.ts';

export interface InvestigateDeps extends TriageContext {
  /** The compiled graph. With a checkpointer, a run continues after its last finished node. */
  readonly graph: Pick<TriageGraph, 'invoke' | 'getState'>;
  readonly limits: TriageLimits;
  /** Returns the calibrations, once at the start of a run. If absent, confidence is used as stated. */
  readonly calibrations?: () => Promise<readonly CalibrationInUse[]>;
  /**
   * Returns the bound for publishing, once at the start of a run. If absent or null, all confident answers
   * may be published.
   */
  readonly bound?: () => Promise<PublishBound | null>;
  /** The time limit of one run in milliseconds. */
  readonly timeLimitMs: number;
  readonly durable: boolean;
  /** The store of questions to people. If absent, no person can be asked. */
  readonly questions?: { findByTriage(triageId: string): Promise<AskedQuestion | null> };
  /** The recorder of questions and answers of the run. If absent, nothing is recorded. */
  readonly recorder?: RunRecorder;
}

type AskedQuestion = Pick<ReviewerQuestion, 'state' | 'answer' | 'answeredBy' | 'answeredAt'>;

/**
 * The parts of a triage that a measurement replaces: stages of the reader, and dependencies of the
 * investigation.
 */
export interface Experiment {
  readonly without: ReadonlySet<ReadStage>;
  readonly change: (investigation: InvestigateDeps) => InvestigateDeps;
}

/**
 * Analyzes one failure group and returns the answer with its verdict. Continues an interrupted run. Returns
 * null if the run waits for a person; the same call continues once the question is answered or has expired.
 * Throws `timeout` (retryable) at the time limit; the budget should end the run before that.
 */
export async function investigate(
  subject: TriageSubject,
  deps: InvestigateDeps,
  signal: AbortSignal,
): Promise<Analysis | null> {
  const { graph, clock, timeLimitMs } = deps;
  const startedAt = clock.now();
  const timeLimit = startDeadline(timeLimitMs);
  let recording: RunRecording | undefined;
  let analysis: Analysis | null = null;
  try {
    const begun = await beginRun(subject, deps);
    recording = begun.recording;
    const config = createGraphConfig(begun, deps, AbortSignal.any([signal, timeLimit.signal]));
    let state = await graph.invoke(begun.isResumed ? null : { subject, limits: begun.limits }, config);
    while (isWaiting(state)) {
      const answer = await findReviewerAnswer(subject.triageId, deps);
      if (answer === undefined) return null;
      recording?.answered(answer);
      state = await graph.invoke(createResumeCommand(answer), config);
    }
    analysis = toAnalysis(state, startedAt, clock.now());
    return analysis;
  } catch (cause) {
    if (!timeLimit.signal.aborted || signal.aborted) throw cause;
    // Finished nodes are stored, so the next attempt continues after them.
    throw new TriageError('timeout', `The analysis took longer than ${timeLimitMs} ms`, {
      retryable: true,
      cause,
    });
  } finally {
    timeLimit.stop();
    await recording?.end(analysis);
  }
}

/** A run of the graph that starts, or continues after its last finished node. */
interface BegunRun {
  readonly triageId: string;
  readonly limits: TriageLimits;
  readonly isResumed: boolean;
  readonly recording: RunRecording | undefined;
}

async function beginRun(subject: TriageSubject, deps: InvestigateDeps): Promise<BegunRun> {
  const { graph, durable, recorder, analyst, fallbackAnalyst, toolbox } = deps;
  const { triageId } = subject;
  const begun = durable ? await graph.getState({ configurable: { thread_id: triageId } }) : null;
  // A resumed run keeps its original limits and subject.
  const limits = begun?.values.limits ?? (await readLimits(deps));
  const given = { subject: begun?.values.subject ?? subject, limits };
  const recording = recorder?.begin({ ...given, analyst, fallbackAnalyst, toolbox });
  // `next` is also empty if a node's writes are stored but its checkpoint is not yet. Only continuing shows
  // that.
  return { triageId, limits, isResumed: begun?.createdAt !== undefined, recording };
}

function createGraphConfig(
  { triageId, limits, recording }: BegunRun,
  deps: InvestigateDeps,
  signal: AbortSignal,
) {
  const { clock, onStep, durable } = deps;
  const { analyst, fallbackAnalyst, toolbox } = recording?.asked ?? deps;
  return {
    context: { analyst, fallbackAnalyst, toolbox, clock, onStep },
    configurable: { thread_id: triageId },
    recursionLimit: computeRecursionLimit(limits),
    signal,
    ...(durable ? { durability: 'sync' as const } : {}),
  };
}

/** Returns the limits of a run that starts now. */
async function readLimits({ limits, calibrations, bound }: InvestigateDeps): Promise<TriageLimits> {
  const [inForce, bounded] = await Promise.all([calibrations?.(), bound?.() ?? null]);
  return {
    ...limits,
    ...(inForce === undefined ? {} : { calibrations: [...inForce] }),
    ...(bounded === null ? {} : { bound: bounded }),
  };
}

/**
 * Returns the answer of a person: null if none came in time or none is awaited, undefined if it is still
 * awaited.
 */
async function findReviewerAnswer(
  triageId: string,
  { questions }: InvestigateDeps,
): Promise<ReviewerAnswer | undefined> {
  const question = (await questions?.findByTriage(triageId)) ?? null;
  if (question?.state === 'waiting') return undefined;
  const { answer, answeredBy, answeredAt } = question ?? { answer: null, answeredBy: null, answeredAt: null };
  return answer === null || answeredBy === null || answeredAt === null
    ? null
    : { text: answer, by: answeredBy, at: answeredAt };
}

/** Removes the note that no error was found if the answer names one. */
function filterNotes({ abstained }: Classification, notes: readonly string[]): readonly string[] {
  return abstained ? notes : notes.filter((note) => note !== NOTHING_FOUND);
}

/** Creates the stored answer of a finished run. */
function toAnalysis(state: TriageStateValue, startedAt: number, now: number): Analysis {
  const { subject, classification, answer, verdict, termination } = state;
  if (classification === null || answer === null || verdict === null) {
    throw new TriageError('internal', `The run of ${subject.triageId} ended without a verdict`);
  }
  return {
    ...createAnalysisHead(subject, startedAt, now),
    category: classification.category,
    kind: classification.kind,
    classification,
    answer,
    verdict,
    evidence: state.evidence,
    steps: state.steps,
    usage: state.usage,
    ...collectCorrections(state),
    analyst: getMainAnalyst(state),
    model: state.model,
    promptHashes: state.promptHashes,
    notes: [
      ...new Set([
        ...filterNotes(classification, subject.notes),
        ...state.notes,
        ...listMissingAnswers(state.outcomes),
      ]),
    ],
    terminationReason: termination ?? 'max_iterations',
    recalled: null,
  };
}

function collectCorrections({ verdicts }: TriageStateValue): Pick<Analysis, 'corrections'> {
  const corrections = listCorrections(verdicts);
  return corrections.length === 0 ? {} : { corrections };
}

/** Returns the analyst that wrote the answer. */
function getMainAnalyst(state: TriageStateValue): string {
  return state.steps.findLast((step) => step.node === 'generate_answer')?.by ?? 'rules';
}

/** Creates the fields that every answer to a subject has, whatever its origin; times in milliseconds. */
export function createAnalysisHead(subject: TriageSubject, startedAt: number, now: number) {
  return {
    id: createId('ana', now),
    buildId: subject.build.id,
    triageId: subject.triageId,
    failureIds: subject.failures.map((failure) => failure.id),
    fingerprint: subject.fingerprint.value,
    reduction: computeReduction(subject),
    milliseconds: now - startedAt,
    createdAt: new Date(now).toISOString(),
    ...omitUndefined({ green: subject.green }),
  };
}

/** Computes how far the logs were reduced for this subject. */
function computeReduction(subject: TriageSubject): Analysis['reduction'] {
  return {
    logLines: subject.sources.reduce((total, source) => total + source.lines, 0),
    logBytes: subject.sources.reduce((total, source) => total + source.bytes, 0),
    keptLines: subject.excerpts.reduce(
      (total, excerpt) => total + excerpt.lineEnd - excerpt.lineStart + 1,
      0,
    ),
    tokens: subject.tokens,
  };
}

/** The maximum number of notes. More would hide the answer. */
const MAX_NOTES = 5;
const MAX_REASON = 160;

/**
 * Returns one sentence for each tool whose provider was unavailable or too slow, so that readers know what
 * the answer lacks. Tools that succeeded later, that another tool replaced, or that are not configured are
 * left out.
 */
export function listMissingAnswers(
  outcomes: readonly Pick<ToolOutcome, 'call' | 'status' | 'summary' | 'answeredBy'>[],
): string[] {
  const last = new Map(outcomes.map((outcome) => [outcome.call.tool, outcome]));
  return [...last.values()]
    .filter(
      ({ status, answeredBy }) => (status === 'failed' || status === 'timed-out') && answeredBy === undefined,
    )
    .slice(0, MAX_NOTES)
    .map(({ call, summary }) => `Made without ${call.tool}, which was unavailable: ${getShort(summary)}`);
}

function getShort(summary: string): string {
  const line = summary.replaceAll(/\s+/g, ' ').trim();
  return cutAfter(line, MAX_REASON);
}

interface ReviewerClientDeps {
  readonly questions: Pick<QuestionStore, 'ask'>;
  /** The store of notices. If absent, no one is notified that a build waits for a person. */
  readonly notices?: Pick<NoticeStore, 'changed'>;
  readonly masker: Pick<Masker, 'mask'>;
  readonly clock: Clock;
  /** The time in milliseconds after which the run continues without an answer. */
  readonly waitMs: number;
}

const MAX_TITLE = 200;

/**
 * Creates the client that adds questions to the review queue. Questions are masked, because a model words
 * them.
 */
export function createReviewerClient({
  questions,
  notices,
  masker,
  clock,
  waitMs,
}: ReviewerClientDeps): ReviewerClient {
  return {
    ask: async ({ subject, category, text }) => {
      const now = clock.now();
      const { triageId, build, failures } = subject;
      const asked = await questions.ask(
        {
          id: createId('rev', now),
          triageId,
          buildId: build.id,
          repository: build.repository,
          title: (failures[0]?.message.split('\n', 1)[0] ?? 'a failure').slice(0, MAX_TITLE),
          category,
          question: (await masker.mask(toStorable(text))).text,
          openedAt: new Date(now).toISOString(),
        },
        waitMs,
      );
      // This is not in the same transaction. If the process crashes in between, the notice is updated when
      // the build is answered.
      await notices?.changed({ buildId: build.id, delayMs: 0 });
      return { id: asked.id, text: asked.question };
    },
  };
}
