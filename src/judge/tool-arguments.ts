import type { Category } from '../domain/category.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { NO_ERROR } from '../log/recognise/failures.ts';
import { classifyRole, type LineRole } from '../log/roles.ts';
import { ruleOn } from './classify.ts';
import { type Place, rankPlaces } from './places.ts';

const AROUND = 20;
const MAX_QUERY = 300;
/** Messages of the log that a query has in addition to the decisive line and the headline. */
const MAX_MESSAGES = 4;
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
  ].concat(subject.messages.slice(0, MAX_MESSAGES).map(({ text }) => text));
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

/** The words with which compilers and interpreters say that they do not know a name. */
const UNKNOWN_NAME = new RegExp(
  `\\b(?:${[
    'cannot find (?:name|symbol|type|value|function|module)',
    'undefined:',
    'is not defined',
    'undeclared',
    'unresolved (?:reference|name|symbol)',
    'not found in (?:this )?scope',
    'unknown (?:name|type|identifier|symbol)',
    'uninitialized constant',
  ].join('|')})`,
  'i',
);

/** Checks whether the error is that a name is not known where it is used. */
export function namesUnknown(subject: TriageSubject): boolean {
  const said = [...subject.diagnostics, ...subject.exceptions].map(({ message }) => message);
  return UNKNOWN_NAME.test(said.concat(headline(subject)).join('\n')) && findSymbol(subject) !== null;
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

const CI_FILE = new RegExp(
  [
    '\\.github/workflows/[\\w.-]{1,80}\\.ya?ml',
    '\\.gitlab-ci\\.yml',
    '\\.circleci/config\\.yml',
    '\\.travis\\.yml',
    'azure-pipelines\\.yml',
  ].join('|'),
);

function configurationFile(subject: TriageSubject): string | null {
  const text = subject.excerpts.map((excerpt) => excerpt.text).join('\n');
  return CI_FILE.exec(text)?.[0] ?? (/\bJenkinsfile\b/.test(text) ? 'Jenkinsfile' : null);
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
