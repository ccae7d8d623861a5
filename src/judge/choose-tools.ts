import { z } from 'zod';
import { getCallKey, type ToolCall } from '../domain/evidence.ts';
import type { TriageSubject } from '../domain/triage.ts';
import type { Insight, Plan } from '../ports/analyst.ts';
import type { Clues, ToolDescription } from '../ports/toolbox.ts';
import { classifyByRules } from './classify.ts';
import { hasLocated, namesUnknown, readClues } from './clues.ts';
import { computeRetrievalScore } from './evidence-facts.ts';
import { rankPlaces } from './places.ts';
import { computeCauseConfidence } from './verify.ts';

/** The retrieval score from which the more expensive tools are unnecessary. */
const GOOD_RETRIEVAL = 0.75;
/** The confidence below which more calls are made, from the second iteration on. */
const UNSURE = 0.6;
const MAX_AT_ONCE = 3;

/**
 * The maximum number of tools that are added to the fixed ones of the first round, most informative first.
 */
const FIRST = 2;

/**
 * The code tools that run first, in addition to the comparison of changes, if the log does not explain the
 * failure.
 */
const FIRST_OF_CODE = ['read_blame', 'read_file'];

interface Choice extends Insight {
  readonly plan: Plan;
  readonly offered: readonly ToolDescription[];
  readonly clues: Clues;
}

/**
 * Chooses the independent calls of this round: the tools that always run, then those that the category's
 * table allows.
 */
export function chooseCalls(given: Omit<Choice, 'clues'>): ToolCall[] {
  const offered = given.offered.filter(({ categories }) =>
    categories.includes(given.classification.category),
  );
  const clues = readClues(given.subject, given.classification.category);
  const input = { ...given, offered, clues };
  // If only fallback tools are available, they are used at once.
  if (offered.length > 0 && offered.every(({ fallback }) => fallback))
    return offered.flatMap(
      (tool) => createFreshCall(input, tool, 'what is known does not support an answer') ?? [],
    );
  const asked = new Set(input.outcomes.map(({ call }) => call.tool));
  const isTurnOfCode = wantsCode(input, input.plan.confidence, offered);
  const due = input.offered.filter((tool) => tool.always && !asked.has(tool.name));
  const always = due.filter(({ name }) => isTurnOfCode || name !== FIND_FILES);
  const first = always.flatMap((tool) => createFreshCall(input, tool, 'always used') ?? []);
  const code = isTurnOfCode ? listCodeCalls(input) : [];
  if (first.length > 0) {
    const more = chooseSeenBefore(input).concat(code);
    // While the code has not been read yet, nothing more expensive than a lookup is called.
    return first.concat(sortByWorth(input, isTurnOfCode ? addMostInformative(input, more) : more));
  }
  if (input.plan.enough || (input.gaps.length === 0 && !isNeeded(input))) return [];
  const calls = sortByWorth(input, listCalls(input, listByWorth(input)));
  return calls.length > 0 ? calls.slice(0, MAX_AT_ONCE) : chooseLastResort(input);
}

/**
 * Lists the available tools for this failure, most informative first. Blame of the failing line comes before
 * the line itself. If the failure persists or occurs in other repositories, history comes before the log,
 * because a machine or service is likely to blame. If a name is unknown, the search for its definition comes
 * first.
 */
function listByWorth({ classification, offered, clues }: Choice): string[] {
  const places = offered.flatMap(({ name, serves }) => {
    const place = serves?.[classification.category] ?? null;
    return place === null ? [] : [{ name, place }];
  });
  const worth = places.sort((left, right) => left.place - right.place).map(({ name }) => name);
  return [...new Set(namesUnknown(clues) ? ['search_code'].concat(worth) : worth)];
}

/** Sorts calls by how informative they are for this failure. */
function sortByWorth(input: Choice, calls: readonly ToolCall[]): ToolCall[] {
  const worth = listByWorth(input);
  const rank = ({ tool }: ToolCall) => {
    const outlook = input.offered.find(({ name }) => name === tool)?.outlook;
    const place = worth.indexOf(tool);
    return (place === -1 ? worth.length : place) + OUTLOOKS[outlook ?? 'unknown'];
  };
  return calls.toSorted((left, right) => rank(left) - rank(right));
}

/**
 * The offsets of a tool's outlook. They are larger than the number of tools, so the outlook takes precedence.
 */
const OUTLOOKS = { good: -100, unknown: 0, poor: 100 } as const;

/** Adds the most informative calls that are possible and not chosen yet. */
function addMostInformative(input: Choice, chosen: readonly ToolCall[]): ToolCall[] {
  const names = new Set(chosen.map(({ tool }) => tool));
  const possible = listCalls(input, listByWorth(input), 'tells most about such a failure');
  const best = sortByWorth(input, possible).slice(0, FIRST);
  return chosen.concat(best.filter(({ tool }) => !names.has(tool)));
}

/**
 * Returns the call that checks whether others had the same failure. People ask this first, and it only costs
 * a query of our own database.
 */
function chooseSeenBefore(input: Choice): ToolCall[] {
  const { generic, build, failingTests } = input.subject;
  // A failed test is identified by its name, even if its message is generic.
  return (generic && failingTests.length === 0) || build.branch === null
    ? []
    : listCalls(input, ['read_failure_history'], 'others may have seen this failure');
}

/** The tool that finds the files for the other code tools. It runs for every failure with code. */
const FIND_FILES = 'find_files';
const CHANGES = 'changed_since_green';

/**
 * Checks whether the code is read in this round. It always is, except for a code error that names no line of
 * the project. Then it is read only after the first round, and only if nothing retrieved explains the error,
 * if the confidence is low, or if the changes since the last passing build are known: a document explains an
 * error, but not who caused it.
 */
function wantsCode(
  { classification, subject, evidence, outcomes }: Insight,
  confidence: number,
  offered: readonly ToolDescription[],
): boolean {
  if (classification.category !== 'CODE_ERROR' || hasLocated(subject)) return true;
  const hasChanged = offered.some(({ name, outlook }) => name === CHANGES && outlook === 'good');
  const isExplained =
    computeRetrievalScore(evidence) >= GOOD_RETRIEVAL && confidence >= UNSURE && !hasChanged;
  return outcomes.length > 0 && !isExplained;
}

/**
 * Returns the code tools that run together with the first lookups, to save a round: the comparison of
 * changes, because reviewers ask for it first. If a compiler named file and line, the error is stated and
 * needs no more. Otherwise, the code of a code error explains more than the log, and is read, too.
 */
function listCodeCalls(input: Choice): ToolCall[] {
  const { subject, classification } = input;
  const isLocated = subject.diagnostics.some(
    ({ severity, file, line }) => severity === 'error' && file !== null && line !== null,
  );
  const first = classification.category === 'CODE_ERROR' && !isLocated ? FIRST_OF_CODE : [];
  return listCalls(input, [...first, 'changed_since_green']);
}

/**
 * Checks the table's conditions: a weak retrieval score, an error that names file and line, or a second
 * iteration with low confidence.
 */
function isNeeded({ plan, round, clues: { located } }: Choice): boolean {
  return plan.retrieval < GOOD_RETRIEVAL || located !== null || (round >= 2 && plan.confidence < UNSURE);
}

function listCalls(input: Choice, names: readonly string[], why?: string): ToolCall[] {
  const usual =
    input.plan.retrieval < GOOD_RETRIEVAL ? 'little is known about this failure' : 'the error names a place';
  const tools = names.flatMap(
    (name) => input.offered.find((offered) => offered.name === name && !offered.fallback) ?? [],
  );
  return tools.flatMap((tool) => createFreshCall(input, tool, why ?? usual) ?? []);
}

/** Returns calls of fallback tools, but only if everything else was tried without success. */
function chooseLastResort(input: Choice): ToolCall[] {
  const helped = input.outcomes.some((outcome) => outcome.status === 'ok' && outcome.findings.length > 0);
  if (helped) return [];
  return input.offered
    .filter((tool) => tool.fallback)
    .flatMap((tool) => createFreshCall(input, tool, 'everything else found nothing') ?? []);
}

function createFreshCall(input: Choice, tool: ToolDescription, why: string): ToolCall | null {
  const args = tool.argumentsFrom?.(input.clues) ?? null;
  if (args === null) return null;
  const call = { tool: tool.name, args: keepKnownArguments(args, tool), why };
  const made = input.outcomes.filter(({ status }) => status !== 'refused');
  return made.some((outcome) => getCallKey(outcome.call) === getCallKey(call)) ? null : call;
}

/** Keeps only the arguments that the tool's schema defines. */
export function keepKnownArguments(
  args: Readonly<Record<string, unknown>>,
  tool: ToolDescription,
): Record<string, unknown> {
  const { properties } = tool.parameters;
  if (typeof properties !== 'object' || properties === null) return { ...args };
  return Object.fromEntries(Object.entries(args).filter(([name]) => name in properties));
}

/** The minimum confidence at which a cause counts as named. */
const ENOUGH = 0.65;
/** The maximum confidence before the first lookup. It is below 0.9, at which the graph stops. */
const BEFORE_LOOKUP_MOST = 0.89;

/** Plans the next round: what is known, what is missing, and whether the cause can be named. */
export function planNext(insight: Insight & { readonly offered?: readonly ToolDescription[] }): Plan {
  const { subject, classification, evidence, outcomes, gaps, offered = [] } = insight;
  const ruling = classifyByRules(subject);
  const lookedUp = outcomes.length > 0;
  const sure = computeCauseConfidence(subject, classification, evidence);
  const named = ruling.decisive !== null && !classification.abstained;
  const isOffered = offered.some(({ name }) => name === FIND_FILES);
  const isUnread = isOffered && !outcomes.some(({ call }) => call.tool === FIND_FILES);
  const lacksCode = isUnread && wantsCode(insight, sure, offered);
  // A confidence of 0.9 would end the loop before the code is read.
  const confidence = lookedUp && !lacksCode ? sure : Math.min(sure, BEFORE_LOOKUP_MOST);
  const enough = lookedUp && named && confidence >= ENOUGH && gaps.length === 0 && !lacksCode;
  return {
    thought: describePlan(insight, enough),
    confidence,
    enough,
    retrieval: computeRetrievalScore(evidence),
  };
}

function describePlan({ subject, classification, outcomes, gaps }: Insight, enough: boolean): string {
  const kind = classification.kind.replaceAll('_', ' ');
  const place = rankPlaces(subject)[0];
  const where =
    place === undefined ? '' : ` around ${place.path}${place.line === null ? '' : `:${place.line}`}`;
  const known = classification.abstained
    ? `The failing step reveals too little; ${classification.category} is only the best guess.`
    : `This looks like ${kind}${where} (${classification.because}).`;
  if (enough) return `${known} This is enough to name the cause.`;
  if (outcomes.length === 0) return `${known} First, check what is already known.`;
  if (gaps.length > 0) return `${known} Still missing: ${gaps[0]}`;
  return `${known} More evidence is needed.`;
}

const Property = z.looseObject({
  type: z.string().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  maxLength: z.number().optional(),
});
const Parameters = z.looseObject({
  properties: z.record(z.string(), Property).default({}),
  required: z.array(z.string()).default([]),
});

/**
 * Corrects arguments of the wrong type, out of bounds, unknown, or missing. Returns null if nothing changes.
 */
export function correctCall(call: ToolCall, tool: ToolDescription, subject: TriageSubject): ToolCall | null {
  const schema = Parameters.safeParse(tool.parameters);
  if (!schema.success) return null;
  const { properties, required } = schema.data;
  const known = tool.argumentsFrom?.(readClues(subject)) ?? {};
  const args: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    const fallback = required.includes(name) ? known[name] : undefined;
    const given = call.args[name] ?? fallback;
    const value = (given == null ? undefined : fitValue(given, property)) ?? fallback;
    if (value !== undefined) args[name] = value;
    else if (required.includes(name)) return null;
  }
  orderLines(args);
  return getCallKey({ ...call, args }) === getCallKey(call) ? null : { ...call, args };
}

function fitValue(value: unknown, property: z.infer<typeof Property>): unknown {
  if (property.type === 'integer' || property.type === 'number') {
    const number =
      typeof value === 'number' ? value : Number(typeof value === 'string' ? value.trim() : Number.NaN);
    if (!Number.isFinite(number)) return undefined;
    const bounded = Math.min(property.maximum ?? number, Math.max(property.minimum ?? number, number));
    return property.type === 'integer' ? Math.round(bounded) : bounded;
  }
  if (property.type === 'string') {
    if (typeof value === 'object') return undefined;
    const text = String(value);
    return property.maxLength === undefined ? text : text.slice(0, property.maxLength);
  }
  return value;
}

function orderLines(args: Record<string, unknown>): void {
  const { lineStart, lineEnd } = args;
  if (typeof lineStart === 'number' && typeof lineEnd === 'number' && lineStart > lineEnd) {
    args.lineStart = lineEnd;
    args.lineEnd = lineStart;
  }
}
