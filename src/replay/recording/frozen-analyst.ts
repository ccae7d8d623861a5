import type { z } from 'zod';
import { outOfBudget } from '../../../graphs/triage/judge.ts';
import { TriageError } from '../../domain/errors.ts';
import type { JudgementName, RecordedJudgement, RecordedReply } from '../../domain/recording.ts';
import type { Analyst, Judgement } from '../../ports/analyst.ts';
import type { RecordingBook } from './book.ts';
import { type Difference, fieldsThatDiffer, type Place } from './difference.ts';
import { fieldHashes, type HashSubject } from './fields.ts';
import { JUDGEMENT_VALUES } from './judgement-values.ts';
import { placeOf } from './record-analyst.ts';
import type { Today } from './today.ts';

/** The recording tells no more: a model would have to be asked. */
export class CarriedNoFurther extends Error {
  readonly at: Place;

  constructor(at: Place) {
    super(`The recording has no ${at.name} in round ${at.round}`);
    this.at = at;
  }
}

export interface FrozenBench {
  readonly book: RecordingBook;
  readonly today: Today;
  readonly hashSubject: HashSubject;
  readonly differs: (difference: Difference) => void;
  /** The recorded analyst's name is "rules": whatever he has not judged yet he can judge now. */
  readonly byRules: boolean;
  /** Seconds that the run had, for the sentence of those that ran out. */
  readonly seconds: number | null;
}

/**
 * Judges as it was recorded. What rules judged, today's rules judge again and are compared with; what a model judged is answered from the
 * recording, and compared is what a model would be asked today. Throws {@link CarriedNoFurther}.
 */
export function frozenAnalyst(name: string, role: Place['role'], bench: FrozenBench): Analyst {
  const { rules, insteadOfModel } = bench.today;
  // The rules within a model's analyst are not quite those that judge alone: see `withFallback`.
  const again = role === 'spare' || bench.byRules ? rules : insteadOfModel;
  const judge = <Value>(name: JudgementName, schema: z.ZodType<Value>, input: object, ask: Ask<Value>, signal: AbortSignal) => {
    signal.throwIfAborted();
    return judgeFrozen(bench, { name, role, ...placeOf(input) }, { input, schema, ask, again });
  };
  const { classify, plan, chooseTools, correctCall, answer, verify } = JUDGEMENT_VALUES;
  return {
    name,
    converse: rules.converse,
    classify: (input, signal) => judge('classify', classify, input, (who) => who.classify(input, signal), signal),
    plan: (input, signal) => judge('plan', plan, input, (who) => who.plan(input, signal), signal),
    chooseTools: (input, signal) => judge('chooseTools', chooseTools, input, (who) => who.chooseTools(input, signal), signal),
    correctCall: (input, signal) => judge('correctCall', correctCall, input, (who) => who.correctCall(input, signal), signal),
    answer: (input, signal) => judge('answer', answer, input, (who) => who.answer(input, signal), signal),
    verify: (input, signal) => judge('verify', verify, input, (who) => who.verify(input, signal), signal),
  };
}

type Ask<Value> = (analyst: Analyst) => Promise<Judgement<Value>>;

/** One question to a frozen analyst. */
interface Question<Value> {
  readonly input: object;
  readonly schema: z.ZodType<Value>;
  readonly ask: Ask<Value>;
  /** The rules that judge again what rules judged. */
  readonly again: Analyst;
}

async function judgeFrozen<Value>(bench: FrozenBench, at: Place, question: Question<Value>): Promise<Judgement<Value>> {
  const { ask, again } = question;
  const fields = fieldHashes(question.input, bench.hashSubject);
  const recorded = bench.book.judgement(at, fields);
  if (recorded === null) {
    bench.differs({ what: 'judgement-not-recorded', at });
    if (!bench.byRules && at.role === 'analyst') throw new CarriedNoFurther(at);
    return await ask(again);
  }
  const parts = [...new Set([...Object.keys(recorded.fields), ...Object.keys(fields)])];
  const others = parts.filter((part) => recorded.fields[part] !== fields[part]);
  if (others.length > 0) bench.differs({ what: 'input', at, parts: others });
  if (recorded.reply === null) return await cutOff(bench, at, recorded, question);
  if (recorded.reply.by === 'rules') return await judgedAgain(bench, at, recorded.reply, () => ask(again));
  return await fromRecording(bench, at, recorded.reply, question);
}

/** The time of the run ended while the judge thought: the spare one judged, as he does now. */
async function cutOff<Value>(
  bench: FrozenBench,
  at: Place,
  { failed }: RecordedJudgement,
  { ask }: Question<Value>,
): Promise<Judgement<Value>> {
  const spare = bench.book.judgement({ ...at, role: 'spare' }, {});
  if (spare?.reply == null) throw new TriageError('internal', `The recorded run failed in ${at.name}: ${failed ?? 'cut off'}`);
  const judgement = await judgedAgain(bench, { ...at, role: 'spare' }, spare.reply, () => ask(bench.today.rules));
  return { ...judgement, note: outOfBudget(`${bench.seconds} seconds`, bench.today.rules) };
}

async function judgedAgain<Value>(
  { differs }: FrozenBench,
  at: Place,
  { by, model, promptHash, usage, note, value }: RecordedReply,
  again: () => Promise<Judgement<Value>>,
): Promise<Judgement<Value>> {
  const now = (await again()).value;
  const fields = fieldsThatDiffer(value, now);
  if (fields.length > 0) differs({ what: 'rule', at, fields });
  return { value: now, by, model, promptHash, usage: plain(usage), note };
}

async function fromRecording<Value>(
  { today, differs }: FrozenBench,
  at: Place,
  { value, by, model, promptHash, shown, usage, note }: RecordedReply,
  { input, schema, ask }: Question<Value>,
): Promise<Judgement<Value>> {
  // No prompt: nothing was asked, since there was nothing to choose from.
  const prompt = promptHash === null ? null : today.promptHash(at.name, input);
  if (prompt !== promptHash) differs({ what: 'prompt', at, before: promptHash, after: prompt });
  else if (shown !== null) {
    const now = await today.shown(ask);
    if (now !== null && now !== shown) differs({ what: 'shown', at, before: shown, after: now });
  }
  const read = schema.safeParse(value);
  if (!read.success) {
    differs({ what: 'judgement-unreadable', at, why: read.error.issues[0]?.message ?? 'not understood' });
    throw new CarriedNoFurther(at);
  }
  return { value: read.data, by, model, promptHash, usage: plain(usage), note };
}

/** Without what is undefined: an absent count is not there. */
function plain({ cachedInputTokens, retries, ...usage }: RecordedReply['usage']): Judgement<unknown>['usage'] {
  return {
    ...usage,
    ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }),
    ...(retries === undefined ? {} : { retries }),
  };
}
