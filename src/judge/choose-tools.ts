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

/** Retrieval from here on makes the costlier tools needless. */
const GOOD_RETRIEVAL = 0.75;
/** Confidence below which more calls are made, from the second iteration on. */
const UNSURE = 0.6;
const MOST_AT_ONCE = 3;

/** Tools of the first round in addition to those that it always has: the most informative. */
const FIRST = 2;

/** Tools that read the code first, in addition to the changes, if the log does not explain the failure. */
const FIRST_OF_CODE = ['read_blame', 'read_file'];

interface Choice extends Insight {
  readonly plan: Plan;
  readonly offered: readonly ToolDescription[];
  readonly clues: Clues;
}

/**
 * Chooses the independent calls of this round: first the tools that always run, then those that the
 * category's table allows.
 */
export function chooseCalls(given: Omit<Choice, 'clues'>): ToolCall[] {
  const offered = given.offered.filter(({ categories }) =>
    categories.includes(given.classification.category),
  );
  const clues = readClues(given.subject, given.classification.category);
  const input = { ...given, offered, clues };
  // Only fallback tools are offered, so the last resort is used now.
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
    // As long as the code waits, nothing that costs more than a look-up is asked.
    return first.concat(sortByWorth(input, isTurnOfCode ? addMostInformative(input, more) : more));
  }
  if (input.plan.enough || (input.gaps.length === 0 && !isNeeded(input))) return [];
  const calls = sortByWorth(input, listCalls(input, listByWorth(input)));
  return calls.length > 0 ? calls.slice(0, MOST_AT_ONCE) : chooseLastResort(input);
}

/**
 * Lists the tools that may be asked for this failure, the most informative first. Who wrote the failing line
 * tells more than the line. What lasts, or hits other repositories too, tells of a machine or service more
 * than its log. If the error is that a name is not known, the search for what defines it comes before all.
 */
function listByWorth({ classification, offered, clues }: Choice): string[] {
  const places = offered.flatMap(({ name, serves }) => {
    const place = serves?.[classification.category] ?? null;
    return place === null ? [] : [{ name, place }];
  });
  const worth = places.sort((left, right) => left.place - right.place).map(({ name }) => name);
  return [...new Set(namesUnknown(clues) ? ['search_code'].concat(worth) : worth)];
}

/** Puts calls into the order in which they tell most about this failure. */
function sortByWorth(input: Choice, calls: readonly ToolCall[]): ToolCall[] {
  const worth = listByWorth(input);
  const rank = ({ tool }: ToolCall) => {
    const outlook = input.offered.find(({ name }) => name === tool)?.outlook;
    const place = worth.indexOf(tool);
    return (place === -1 ? worth.length : place) + OUTLOOKS[outlook ?? 'unknown'];
  };
  return calls.toSorted((left, right) => rank(left) - rank(right));
}

/** More than the number of tools, so that the outlook decides first. */
const OUTLOOKS = { good: -100, unknown: 0, poor: 100 } as const;

/** Adds the most informative calls that can be made and are not among those chosen. */
function addMostInformative(input: Choice, chosen: readonly ToolCall[]): ToolCall[] {
  const names = new Set(chosen.map(({ tool }) => tool));
  const possible = listCalls(input, listByWorth(input), 'tells most about such a failure');
  const best = sortByWorth(input, possible).slice(0, FIRST);
  return chosen.concat(best.filter(({ tool }) => !names.has(tool)));
}

/**
 * Returns the call that checks whether others had the same failure. This is the first thing a person asks,
 * and it costs only a query of our own database.
 */
function chooseSeenBefore(input: Choice): ToolCall[] {
  const { generic, build, failingTests } = input.subject;
  // A test is known by its name, also if its message is no identity.
  return (generic && failingTests.length === 0) || build.branch === null
    ? []
    : listCalls(input, ['read_failure_history'], 'others may have seen this failure');
}

/** The tool that runs for every failure with code, and finds where the others read. */
const FIND_FILES = 'find_files';
const CHANGES = 'changed_since_green';

/**
 * Checks whether it is the turn of the code. For a code error, what is known is asked first: the code is read
 * at once only if the error has a line of the project. After a round it is read if nothing retrieved explains
 * the error, if the cause is unsure, or if it is known what changed since it worked: a document explains such
 * errors, but not who brought this one.
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
 * Returns the calls about the code that are made with the first lookups, so that they do not cost a separate
 * round: what changed, because this is what a reviewer asks first. A compiler that names file and line has
 * stated what is wrong. If none did, the code of a code error explains more than the log.
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
 * Checks the conditions of the table: weak retrieval, an error that names file and line, or a second
 * iteration that is still unsure.
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

/** Returns calls of fallback tools only if everything else was tried and nothing helped. */
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

/** Keeps only the arguments that the tool's own schema knows. */
export function keepKnownArguments(
  args: Readonly<Record<string, unknown>>,
  tool: ToolDescription,
): Record<string, unknown> {
  const { properties } = tool.parameters;
  if (typeof properties !== 'object' || properties === null) return { ...args };
  return Object.fromEntries(Object.entries(args).filter(([name]) => name in properties));
}

/** Minimum confidence at which a cause counts as named. */
const ENOUGH = 0.65;
/** The graph stops at 0.9; before the first look-up nothing may be that sure. */
const BEFORE_LOOKUP_MOST = 0.89;

/** Plans the next round: what is known, what is missing, and whether the cause can be named now. */
export function planNext(insight: Insight & { readonly offered?: readonly ToolDescription[] }): Plan {
  const { subject, classification, evidence, outcomes, gaps, offered = [] } = insight;
  const ruling = classifyByRules(subject);
  const lookedUp = outcomes.length > 0;
  const sure = computeCauseConfidence(subject, classification, evidence);
  const named = ruling.decisive !== null && !classification.abstained;
  const isOffered = offered.some(({ name }) => name === FIND_FILES);
  const isUnread = isOffered && !outcomes.some(({ call }) => call.tool === FIND_FILES);
  const lacksCode = isUnread && wantsCode(insight, sure, offered);
  // A confidence of 0.9 ends the loop, but the code is still to be read.
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
 * Corrects arguments that are of the wrong type, out of bounds, unknown, or missing. Returns null if that
 * makes no difference.
 */
export function mendCall(call: ToolCall, tool: ToolDescription, subject: TriageSubject): ToolCall | null {
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
