import { z } from 'zod';
import { isNotDevelopersFault } from '../domain/analysis.ts';
import type { Category } from '../domain/category.ts';
import type { ToolCall } from '../domain/evidence.ts';
import type { TriageSubject } from '../domain/triage.ts';
import type { Insight, Plan } from '../ports/analyst.ts';
import type { ToolDescription } from '../ports/toolbox.ts';
import { ruleOn } from './classify.ts';
import { placesOf } from './places.ts';
import { retrievalScore } from './retrieved.ts';
import { argumentsFor } from './tool-arguments.ts';
import { causeConfidence } from './verify.ts';

/** Retrieval from here on makes the costlier tools needless. */
const GOOD_RETRIEVAL = 0.75;
/** From the second iteration on, less than this calls for more. */
const UNSURE = 0.6;
const MOST_AT_ONCE = 3;

/** "When needed" tools per category, most telling first (DESIGN §6). */
const WHEN_NEEDED: Readonly<Record<Category, readonly string[]>> = {
  CODE_ERROR: [
    'read_file',
    'read_blame',
    'changed_since_green',
    'read_past_fixes',
    'search_code',
    'read_commit_history',
    'search_semantic',
  ],
  INFRA_ERROR: ['count_consecutive_failures', 'read_build_log', 'read_console_output'],
  CONFIG_ERROR: ['read_console_output', 'read_failure_history', 'read_file', 'changed_since_green'],
  DEPENDENCY_ERROR: ['read_console_output', 'find_similar_failures', 'read_failure_history', 'read_file', 'changed_since_green'],
  TEST_FAILURE: ['read_test_file', 'read_failure_history', 'changed_since_green', 'read_past_fixes'],
};

/** What the code is asked first where the log does not explain the failure, beside what changed. */
const FIRST_OF_CODE = ['read_file', 'read_blame'];

/** Allowed for any category, asked last. What is new since a green build is in the excerpts already. */
const ANY_CATEGORY = ['find_similar_failures', 'read_failure_history', 'count_consecutive_failures'];

/** The independent questions of this round: first the tools that always run, then what the category's table allows. */
export function chooseCalls(given: Insight & { plan: Plan; offered: readonly ToolDescription[] }): ToolCall[] {
  const offered = given.offered.filter(({ categories }) => categories.includes(given.classification.category));
  const input = { ...given, offered };
  // Its turn has come: nothing but the last resort is offered.
  if (offered.length > 0 && offered.every(({ fallback }) => fallback))
    return offered.flatMap((tool) => freshCall(input, tool, 'what is known does not support an answer') ?? []);
  const always = input.offered.filter((tool) => tool.always && !wasAsked(input, tool.name));
  const first = always.flatMap((tool) => freshCall(input, tool, 'always used') ?? []);
  if (first.length > 0) return [...first, ...seenBefore(input), ...codeCalls(input), ...inARow(input)];
  if (input.plan.enough || !isNeeded(input)) return [];
  const wanted = [...WHEN_NEEDED[input.classification.category], ...ANY_CATEGORY];
  const calls = callsFor(input, [...new Set(wanted)]);
  return calls.length > 0 ? calls.slice(0, MOST_AT_ONCE) : lastResort(input);
}

/** Whether others had the very same failure is the first thing a person asks; it costs a look into our own database. */
function seenBefore(input: Insight & { plan: Plan; offered: readonly ToolDescription[] }): ToolCall[] {
  const { generic, build } = input.subject;
  const tool = input.offered.find(({ name }) => name === 'read_failure_history');
  return generic || build.branch === null || tool === undefined
    ? []
    : [freshCall(input, tool, 'others may have seen this failure') ?? []].flat();
}

/** Whether the machine, or luck, failed once or every time: what decides if running it again may help. */
function inARow(input: Insight & { plan: Plan; offered: readonly ToolDescription[] }): ToolCall[] {
  return isNotDevelopersFault(input.classification) ? callsFor(input, ['count_consecutive_failures']) : [];
}

/**
 * What is asked of the code beside the first look-ups, so that it costs no round of its own: what changed, which whoever looks at a failure
 * asks first. A compiler that names file and line has said what is wrong; where none did, the code of a code error tells more than the log.
 */
function codeCalls(input: Insight & { plan: Plan; offered: readonly ToolDescription[] }): ToolCall[] {
  const { subject, classification } = input;
  const isLocated = subject.diagnostics.some(({ severity, file, line }) => severity === 'error' && file !== null && line !== null);
  const first = classification.category === 'CODE_ERROR' && !isLocated ? FIRST_OF_CODE : [];
  return callsFor(input, [...first, 'changed_since_green']);
}

/** The table's conditions: weak retrieval, an error that names file and line, or a second iteration that is still unsure. */
function isNeeded({ plan, round, subject }: Pick<Insight, 'round' | 'subject'> & { plan: Plan }): boolean {
  const located = argumentsFor('read_blame', subject) !== null;
  return plan.retrieval < GOOD_RETRIEVAL || located || (round >= 2 && plan.confidence < UNSURE);
}

function callsFor(input: Insight & { plan: Plan; offered: readonly ToolDescription[] }, names: readonly string[]): ToolCall[] {
  return names.flatMap((name) => {
    const tool = input.offered.find((offered) => offered.name === name && !offered.fallback);
    return tool === undefined
      ? []
      : (freshCall(
          input,
          tool,
          `${input.plan.retrieval < GOOD_RETRIEVAL ? 'little is known about this failure' : 'the error names a place'}`,
        ) ?? []);
  });
}

/** Fallback tools only when everything else was tried and nothing helped. */
function lastResort(input: Insight & { plan: Plan; offered: readonly ToolDescription[] }): ToolCall[] {
  const helped = input.outcomes.some((outcome) => outcome.status === 'ok' && outcome.findings.length > 0);
  if (helped) return [];
  return input.offered.filter((tool) => tool.fallback).flatMap((tool) => freshCall(input, tool, 'everything else found nothing') ?? []);
}

function freshCall(input: Insight & { plan: Plan }, tool: ToolDescription, why: string): ToolCall | null {
  const args = argumentsFor(tool.name, input.subject, input.classification.category);
  if (args === null) return null;
  const call = { tool: tool.name, args: fitting(args, tool), why };
  const key = keyOf(call);
  return input.outcomes.some((outcome) => keyOf(outcome.call) === key) ? null : call;
}

function wasAsked(input: Insight, tool: string): boolean {
  return input.outcomes.some((outcome) => outcome.call.tool === tool);
}

/** Keeps only the arguments that the tool's own schema knows. */
function fitting(args: Readonly<Record<string, unknown>>, tool: ToolDescription): Record<string, unknown> {
  const { properties } = tool.parameters;
  if (typeof properties !== 'object' || properties === null) return { ...args };
  return Object.fromEntries(Object.entries(args).filter(([name]) => name in properties));
}

function keyOf(call: ToolCall): string {
  const sorted = Object.entries(call.args).sort(([left], [right]) => (left < right ? -1 : 1));
  return `${call.tool} ${JSON.stringify(sorted)}`;
}

/** From here on a cause counts as named. */
const ENOUGH = 0.65;
/** The graph stops at 0.9; before the first look-up nothing may be that sure. */
const BEFORE_LOOKUP_MOST = 0.89;

/** What is known, what is missing, and whether the cause can be named now. */
export function planNext(insight: Insight): Plan {
  const { subject, classification, evidence, outcomes, gaps } = insight;
  const ruling = ruleOn(subject);
  const lookedUp = outcomes.length > 0;
  const sure = causeConfidence(classification, evidence);
  const confidence = lookedUp ? sure : Math.min(sure, BEFORE_LOOKUP_MOST);
  const named = ruling.decisive !== null && !classification.abstained;
  const enough = lookedUp && named && confidence >= ENOUGH && gaps.length === 0;
  return { thought: thoughtOf(insight, enough), confidence, enough, retrieval: retrievalScore(evidence) };
}

function thoughtOf({ subject, classification, outcomes, gaps }: Insight, enough: boolean): string {
  const kind = classification.kind.replaceAll('_', ' ');
  const place = placesOf(subject)[0];
  const where = place === undefined ? '' : ` around ${place.path}${place.line === null ? '' : `:${place.line}`}`;
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
const Parameters = z.looseObject({ properties: z.record(z.string(), Property).default({}), required: z.array(z.string()).default([]) });

/** Mends arguments that are of the wrong type, out of bounds, unknown or missing; null where that makes no difference. */
export function mendCall(call: ToolCall, tool: ToolDescription, subject: TriageSubject): ToolCall | null {
  const schema = Parameters.safeParse(tool.parameters);
  if (!schema.success) return null;
  const { properties, required } = schema.data;
  const known = argumentsFor(tool.name, subject) ?? {};
  const args: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    const given = call.args[name] ?? (required.includes(name) ? known[name] : undefined);
    const value = given === undefined || given === null ? undefined : fitValue(given, property);
    if (value !== undefined) args[name] = value;
    else if (required.includes(name)) {
      const fallback = known[name];
      if (fallback === undefined) return null;
      args[name] = fallback;
    }
  }
  orderLines(args);
  return JSON.stringify(sorted(args)) === JSON.stringify(sorted(call.args)) ? null : { ...call, args };
}

function fitValue(value: unknown, property: z.infer<typeof Property>): unknown {
  if (property.type === 'integer' || property.type === 'number') {
    const number = typeof value === 'number' ? value : Number(typeof value === 'string' ? value.trim() : Number.NaN);
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

function sorted(args: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(args).sort(([left], [right]) => (left < right ? -1 : 1));
}
