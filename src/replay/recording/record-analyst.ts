import { messageOf } from '../../domain/errors.ts';
import type { JudgementName, RecordedJudgement } from '../../domain/recording.ts';
import type { Clock } from '../../lib/time.ts';
import type { Analyst, Judgement } from '../../ports/analyst.ts';
import { fieldHashes, type HashSubject } from './fields.ts';
import { listening } from './shown.ts';

export interface JudgementListener {
  readonly clock: Clock;
  /** When the run began. */
  readonly startedAt: number;
  readonly hashSubject: HashSubject;
  readonly judged: (judgement: RecordedJudgement) => void;
}

/** The analyst, each of whose judgements is told as he gives it, or as it is given up. */
export function recordedAnalyst(analyst: Analyst, role: RecordedJudgement['role'], listener: JudgementListener): Analyst {
  const judge = <Value>(
    name: JudgementName,
    input: object,
    signal: AbortSignal,
    ask: () => Promise<Judgement<Value>>,
  ): Promise<Judgement<Value>> => recordJudgement({ role, name, input }, signal, listener, ask);
  return {
    name: analyst.name,
    converse: analyst.converse,
    classify: (input, signal) => judge('classify', input, signal, () => analyst.classify(input, signal)),
    plan: (input, signal) => judge('plan', input, signal, () => analyst.plan(input, signal)),
    chooseTools: (input, signal) => judge('chooseTools', input, signal, () => analyst.chooseTools(input, signal)),
    correctCall: (input, signal) => judge('correctCall', input, signal, () => analyst.correctCall(input, signal)),
    answer: (input, signal) => judge('answer', input, signal, () => analyst.answer(input, signal)),
    verify: (input, signal) => judge('verify', input, signal, () => analyst.verify(input, signal)),
  };
}

async function recordJudgement<Value>(
  { role, name, input }: { role: RecordedJudgement['role']; name: JudgementName; input: object },
  signal: AbortSignal,
  { clock, startedAt, hashSubject, judged }: JudgementListener,
  ask: () => Promise<Judgement<Value>>,
): Promise<Judgement<Value>> {
  const began = clock.now();
  const fields = hashesOf(input, hashSubject);
  let told = false;
  // Who is no longer waited for may answer all the same, or never: what counts is told once.
  const tell = (end: Pick<RecordedJudgement, 'reply' | 'failed'>) => {
    if (told) return;
    told = true;
    const milliseconds = Math.max(0, clock.now() - began);
    judged({ role, name, ...placeOf(input), fields, at: Math.max(0, began - startedAt), milliseconds, ...end });
  };
  const giveUp = () => tell({ reply: null, failed: 'cut off' });
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    return await listening(async (shown) => {
      const judgement = await ask();
      const { value, by, usage, model, promptHash, note } = judgement;
      tell({ reply: { by, model, promptHash, shown: by === 'rules' ? null : shown(), value, usage, note }, failed: null });
      return judgement;
    });
  } catch (error) {
    tell({ reply: null, failed: messageOf(error) });
    throw error;
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

/** None where an input cannot be hashed, such as one nested deeper than JSON goes: a judgement never fails for its recording. */
function hashesOf(input: object, hashSubject: HashSubject): Record<string, string> {
  try {
    return fieldHashes(input, hashSubject);
  } catch {
    return {};
  }
}

/** Round and investigator, where the input tells them. */
export function placeOf(input: object): { readonly round: number; readonly investigator: string | null } {
  const round = 'round' in input && typeof input.round === 'number' ? input.round : 0;
  const investigator = 'investigator' in input && typeof input.investigator === 'string' ? input.investigator : null;
  return { round, investigator };
}
