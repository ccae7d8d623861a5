import { z } from 'zod';
import { describeExhaustedBudget } from '../../../graphs/triage/ask-analyst.ts';
import { Answer, Classification } from '../../domain/analysis.ts';
import { TriageError } from '../../domain/errors.ts';
import { ToolCall } from '../../domain/evidence.ts';
import type {
  JudgmentName,
  RecordedCall,
  RecordedJudgment,
  RecordedReply,
  Recording,
} from '../../domain/recording.ts';
import { type Analyst, Assessment, type Judgment, Plan } from '../../ports/analyst.ts';
import { readPlace } from '../../service/triage/recording/recorder.ts';
import {
  computeFieldHashes,
  getCallKey,
  getJudgmentKey,
  type HashSubject,
  toCanonicalJson,
} from '../../service/triage/recording/recording-lines.ts';
import type { Today } from '../../service/triage/recording/today.ts';

/** The error that is thrown when the recording ends but a model would have to be asked. */
export class CarriedNoFurther extends Error {
  readonly at: Place;

  constructor(at: Place) {
    super(`The recording has no ${at.name} in round ${at.round}`);
    this.at = at;
  }
}

interface FrozenBench {
  readonly book: RecordingBook;
  readonly today: Today;
  readonly hashSubject: HashSubject;
  readonly differs: (difference: Difference) => void;
  /** True if the recorded analyst is "rules". Then it can also make judgments that were not recorded. */
  readonly byRules: boolean;
  /** The time limit of the run in seconds, which is named if the run exceeded it. */
  readonly seconds: number | null;
}

/**
 * Creates an analyst that judges as recorded. Judgments by rules are made again by today's rules and
 * compared. Judgments by a model are answered from the recording, and what the model would be asked today is
 * compared. Throws {@link CarriedNoFurther}.
 */
export function createFrozenAnalyst(name: string, role: Place['role'], bench: FrozenBench): Analyst {
  const { rules, insteadOfModel } = bench.today;
  // Rules within a model's analyst differ slightly from those that judge alone: see `withFallback`.
  const again = role === 'spare' || bench.byRules ? rules : insteadOfModel;
  const judge = <Value>(
    name: JudgmentName,
    schema: z.ZodType<Value>,
    input: object,
    ask: Ask<Value>,
    signal: AbortSignal,
  ) => {
    signal.throwIfAborted();
    return judgeFrozen(bench, { name, role, ...readPlace(input) }, { input, schema, ask, again });
  };
  const { classify, plan, chooseTools, correctCall, answer, verify } = JUDGMENT_VALUES;
  return {
    name,
    converse: rules.converse,
    classify: (input, signal) =>
      judge('classify', classify, input, (who) => who.classify(input, signal), signal),
    plan: (input, signal) => judge('plan', plan, input, (who) => who.plan(input, signal), signal),
    chooseTools: (input, signal) =>
      judge('chooseTools', chooseTools, input, (who) => who.chooseTools(input, signal), signal),
    correctCall: (input, signal) =>
      judge('correctCall', correctCall, input, (who) => who.correctCall(input, signal), signal),
    answer: (input, signal) => judge('answer', answer, input, (who) => who.answer(input, signal), signal),
    verify: (input, signal) => judge('verify', verify, input, (who) => who.verify(input, signal), signal),
  };
}

type Ask<Value> = (analyst: Analyst) => Promise<Judgment<Value>>;

interface FrozenRequest<Value> {
  readonly input: object;
  readonly schema: z.ZodType<Value>;
  readonly ask: Ask<Value>;
  /** The rules that repeat recorded judgments of rules. */
  readonly again: Analyst;
}

async function judgeFrozen<Value>(
  bench: FrozenBench,
  at: Place,
  question: FrozenRequest<Value>,
): Promise<Judgment<Value>> {
  const { ask, again } = question;
  const fields = computeFieldHashes(question.input, bench.hashSubject);
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
  if (recorded.reply.by === 'rules') return await judgeAgain(bench, at, recorded.reply, () => ask(again));
  return await fromRecording(bench, at, recorded.reply, question);
}

/**
 * Returns the judgment for a run whose time ended during the recorded one. The fallback analyst judged then,
 * so it judges again.
 */
async function cutOff<Value>(
  bench: FrozenBench,
  at: Place,
  { failed }: RecordedJudgment,
  { ask }: FrozenRequest<Value>,
): Promise<Judgment<Value>> {
  const spare = bench.book.judgement({ ...at, role: 'spare' }, {});
  if (spare?.reply == null)
    throw new TriageError('internal', `The recorded run failed in ${at.name}: ${failed ?? 'cut off'}`);
  const judgment = await judgeAgain(bench, { ...at, role: 'spare' }, spare.reply, () =>
    ask(bench.today.rules),
  );
  return { ...judgment, note: describeExhaustedBudget(`${bench.seconds} seconds`, bench.today.rules) };
}

async function judgeAgain<Value>(
  { differs }: FrozenBench,
  at: Place,
  { by, model, promptHash, usage, note, value }: RecordedReply,
  again: () => Promise<Judgment<Value>>,
): Promise<Judgment<Value>> {
  const now = (await again()).value;
  const fields = listDifferingFields(value, now);
  if (fields.length > 0) differs({ what: 'rule', at, fields });
  return { value: now, by, model, promptHash, usage, note };
}

async function fromRecording<Value>(
  { today, differs }: FrozenBench,
  at: Place,
  { value, by, model, promptHash, shown, usage, note }: RecordedReply,
  { input, schema, ask }: FrozenRequest<Value>,
): Promise<Judgment<Value>> {
  // Without a prompt nothing was asked, because there was nothing to choose from.
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
  return { value: read.data, by, model, promptHash, usage, note };
}

const JUDGMENT_VALUES = {
  classify: Classification,
  plan: Plan,
  chooseTools: z.array(ToolCall),
  correctCall: ToolCall.nullable(),
  answer: Answer,
  verify: Assessment,
};

/** Opens a recording for lookups. Each entry is returned only once. */
export function openBook(recording: Recording) {
  const exact = listQueues(recording.judgements, getJudgmentKey);
  const placed = listQueues(recording.judgements, placeKey);
  const calls = listQueues(recording.calls, ({ call }) => getCallKey(call));
  const tools = listQueues(recording.tools, ({ category }) => category);
  const given = new Set<RecordedJudgment>();
  const next = (queue: RecordedJudgment[] | undefined) => {
    for (let recorded = queue?.shift(); recorded !== undefined; recorded = queue?.shift()) {
      if (given.has(recorded)) continue;
      given.add(recorded);
      return recorded;
    }
    return null;
  };
  return {
    /**
     * Returns the judgment at this place with this input, or else the next one at this place. Returns null if
     * none is left.
     */
    judgement: (place: Place, fields: Readonly<Record<string, string>>): RecordedJudgment | null => {
      const wanted = { ...place, fields: { ...fields }, at: 0, milliseconds: 0, reply: null, failed: null };
      return next(exact.get(getJudgmentKey(wanted))) ?? next(placed.get(placeKey(wanted)));
    },
    call: (call: ToolCall): RecordedCall | null => calls.get(getCallKey(call))?.shift() ?? null,
    /**
     * Returns the names of the available tools for a failure of the category, and of all existing tools.
     * Returns null if none were recorded.
     */
    tools: (category: string) => {
      // The last entry remains valid.
      const recordedTools = tools.get(category) ?? [];
      return (recordedTools.length > 1 ? recordedTools.shift() : recordedTools[0]) ?? null;
    },
    /** Every tool that was available at some time, for any category. */
    everAskable: new Set(recording.tools.flatMap(({ askable }) => askable)),
  };
}

export type RecordingBook = ReturnType<typeof openBook>;

function placeKey({ role, name, round, investigator }: Place): string {
  return JSON.stringify([role, name, round, investigator]);
}

function listQueues<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const map = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const queue = map.get(key);
    if (queue === undefined) map.set(key, [item]);
    else queue.push(item);
  }
  return map;
}

/**
 * A place at which two values differ, with both values as shortened canonical JSON. Null if there was no
 * value.
 */
interface FieldDifference {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

interface Place {
  readonly name: JudgmentName;
  readonly role: 'analyst' | 'spare';
  readonly round: number;
  readonly investigator: string | null;
}

/** A difference between a recorded run and a run of today's code. */
export type Difference =
  | { readonly what: 'limits'; readonly fields: readonly FieldDifference[] }
  | { readonly what: 'analyst'; readonly before: string; readonly after: string }
  /** The input of the analyst differs. `parts` names the differing parts. */
  | { readonly what: 'input'; readonly at: Place; readonly parts: readonly string[] }
  | {
      readonly what: 'prompt';
      readonly at: Place;
      readonly before: string | null;
      readonly after: string | null;
    }
  /** The prompt file is the same, but the values in it or the schema of the reply differ. */
  | { readonly what: 'shown'; readonly at: Place; readonly before: string; readonly after: string }
  | { readonly what: 'model'; readonly before: string | null; readonly after: string }
  | { readonly what: 'rule'; readonly at: Place; readonly fields: readonly FieldDifference[] }
  | { readonly what: 'judgement-not-recorded'; readonly at: Place }
  | { readonly what: 'judgement-unreadable'; readonly at: Place; readonly why: string }
  | { readonly what: 'call-not-recorded'; readonly tool: string; readonly args: string }
  | {
      readonly what: 'tools';
      readonly category: string;
      readonly gone: readonly string[];
      readonly added: readonly string[];
    }
  | { readonly what: 'analysis'; readonly fields: readonly FieldDifference[] };

const MAX_FIELDS = 20;
const MAX_CHARS = 160;

/** Finds where two values differ, in the order of the keys of the first one, at most 20 places. */
export function listDifferingFields(before: unknown, after: unknown): FieldDifference[] {
  const found: FieldDifference[] = [];
  compare(before, after, '', found);
  return found;
}

function compare(before: unknown, after: unknown, path: string, found: FieldDifference[]): void {
  if (found.length >= MAX_FIELDS || toCanonicalJson(before) === toCanonicalJson(after)) return;
  if (isObject(before) && isObject(after) && Array.isArray(before) === Array.isArray(after)) {
    const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
    for (const key of new Set([...old.keys(), ...now.keys()]))
      compare(old.get(key), now.get(key), join(path, key, Array.isArray(before)), found);
    return;
  }
  found.push({ path: path || 'value', before: findShown(before), after: findShown(after) });
}

function join(path: string, key: string, isArray: boolean): string {
  if (isArray) return `${path}[${key}]`;
  return path === '' ? key : `${path}.${key}`;
}

function findShown(value: unknown): string | null {
  if (value === undefined) return null;
  const text = toCanonicalJson(value);
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS).toWellFormed()}…`;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

const NODES = {
  classify: 'classify',
  plan: 'reason',
  chooseTools: 'select_tool',
  correctCall: 'the correction of a call',
  answer: 'generate_answer',
  verify: 'verify',
} as const;
const SHOWN_FIELDS = 3;

/** Describes a difference in one line for people. It quotes recorded text, which is untrusted. */
export function describeDifference(difference: Difference): string {
  return formatSentence(difference).replace(/\s+/g, ' ');
}

function formatSentence(difference: Difference): string {
  switch (difference.what) {
    case 'limits':
      return `the limits of the run differ: ${formatFields(difference.fields)}`;
    case 'analyst':
      return `a different analyst is configured: ${difference.before} → ${difference.after}`;
    case 'input':
      return `${placeText(difference.at)} receives different input: ${difference.parts.join(', ')}`;
    case 'prompt':
      return (
        `${placeText(difference.at)} has a different prompt: ${difference.before ?? 'none'} ` +
        `→ ${difference.after ?? 'none'}`
      );
    case 'shown':
      return (
        `${placeText(difference.at)} shows the model different input with the same ` +
        `prompt: ${difference.before} → ${difference.after}`
      );
    case 'model':
      return `a different model is configured: ${difference.before ?? 'none'} → ${difference.after}`;
    case 'rule': {
      const fields = formatFields(difference.fields);
      return `the rules decide differently in ${placeText(difference.at)}: ${fields}`;
    }
    case 'judgement-not-recorded':
      return `${placeText(difference.at)} is called, but was not when recorded`;
    case 'judgement-unreadable':
      return `${placeText(difference.at)} has a recorded answer that cannot be read: ${difference.why}`;
    case 'call-not-recorded':
      return `${difference.tool} is called, but was not when recorded: ${difference.args}`;
    case 'tools':
      return `the tools for ${difference.category} differ: ${formatToolsText(difference)}`;
    case 'analysis':
      return `the answer differs: ${formatFields(difference.fields)}`;
  }
}

function placeText({ name, role, round, investigator }: Place): string {
  const who = [
    ...(role === 'spare' ? ['the fallback analyst'] : []),
    ...(investigator === null ? [] : [`investigator ${investigator}`]),
  ];
  return `${NODES[name]}${round === 0 ? '' : ` of round ${round}`}${who.length === 0 ? '' : ` (${who.join(', ')})`}`;
}

function formatFields(fields: readonly FieldDifference[]): string {
  const list = fields
    .slice(0, SHOWN_FIELDS)
    .map(({ path, before, after }) => `${path} ${before ?? 'absent'} → ${after ?? 'absent'}`);
  const more = fields.length > SHOWN_FIELDS ? `; and ${fields.length - SHOWN_FIELDS} more` : '';
  return `${list.join('; ')}${more}`;
}

function formatToolsText({ gone, added }: Extract<Difference, { what: 'tools' }>): string {
  return [
    ...(gone.length === 0 ? [] : [`${gone.join(', ')} gone`]),
    ...(added.length === 0 ? [] : [`${added.join(', ')} new`]),
  ].join('; ');
}
