import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { z } from 'zod';
import type { Analysis, Step } from '../../../domain/analysis.ts';
import { TriageError } from '../../../domain/errors.ts';
import {
  RECORDING_SCHEMA,
  RecordedAnswer,
  RecordedCall,
  RecordedJudgment,
  RecordedMaker,
  RecordedTools,
  type Recording,
} from '../../../domain/recording.ts';
import { TriageSubject } from '../../../domain/triage.ts';
import { toStorable } from '../../../lib/text.ts';

/**
 * Returns the canonical JSON text of a value: keys are sorted, undefined values are omitted, and characters
 * that a database cannot store are replaced as the database would. Two values are equal exactly if these
 * texts are equal.
 */
export function toCanonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => toCanonicalJson(item ?? null)).join(',')}]`;
  if (typeof value === 'string') return JSON.stringify(toStorable(value));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  entries.sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(toStorable(key))}:${toCanonicalJson(item)}`).join(',')}}`;
}

/** Computes the SHA-256 of the canonical text, as 64 hex digits. */
export function computeFullHash(value: unknown): string {
  return createHash('sha256').update(toCanonicalJson(value)).digest('hex');
}

/** Returns the first 16 hex digits of the hash, which are enough to distinguish the inputs of one run. */
export function computeShortHash(value: unknown): string {
  return computeFullHash(value).slice(0, 16);
}

/** Returns the short hash of a value. It is cached, because the same value is hashed repeatedly. */
export type HashSubject = (value: object) => string;

/** Creates a function that caches the hash of the subject, which is part of every judgment of a run. */
export function createSubjectHash(): HashSubject {
  const known = new WeakMap<object, string>();
  return (value) => {
    const hash = known.get(value) ?? computeShortHash(value);
    known.set(value, hash);
    return hash;
  };
}

/** Computes a short hash of each part of a judgment's input, so that a difference can be located. */
export function computeFieldHashes(input: object, hashSubject: HashSubject): Record<string, string> {
  const parts = Object.entries(input).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    parts.map(([name, value]) => [name, isObject(value) ? hashSubject(value) : computeShortHash(value)]),
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

const compress = promisify(gzip);

/** The facts about a run that are known when a process starts or continues it. */
const RunHead = z.object({
  startedAt: z.iso.datetime(),
  madeBy: RecordedMaker,
  subject: TriageSubject,
  limits: z.record(z.string(), z.unknown()),
});
type RunHead = z.infer<typeof RunHead>;

/**
 * A line of an unfinished recording. `run` identifies the process's part of the run, because several
 * processes may have written lines.
 */
export const RecordingLine = z.discriminatedUnion('what', [
  z.object({ what: z.literal('begun'), run: z.string(), head: RunHead }),
  z.object({ what: z.literal('judged'), run: z.string(), judgement: RecordedJudgment }),
  z.object({ what: z.literal('called'), run: z.string(), call: RecordedCall }),
  z.object({ what: z.literal('offered'), run: z.string(), tools: RecordedTools }),
  z.object({ what: z.literal('answered'), run: z.string(), answer: RecordedAnswer }),
  z.object({ what: z.literal('capped'), run: z.string() }),
  z.object({ what: z.literal('ended'), run: z.string(), analysisId: z.string(), analysisHash: z.string() }),
]);
export type RecordingLine = z.infer<typeof RecordingLine>;

/** Compresses lines to one gzip member that can be appended to others. */
export async function packLines(lines: readonly RecordingLine[]): Promise<Uint8Array> {
  return await compress(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

/** The part of a run that one process recorded. */
interface Turn {
  head: RunHead | null;
  readonly judgements: RecordedJudgment[];
  readonly calls: RecordedCall[];
  readonly tools: Recording['tools'][number][];
  readonly answers: Recording['answers'][number][];
  capped: boolean;
  ended: { readonly id: string; readonly hash: string } | null;
}

/**
 * Joins the lines that one or more processes recorded of a run into one recording. The last result of a
 * repeated judgment or call counts. Lists the missing parts. Throws `invalid-input` if the beginning is
 * missing.
 */
export function joinLines(
  triageId: string,
  lines: Iterable<RecordingLine>,
  analysis: Analysis | null,
  capped = false,
): Recording {
  const turns = groupTurns(lines);
  // If two workers recorded the run, the one whose answer was stored takes precedence.
  turns.sort((left, right) => Number(isStored(left, analysis)) - Number(isStored(right, analysis)));
  const first = turns.find((turn) => turn.head !== null);
  if (first?.head == null)
    throw new TriageError('invalid-input', `The start of the recording of ${triageId} is missing.`);
  const { startedAt, madeBy, subject, limits } = first.head;
  const judgments = listLastHeard(
    turns.map((turn) => turn.judgements),
    getJudgmentKey,
  );
  const calls = listLastHeard(
    turns.map((turn) => turn.calls),
    (call) => getCallKey(call.call),
  );
  const stored = turns.find((turn) => isStored(turn, analysis));
  const missing = [
    ...(capped || turns.some((turn) => turn.capped) ? ['parts beyond the size limit of a recording'] : []),
    ...(analysis === null
      ? ['the answer: the run had not ended with one']
      : findMissing(analysis, judgments, calls)),
    ...(analysis !== null && stored?.ended != null && stored.ended.hash !== computeFullHash(analysis)
      ? ['the original answer of the run: the stored answer differs']
      : []),
  ];
  return {
    schema: RECORDING_SCHEMA,
    triageId,
    startedAt,
    madeBy,
    subject,
    limits,
    judgements: judgments,
    calls,
    tools: turns.flatMap((turn) => turn.tools),
    answers: turns.flatMap((turn) => turn.answers),
    analysis,
    complete: missing.length === 0,
    missing,
  };
}

/** Returns the key of a call. The reason for the call is not part of it. */
export function getCallKey({ tool, args }: { readonly tool: string; readonly args: object }): string {
  return `${tool} ${toCanonicalJson(args)}`;
}

/** Returns the key that identifies a judgment exactly. */
export function getJudgmentKey({ role, name, round, investigator, fields }: RecordedJudgment): string {
  return toCanonicalJson([role, name, round, investigator, fields]);
}

function groupTurns(lines: Iterable<RecordingLine>): Turn[] {
  const turns = new Map<string, Turn>();
  for (const line of lines) {
    const turn = turns.get(line.run) ?? {
      head: null,
      judgements: [],
      calls: [],
      tools: [],
      answers: [],
      capped: false,
      ended: null,
    };
    turns.set(line.run, turn);
    if (line.what === 'begun') turn.head = line.head;
    else if (line.what === 'judged') turn.judgements.push(line.judgement);
    else if (line.what === 'called') turn.calls.push(line.call);
    else if (line.what === 'offered') turn.tools.push(line.tools);
    else if (line.what === 'answered') turn.answers.push(line.answer);
    else if (line.what === 'capped') turn.capped = true;
    else turn.ended = { id: line.analysisId, hash: line.analysisHash };
  }
  return [...turns.values()];
}

function isStored(turn: Turn, analysis: Analysis | null): boolean {
  return analysis !== null && turn.ended?.id === analysis.id;
}

/** Returns all items in order, without those that a later part repeats. */
function listLastHeard<Item>(turns: readonly (readonly Item[])[], keyOf: (item: Item) => string): Item[] {
  const later = new Set<string>();
  const heard: Item[][] = [];
  for (const items of turns.toReversed()) {
    heard.push(items.filter((item) => !later.has(keyOf(item))));
    for (const item of items) later.add(keyOf(item));
  }
  return heard.reverse().flat();
}

/** Lists the judgments and calls that steps of the answer mention but the recording lacks. */
function findMissing(
  analysis: Analysis,
  judgments: readonly RecordedJudgment[],
  calls: readonly RecordedCall[],
): string[] {
  const known = new Set(
    judgments
      .filter(({ reply }) => reply !== null)
      .map(({ name, round, investigator }) => placeKey(name, round, investigator)),
  );
  const asked = new Set(calls.map(({ call }) => getCallKey(call)));
  const missing = analysis.steps.flatMap((step) => [
    ...(step.judgements ?? []).flatMap(({ name }) =>
      known.has(placeOfTrace(name, step)) ? [] : [`the judgement ${name} of ${placeText(step)}`],
    ),
    ...(step.outcomes ?? []).flatMap(({ call, status }) =>
      status === 'refused' || asked.has(getCallKey(call))
        ? []
        : [`the reply of ${call.tool} in ${placeText(step)}`],
    ),
  ]);
  return [...new Set(missing)];
}

/** The analyst's names of judgments by their names in a trace. */
const TRACED: Readonly<Record<string, RecordedJudgment['name']>> = {
  classify: 'classify',
  reason: 'plan',
  select_tool: 'chooseTools',
  correct_call: 'correctCall',
  generate_answer: 'answer',
  verify: 'verify',
};

/**
 * Returns the key of a traced judgment. The analyst gets round 1 before the first round, and no round for a
 * correction.
 */
function placeOfTrace(name: string, step: Step): string {
  const stage = TRACED[name] ?? 'classify';
  const round = stage === 'classify' || stage === 'correctCall' ? 0 : Math.max(1, step.round);
  return placeKey(stage, round, stage === 'correctCall' ? null : (step.investigator ?? null));
}

function placeKey(name: string, round: number, investigator: string | null): string {
  return `${name} ${round} ${investigator ?? ''}`;
}

function placeText({ node, round, investigator }: Step): string {
  return `${node}${investigator === undefined ? '' : ` (${investigator})`} in round ${round}`;
}
