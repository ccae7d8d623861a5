import { compileTriageGraph } from '../../../graphs/triage/graph.ts';
import { compileTriageGraphInMemory } from '../../../graphs/triage/in-memory.ts';
import { TriageLimits } from '../../../graphs/triage/state.ts';
import type { Analysis } from '../../domain/analysis.ts';
import { messageOf, TriageError } from '../../domain/errors.ts';
import type { Recording } from '../../domain/recording.ts';
import type { ReviewerQuestion } from '../../domain/review.ts';
import { type InvestigateDeps, investigateOrWait } from '../../triage/investigate.ts';
import { openBook } from './book.ts';
import { canonicalJson, fullHashOf } from './canonical.ts';
import { type Difference, fieldsThatDiffer } from './difference.ts';
import { createSubjectHash } from './fields.ts';
import { CarriedNoFurther, frozenAnalyst } from './frozen-analyst.ts';
import { frozenClock, withRecordedTimes } from './frozen-clock.ts';
import { frozenToolbox } from './frozen-toolbox.ts';
import type { Today } from './today.ts';

/** What became of one recorded run under today's code. */
export interface FrozenRun {
  readonly triageId: string;
  readonly analysisId: string | null;
  /** What the recording lacks; empty: nothing. */
  readonly missing: readonly string[];
  /** In the order in which they were met: the first is where the path first differs. */
  readonly differences: readonly Difference[];
  /** Why the run did not come to an end; null where it did. */
  readonly stopped: string | null;
  /** SHA-256 of the canonical answers; null where there is none. */
  readonly before: string | null;
  readonly after: string | null;
  readonly identical: boolean;
  /** Which parts of the answer that people see are others now: category, kind, action, title, root cause, fix. */
  readonly changed: readonly string[];
  /** Remarks that are no differences. */
  readonly notes: readonly string[];
  /** Today's answer, with the recorded times. */
  readonly analysis: Analysis | null;
}

/** Long for a run that asks nobody, in milliseconds. */
const TIME_LIMIT_MS = 120_000;
const graphWithoutWaits = compileTriageGraph();

/**
 * Runs today's graph against a recording: nodes, routes and verify's composition are today's; judgements of rules are made again; those of
 * a model and the replies of tools are the recorded ones. Throws only `cancelled`, or the signal's reason.
 */
export async function runFrozen(recording: Recording, today: Today, signal: AbortSignal): Promise<FrozenRun> {
  const differences: Difference[] = [];
  const differs = (difference: Difference) => void differences.push(difference);
  const notes: string[] = [];
  compareMakers(recording, today, differs, notes);
  try {
    const deps = frozenDeps(recording, today, differs);
    const analysis = await investigateOrWait(recording.subject, deps, signal);
    if (analysis === null)
      return ended(recording, differences, notes, null, 'The run is waiting for a reviewer, whose answer is not in the recording.');
    const timed = recording.analysis === null ? analysis : withRecordedTimes(analysis, recording.analysis);
    return ended(recording, differences, notes, timed, null);
  } catch (error) {
    if (signal.aborted) throw error;
    return ended(recording, differences, notes, null, whyStopped(error));
  }
}

function frozenDeps(recording: Recording, today: Today, differs: (difference: Difference) => void): InvestigateDeps {
  const { madeBy, answers } = recording;
  const limits = limitsFor(recording, today);
  const seconds = limits.budget?.seconds ?? null;
  const bench = {
    book: openBook(recording),
    today,
    hashSubject: createSubjectHash(),
    differs,
    byRules: madeBy.analyst === 'rules',
    seconds,
  };
  const clock = frozenClock(recording);
  const waits = answers.length > 0;
  return {
    analyst: frozenAnalyst(madeBy.analyst, 'analyst', bench),
    fallbackAnalyst: madeBy.spare === null ? undefined : frozenAnalyst(madeBy.spare, 'spare', bench),
    toolbox: frozenToolbox(bench.book, today, differs),
    clock,
    onStep: clock.onStep,
    // Only what waits needs a memory, and that costs time.
    graph: waits ? compileTriageGraphInMemory() : graphWithoutWaits,
    durable: waits,
    limits,
    timeLimitMs: TIME_LIMIT_MS,
    ...(waits ? { questions: recordedAnswers(recording) } : {}),
  };
}

/** Calibrations are no matter of configuration: a run keeps those it began with. */
function limitsFor(recording: Recording, { boundBy, limits }: Today): TriageLimits {
  const recorded = limitsIn(recording);
  if (boundBy === 'recorded') return recorded;
  return { ...limits, ...(recorded.calibrations === undefined ? {} : { calibrations: recorded.calibrations }) };
}

function limitsIn({ limits }: Recording): TriageLimits {
  const read = TriageLimits.safeParse(limits);
  if (read.success) return read.data;
  throw new TriageError('invalid-input', `The limits of the recorded run cannot be read: ${read.error.issues[0]?.message ?? ''}`);
}

/** A person who answers each time as he did. */
function recordedAnswers({ answers, triageId, subject }: Recording): NonNullable<InvestigateDeps['questions']> {
  const left = [...answers];
  return {
    findByTriage: async () => {
      const answer = left.shift();
      if (answer === undefined) return question({ state: 'waiting' });
      return answer === null
        ? question({ state: 'expired' })
        : question({ state: 'answered', answer: answer.text, answeredBy: answer.by, answeredAt: answer.at });
    },
  };

  function question(said: Partial<ReviewerQuestion> & Pick<ReviewerQuestion, 'state'>): ReviewerQuestion {
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
    return { ...asked, category: 'CODE_ERROR', answer: null, answeredBy: null, answeredAt: null, ...said };
  }
}

function compareMakers(recording: Recording, today: Today, differs: (difference: Difference) => void, notes: string[]): void {
  const { madeBy, limits } = recording;
  const fields = fieldsThatDiffer({ ...limits, calibrations: undefined }, today.limits);
  if (fields.length > 0 && today.boundBy === 'configured') differs({ what: 'limits', fields });
  if (fields.length > 0 && today.boundBy === 'recorded')
    notes.push(
      `Run with the recorded limits; configured today: ${fields.map(({ path, after }) => `${path} ${after ?? 'absent'}`).join(', ')}.`,
    );
  if (madeBy.faultline !== today.madeBy.faultline)
    notes.push(`Recorded by Faultline ${madeBy.faultline}; this is ${today.madeBy.faultline}.`);
  if (madeBy.rules !== today.madeBy.rules) notes.push('The table of rules has changed since.');
  if (madeBy.model === null || madeBy.model === today.madeBy.model) return;
  if (today.madeBy.model === null) notes.push(`No model is configured here; the answers of ${madeBy.model} come from the recording.`);
  else differs({ what: 'model', before: madeBy.model, after: today.madeBy.model });
}

function whyStopped(error: unknown): string {
  if (error instanceof CarriedNoFurther) return `The recording ends here: ${error.message}, and a model call would be needed.`;
  return messageOf(error);
}

function ended(
  recording: Recording,
  differences: Difference[],
  notes: readonly string[],
  analysis: Analysis | null,
  stopped: string | null,
): FrozenRun {
  const recorded = recording.analysis;
  const [before, after] = [recorded, analysis].map((one) => (one === null ? null : fullHashOf(one)));
  const identical = before !== null && before === after;
  // Nothing that was asked differs, so the code between the questions does.
  if (recorded !== null && analysis !== null && !identical)
    differences.push({ what: 'analysis', fields: fieldsThatDiffer(recorded, analysis) });
  return {
    triageId: recording.triageId,
    analysisId: recorded?.id ?? null,
    missing: recording.missing,
    differences,
    stopped,
    before: before ?? null,
    after: after ?? null,
    identical,
    changed: recorded === null || analysis === null ? [] : changedParts(recorded, analysis),
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

function changedParts(before: Analysis, after: Analysis): string[] {
  return PARTS.flatMap(([name, of]) => (canonicalJson(of(before)) === canonicalJson(of(after)) ? [] : [name]));
}
