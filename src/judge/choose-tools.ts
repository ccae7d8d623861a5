import { z } from 'zod';
import { isNotDevelopersFault } from '../domain/analysis.ts';
import type { Category } from '../domain/category.ts';
import { callKey, type ToolCall } from '../domain/evidence.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { NO_ERROR } from '../log/recognise/failures.ts';
import { classifyRole, type LineRole } from '../log/roles.ts';
import type { Insight, Plan } from '../ports/analyst.ts';
import type { ToolDescription } from '../ports/toolbox.ts';
import { ruleOn } from './classify.ts';
import { retrievalScore } from './evidence-facts.ts';
import { type Place, rankPlaces } from './places.ts';
import { causeConfidence } from './verify.ts';

/** Retrieval from here on makes the costlier tools needless. */
const GOOD_RETRIEVAL = 0.75;
/** Confidence below which more calls are made, from the second iteration on. */
const UNSURE = 0.6;
const MOST_AT_ONCE = 3;

/** "When needed" tools per category, most informative first. */
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
  DEPENDENCY_ERROR: [
    'read_console_output',
    'find_similar_failures',
    'read_failure_history',
    'read_file',
    'changed_since_green',
  ],
  TEST_FAILURE: ['read_test_file', 'read_failure_history', 'changed_since_green', 'read_past_fixes'],
};

/** Tools that read the code first, in addition to the changes, if the log does not explain the failure. */
const FIRST_OF_CODE = ['read_file', 'read_blame'];

/** Allowed for any category, asked last. What is new since a green build is in the excerpts already. */
const ANY_CATEGORY = ['find_similar_failures', 'read_failure_history', 'count_consecutive_failures'];

interface Choice extends Insight {
  readonly plan: Plan;
  readonly offered: readonly ToolDescription[];
}

/**
 * Chooses the independent calls of this round: first the tools that always run, then those that the
 * category's table allows.
 */
export function chooseCalls(given: Choice): ToolCall[] {
  const offered = given.offered.filter(({ categories }) =>
    categories.includes(given.classification.category),
  );
  const input = { ...given, offered };
  // Only fallback tools are offered, so the last resort is used now.
  if (offered.length > 0 && offered.every(({ fallback }) => fallback))
    return offered.flatMap(
      (tool) => freshCall(input, tool, 'what is known does not support an answer') ?? [],
    );
  const asked = new Set(input.outcomes.map(({ call }) => call.tool));
  const isTurnOfCode = wantsCode(input, input.plan.confidence);
  const due = input.offered.filter((tool) => tool.always && !asked.has(tool.name));
  const always = due.filter(({ name }) => isTurnOfCode || name !== FIND_FILES);
  const first = always.flatMap((tool) => freshCall(input, tool, 'always used') ?? []);
  // Whether the machine, or luck, failed once or every time: what decides if running it again may help.
  const inARow = isNotDevelopersFault(input.classification) ? ['count_consecutive_failures'] : [];
  const code = isTurnOfCode ? codeCalls(input) : [];
  if (first.length > 0) return [...first, ...seenBefore(input), ...code, ...callsFor(input, inARow)];
  if (input.plan.enough || (input.gaps.length === 0 && !isNeeded(input))) return [];
  const wanted = [...WHEN_NEEDED[input.classification.category], ...ANY_CATEGORY];
  const calls = callsFor(input, [...new Set(wanted)]);
  return calls.length > 0 ? calls.slice(0, MOST_AT_ONCE) : lastResort(input);
}

/**
 * Returns the call that checks whether others had the same failure. This is the first thing a person asks,
 * and it costs only a query of our own database.
 */
function seenBefore(input: Choice): ToolCall[] {
  const { generic, build } = input.subject;
  return generic || build.branch === null
    ? []
    : callsFor(input, ['read_failure_history'], 'others may have seen this failure');
}

/** The tool that runs for every failure with code, and finds where the others read. */
const FIND_FILES = 'find_files';

/**
 * Checks whether it is the turn of the code. For a code error, what is known is asked first: the code is read
 * at once only if the error has a line of the project, and after a round if nothing retrieved explains it or
 * the cause is unsure.
 */
function wantsCode({ classification, subject, evidence, outcomes }: Insight, confidence: number): boolean {
  if (classification.category !== 'CODE_ERROR' || argumentsFor('read_blame', subject) !== null) return true;
  return outcomes.length > 0 && (retrievalScore(evidence) < GOOD_RETRIEVAL || confidence < UNSURE);
}

/**
 * Returns the calls about the code that are made with the first lookups, so that they do not cost a separate
 * round: what changed, because this is what a reviewer asks first. A compiler that names file and line has
 * stated what is wrong. If none did, the code of a code error explains more than the log.
 */
function codeCalls(input: Choice): ToolCall[] {
  const { subject, classification } = input;
  const isLocated = subject.diagnostics.some(
    ({ severity, file, line }) => severity === 'error' && file !== null && line !== null,
  );
  const first = classification.category === 'CODE_ERROR' && !isLocated ? FIRST_OF_CODE : [];
  return callsFor(input, [...first, 'changed_since_green']);
}

/**
 * Checks the conditions of the table: weak retrieval, an error that names file and line, or a second
 * iteration that is still unsure.
 */
function isNeeded({ plan, round, subject }: Pick<Insight, 'round' | 'subject'> & { plan: Plan }): boolean {
  const located = argumentsFor('read_blame', subject) !== null;
  return plan.retrieval < GOOD_RETRIEVAL || located || (round >= 2 && plan.confidence < UNSURE);
}

function callsFor(input: Choice, names: readonly string[], why?: string): ToolCall[] {
  const usual =
    input.plan.retrieval < GOOD_RETRIEVAL ? 'little is known about this failure' : 'the error names a place';
  const tools = names.flatMap(
    (name) => input.offered.find((offered) => offered.name === name && !offered.fallback) ?? [],
  );
  return tools.flatMap((tool) => freshCall(input, tool, why ?? usual) ?? []);
}

/** Returns calls of fallback tools only if everything else was tried and nothing helped. */
function lastResort(input: Choice): ToolCall[] {
  const helped = input.outcomes.some((outcome) => outcome.status === 'ok' && outcome.findings.length > 0);
  if (helped) return [];
  return input.offered
    .filter((tool) => tool.fallback)
    .flatMap((tool) => freshCall(input, tool, 'everything else found nothing') ?? []);
}

function freshCall(input: Choice, tool: ToolDescription, why: string): ToolCall | null {
  const args = argumentsFor(tool.name, input.subject, input.classification.category);
  if (args === null) return null;
  const call = { tool: tool.name, args: fitting(args, tool), why };
  const made = input.outcomes.filter(({ status }) => status !== 'refused');
  return made.some((outcome) => callKey(outcome.call) === callKey(call)) ? null : call;
}

/** Keeps only the arguments that the tool's own schema knows. */
export function fitting(
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
  const ruling = ruleOn(subject);
  const lookedUp = outcomes.length > 0;
  const sure = causeConfidence(subject, classification, evidence);
  const confidence = lookedUp ? sure : Math.min(sure, BEFORE_LOOKUP_MOST);
  const named = ruling.decisive !== null && !classification.abstained;
  const isOffered = offered.some(({ name }) => name === FIND_FILES);
  const isUnread = isOffered && !outcomes.some(({ call }) => call.tool === FIND_FILES);
  const lacksCode = isUnread && wantsCode(insight, confidence);
  const enough = lookedUp && named && confidence >= ENOUGH && gaps.length === 0 && !lacksCode;
  return { thought: describePlan(insight, enough), confidence, enough, retrieval: retrievalScore(evidence) };
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
 * Mends arguments that are of the wrong type, out of bounds, unknown or missing; null where that makes no
 * difference.
 */
export function mendCall(call: ToolCall, tool: ToolDescription, subject: TriageSubject): ToolCall | null {
  const schema = Parameters.safeParse(tool.parameters);
  if (!schema.success) return null;
  const { properties, required } = schema.data;
  const known = argumentsFor(tool.name, subject) ?? {};
  const args: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    const fallback = required.includes(name) ? known[name] : undefined;
    const given = call.args[name] ?? fallback;
    const value = (given == null ? undefined : fitValue(given, property)) ?? fallback;
    if (value !== undefined) args[name] = value;
    else if (required.includes(name)) return null;
  }
  orderLines(args);
  return callKey({ ...call, args }) === callKey(call) ? null : { ...call, args };
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

const AROUND = 20;
const MAX_QUERY = 300;
const MAX_PATHS = 40;

/** Arguments for a tool out of the facts of a subject; null where the facts do not give them. */
export function argumentsFor(
  tool: string,
  subject: TriageSubject,
  category?: Category,
): Record<string, unknown> | null {
  const located = rankPlaces(subject).find((place) => place.line !== null && place.from !== 'test');
  switch (tool) {
    case 'search_error_library':
      return { limit: 5 };
    case 'search_knowledge':
      return query(subject);
    case 'search_web':
      return optional('query', findTellingLine(subject));
    case 'read_file':
      return readFileArguments(subject, located, category);
    case 'find_files':
      return { paths: Array.from(rankPlaces(subject).slice(0, MAX_PATHS), ({ path }) => path) };
    case 'read_blame':
      return located?.line == null
        ? null
        : { path: located.path, lineStart: Math.max(1, located.line - 3), lineEnd: located.line + 3 };
    case 'search_code':
      return optional('text', findSymbol(subject)?.slice(0, 200));
    case 'read_commit_history':
      return { ...optional('path', rankPlaces(subject)[0]?.path), limit: 10 };
    case 'read_test_file':
      return testArguments(subject);
    case 'read_build_log':
      return buildLogArguments(subject);
    case 'read_console_output':
      return { ...optional('source', subject.excerpts[0]?.source ?? subject.sources[0]?.name), lines: 80 };
    case 'find_similar_failures':
      return { ...optional('text', headline(subject)), limit: 5 };
    case 'read_failure_history':
      return { limit: 20 };
    case 'search_semantic':
      return optional('code', hypotheticalCode(subject));
    case 'changed_since_green':
      return subject.build.commit === null ? null : {};
    case 'read_past_fixes':
    case 'count_consecutive_failures':
      return {};
    default:
      return null;
  }
}

/** Returns the sentence that best describes what went wrong. */
function headline(subject: TriageSubject): string {
  const [first] = subject.failures;
  const own = first?.message === NO_ERROR ? undefined : first?.message;
  const said =
    own ??
    subject.messages[0]?.text ??
    subject.diagnostics[0]?.message ??
    subject.exceptions[0]?.message ??
    '';
  return said.replace(/\s+/g, ' ').trim().slice(0, MAX_QUERY);
}

/**
 * Builds a query from the messages, one per line and most informative first: the fact of the decisive rule
 * comes before the headline. Returns null if there is no text.
 */
function query(subject: TriageSubject): Record<string, unknown> | null {
  const decisive = ruleOn(subject).decisive?.fact.text ?? '';
  const said = [
    decisive,
    headline(subject),
    subject.diagnostics[0]?.message ?? '',
    subject.exceptions[0]?.message ?? '',
  ];
  const lines = said
    .map((text) => text.replace(/\s+/g, ' ').trim().slice(0, MAX_QUERY))
    .filter((text) => text !== '');
  const words =
    lines.length > 0
      ? [...new Set(lines)].join('\n')
      : (subject.excerpts[0]?.text ?? '').trim().slice(0, MAX_QUERY);
  return words === '' ? null : { query: words, limit: 5 };
}

/** Marks that a runner or a test tool puts before a message. */
const BEFORE_MESSAGE = /^(?:##\[error\]|::error[^:]{0,200}::|E {3,9})/;

/**
 * Returns the one line that tells what went wrong, for a search of the web. Returns null if no line does: how
 * the step ended finds pages about every failure there is.
 */
function findTellingLine(subject: TriageSubject): string | null {
  const [thrown] = subject.exceptions;
  const said = [
    ruleOn(subject).decisive?.fact.text,
    headline(subject),
    subject.diagnostics[0]?.message,
    thrown === undefined ? undefined : `${thrown.type}: ${thrown.message}`,
  ];
  const all = said.flatMap((text) => text?.split('\n') ?? []);
  const lines = all.map((line) => line.trim().replace(BEFORE_MESSAGE, '').trim());
  return lines.find((line) => TELLING.has(classifyRole(line)))?.slice(0, MAX_QUERY) ?? null;
}

const TELLING: ReadonlySet<LineRole> = new Set(['cause', 'notice']);

/**
 * Returns the file to read: code for a code error, a CI file for a set-up error, and a manifest or lock file
 * for a dependency error.
 */
function readFileArguments(
  subject: TriageSubject,
  located: Place | undefined,
  category?: Category,
): Record<string, unknown> | null {
  if (category === 'CONFIG_ERROR') return optional('path', configurationFile(subject));
  if (category === 'DEPENDENCY_ERROR') return optional('path', findManifest(subject));
  if (located?.line == null) return null;
  return {
    path: located.path,
    lineStart: Math.max(1, located.line - AROUND),
    lineEnd: located.line + AROUND,
  };
}

function testArguments(subject: TriageSubject): Record<string, unknown> | null {
  const test =
    subject.failingTests[0] ?? subject.failures.find((failure) => failure.test !== null)?.test ?? null;
  return test === null ? null : { test: test.name.slice(0, 500), ...optional('file', test.file) };
}

function buildLogArguments(subject: TriageSubject): Record<string, unknown> {
  const exit = subject.exits.at(-1);
  const [excerpt] = [...subject.excerpts].sort((left, right) => right.weight - left.weight);
  const at =
    exit ?? (excerpt === undefined ? undefined : { source: excerpt.source, line: excerpt.lineStart });
  return at === undefined ? {} : { source: at.source, line: at.line, context: 40 };
}

function findSymbol(subject: TriageSubject): string | null {
  const said = [
    ...[...subject.diagnostics, ...subject.exceptions].map(({ message }) => message),
    headline(subject),
  ].join('\n');
  const quoted =
    /[`'"‘]([A-Za-z_][\w.:]{2,80})[`'"’]/.exec(said)?.[1] ??
    /(?:symbol: +\w+ |undefined: )([A-Za-z_]\w{2,80})/.exec(said)?.[1];
  return quoted ?? subject.exceptions[0]?.frames.find((frame) => frame.own)?.function ?? null;
}

/**
 * Guesses the code that fails from the details of the failure: its functions, deepest first, and what they
 * threw.
 */
function hypotheticalCode(subject: TriageSubject): string | null {
  const [thrown] = subject.exceptions;
  const frames = [...(thrown?.frames ?? []), ...subject.failures.flatMap((failure) => failure.frames)].filter(
    ({ own }) => own,
  );
  const functions = [
    ...new Set(frames.flatMap((frame) => frame.function?.split(/[.#:]/).at(-1) ?? [])),
  ].slice(0, 6);
  const said =
    thrown === undefined ? headline(subject) : `${thrown.type}: ${thrown.message.slice(0, MAX_QUERY)}`;
  const test = subject.failingTests[0]?.name ?? '';
  const body = [...functions.map((name) => `${name}() {`), `  throw "${said}"`, '}'].join('\n');
  const code =
    functions.length === 0 && said === ''
      ? ''
      : [test === '' ? '' : `// ${test.slice(0, 200)}`, body].join('\n').trim();
  return code.length < 10 ? null : code;
}

function configurationFile(subject: TriageSubject): string | null {
  const text = subject.excerpts.map((excerpt) => excerpt.text).join('\n');
  return (
    /(\.github\/workflows\/[\w.-]{1,80}\.ya?ml|\.gitlab-ci\.yml|\.circleci\/config\.yml|\.travis\.yml|azure-pipelines\.yml)/.exec(
      text,
    )?.[1] ?? (/\bJenkinsfile\b/.test(text) ? 'Jenkinsfile' : null)
  );
}

const MANIFESTS: readonly (readonly [RegExp, string])[] = [
  [/^(?:npm|yarn|pnpm|jest|vitest|mocha|tsc|typescript|eslint|node)$/i, 'package.json'],
  [/^(?:maven|surefire|junit)$/i, 'pom.xml'],
  [/^gradle$/i, 'build.gradle'],
  [/^(?:cargo|rust|rustc)$/i, 'Cargo.toml'],
  [/^go\b/i, 'go.mod'],
  [/^(?:bundler|rspec|gem)$/i, 'Gemfile'],
  [/^composer$/i, 'composer.json'],
  [/^(?:poetry|uv|pdm|hatch)$/i, 'pyproject.toml'],
  [/^(?:pip|pytest|python|unittest|tox)$/i, 'requirements.txt'],
  [/^(?:dart|flutter|pub|melos)$/i, 'pubspec.yaml'],
  [/^(?:swift|swiftpm|xcodebuild)$/i, 'Package.swift'],
];

/** Returns the name of the toolchain's manifest. Returns null if none is known. */
export function findManifest(subject: TriageSubject): string | null {
  return MANIFESTS.find(([pattern]) => subject.toolchains.some((tool) => pattern.test(tool)))?.[1] ?? null;
}

function optional(name: string, value: string | null | undefined): Record<string, unknown> | null {
  return value == null || value === '' ? null : { [name]: value };
}
