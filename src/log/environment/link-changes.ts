import type { EnvironmentRecord, RecordedVersion } from '../../domain/environment-record.ts';
import type { Diagnostic, FailingTest, Failure, StackFrame, ThrownException } from '../../domain/failure.ts';
import type { VersionChange } from '../../domain/version-changes.ts';
import { escapePattern } from '../../lib/text.ts';
import { isCheck } from '../tool-kinds.ts';
import { canonicalizePythonName } from './read-record.ts';

/** The parts of a failure that say what went wrong. */
export interface FailureWords {
  readonly failures: readonly Pick<Failure, 'message' | 'frames'>[];
  readonly failingTests: readonly Pick<FailingTest, 'message'>[];
  readonly diagnostics: readonly Pick<Diagnostic, 'tool' | 'message' | 'severity' | 'code'>[];
  readonly exceptions: readonly Pick<ThrownException, 'type' | 'message' | 'frames' | 'outerFrames'>[];
  readonly messages: readonly { readonly text: string }[];
  readonly failedSections: readonly { readonly name: string }[];
  readonly excerpts: readonly { readonly text: string }[];
}

interface Linked {
  readonly link: string;
  /** Higher if the failure is more clearly about the change. */
  readonly score: number;
}

interface Said {
  readonly statements: readonly string[];
  /** The source lines that traces show at their last frame. */
  readonly code: readonly string[];
  readonly frames: readonly (readonly StackFrame[])[];
  readonly words: FailureWords;
  readonly isSameCommit: boolean;
}

const [MAX_STATEMENTS, MAX_STATEMENT, MAX_FRAMES] = [60, 2_000, 40];

/** Messages that say that something was called, imported or requested in a way that it does not support. */
const BREAKS = new RegExp(
  [
    'has no attribute|cannot import name|No module named|ModuleNotFound|is not a function',
    // an argument or option, named in quotation marks
    String.raw`['"\x60][\w-]{1,60}['"\x60] (?:argument|parameter|option|keyword)`,
    'is not a constructor|does not provide an export|is not exported|no exported member|ERR_REQUIRE_ESM',
    'ERR_PACKAGE_PATH|ERR_MODULE_NOT_FOUND|Cannot find (?:module|package|symbol)|ES Module',
    String.raw`unexpected keyword argument|missing \d{1,3} required|positional argument|got an unexpected`,
    '(?:was|were|been|is|are) (?:removed|renamed|dropped)|removed in|no longer|depr' +
      'ecat|incompatib|not compatible',
    'conflict|ERESOLVE|peer |requires |undefined: |unresolved import|no method named|no function',
    'NoSuchMethod|NoSuchField|NoClassDefFound|ClassNotFound|undefined method|uninitialized constant',
    'unknown (?:option|argument|flag|field|property|rule|key)|unrecognized|unsupported|invalid option',
    "size changed|binary incompat|Could not find a configuration|couldn't find|was not found|does not exist",
    'has been|is not assignable|cannot use|not supported|Unable to load|Failed to l' +
      'oad|not defined|instead of',
    'must be|is not available|is not a known|are not allowed|cannot be used|expected .{1,40} got',
  ].join('|'),
  'i',
);
/** Failures of networks, machines and services. No change of a version explains them. */
const OUTSIDE = new RegExp(
  [
    'ECONN|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|ENOSPC|ENOMEM|connection (?:refused|reset|aborted|timed|error)',
    'timed? ?out|Temporary failure|name resolution|No space left|out of memory|Max retries exceeded',
    String.raw`\b(?:429|50[0234])\b.{0,40}(?:error|gateway|unavailable|limit|many)|service un` +
      'available|rate limit|Killed',
  ].join('|'),
  'i',
);
/** Messages of a machine about a program or library that it lacks. */
const MISSING_ON_MACHINE = new RegExp(
  [
    String.raw`(?:^|[\s:'"])(?<program>[\w.+-]{2,40})['"]?: (?:command )?not found\b|command ` +
      String.raw`not found: (?<zsh>[\w.+-]{2,40})`,
    'cannot open shared object file|version .GLIBC|GLIBCXX_|externally-managed-environment',
    String.raw`spawn (?<spawned>[\w.+-]{2,40}) ENOENT|executable file not found in|Unable to ` +
      'locate (?:executable|package)',
    String.raw`\/(?:usr|opt|etc|lib)\/[\w./+-]{2,200}: No such file|No such file or directory` +
      String.raw`: '(?:\/(?:usr|opt|etc|lib)\/|\w{2,30}')`,
    String.raw`is not recognized as an internal|toolcache\/[\w./-]{2,100}.{0,40}(?:not found|` +
      'No such)|cannot find -l',
  ].join('|'),
);
/** Messages of a package index about a version that it does not have, or no longer has. */
const UNAVAILABLE = new RegExp(
  [
    'No matching distribution found|could not find a version|No matching version fo' +
      String.raw`und|\bETARGET\b|notarget`,
    'is not in (?:this|the npm) registry|E404|404 Not Found|failed to select a version',
    "Couldn't find any versions",
    'unknown revision|no matching versions|was yanked|only the following versions|n' +
      'o version of|Could not find artifact',
    'there (?:is|are) no versions? of|has no (?:wheels|usable wheels|source)|Versio' +
      'n .{1,40} (?:was )?not found',
  ].join('|'),
  'i',
);
/** Packages that run tests. Their frames are in every trace. */
const HARNESS = new RegExp(
  String.raw`^(?:pytest(?:-\w+)?|_?pytest|pluggy|unittest|nose2|tox|nox|jest.*|@jest/.*|vit` +
    'est|@vitest/.*|mocha|chai|expect|ava|tap|jasmine.*|karma.*|rspec.*|minitest|ph' +
    String.raw`punit/.*|junit.*|org\.junit.*|tinypool|tsx|ts-node)$`,
);
/** Messages that a change of a runtime's version may explain. */
const RUNTIME: Readonly<Record<string, RegExp>> = {
  python: new RegExp(
    "No module named '(?:distutils|imp|asyncore|asynchat|smtpd|cgi|cgitb|crypt|imghdr|sndhdr|" +
      'telnetlib|pipes|' +
      'nntplib|audioop|aifc|chunk|msilib|nis|ossaudiodev|spwd|sunau|uu|xdrlib|lib2to3' +
      String.raw`|binhex|formatter|parser|symbol)\b|` +
      'Requires-Python|requires a different Python|requires-python|incompatible with ' +
      '.{0,40}Python|Python version',
    'i',
  ),
  node: new RegExp(
    'engine "?node|EBADENGINE|digital envelope routines|bad option|unsupported engi' +
      'ne|node version|NODE_MODULE_VERSION',
    'i',
  ),
  go: /requires go|unknown directive|toolchain|not in std|invalid go version/i,
  java: new RegExp(
    'class file|UnsupportedClassVersion|(?:target|source) release|release version|S' +
      'ource option|Target option',
    'i',
  ),
  rustc: /requires rustc|edition20\d\d|lock ?file version|E0658|unstable/i,
};

/**
 * Links changes to a failure. A change that the failure's own lines are about gets the words that say so; the
 * clearest link comes first. The other changes stay in the list without a link. If the commit changed as
 * well, only a new major version that the failure names is linked.
 */
export function linkChanges(
  changes: readonly VersionChange[],
  words: FailureWords,
  isSameCommit: boolean,
): VersionChange[] {
  const collected = collectWords(words, isSameCommit);
  const linked = changes.map((change) => ({ change, found: findLink(change, collected) }));
  return linked
    .toSorted((left, right) => (right.found?.score ?? 0) - (left.found?.score ?? 0))
    .map(({ change, found }) => (found === null ? change : { ...change, link: found.link }));
}

/**
 * Finds packages of the green run that the failed run could not install because their version is no longer
 * available.
 */
export function findUnavailable(
  absent: readonly RecordedVersion[],
  red: EnvironmentRecord,
  words: FailureWords,
): VersionChange[] {
  const statements = collectWords(words, true).statements.filter((text) => UNAVAILABLE.test(text));
  if (statements.length === 0) return [];
  return absent.flatMap(({ kind, name, version }): VersionChange[] => {
    if (kind === 'env' || kind === 'image' || kind === 'tool') return [];
    const isAbout = (text: string) =>
      listNames(kind, name).some((alias) => createWordPattern(alias).test(text)) &&
      version.split(', ').some((part) => text.includes(part));
    const statement = statements.find(isAbout);
    if (statement === undefined) return [];
    const { range = '', from = null } =
      red.requirements.find((requirement) => requirement.name === canonicalizePythonName(name)) ?? {};
    const chosenBy = from === null ? null : `${range} in ${from}`.trim();
    const link = `unavailable: ${statement}`.slice(0, 300);
    return [{ kind, name, from: version, to: null, chosenBy, at: null, link }];
  });
}

function collectWords(words: FailureWords, isSameCommit: boolean): Said {
  const all = [
    ...words.exceptions.map(({ message }) => message),
    ...words.failures.map(({ message }) => message),
    ...words.diagnostics.filter(({ severity }) => severity === 'error').map(({ message }) => message),
    ...words.failingTests.map(({ message }) => message ?? ''),
    ...words.messages.map(({ text }) => text),
  ];
  const statements = [...new Set(all.map(withoutType))]
    .filter((text) => text !== '')
    .slice(0, MAX_STATEMENTS);
  const frames = [
    ...words.exceptions.map((exception) => [...exception.frames, ...(exception.outerFrames ?? [])]),
    ...words.failures.map((failure) => failure.frames),
  ].map((frames) => frames.slice(0, MAX_FRAMES));
  return { statements, code: readCode(words), frames, words, isSameCommit };
}

/**
 * Source lines in traces: at the last frame of a Python trace, above Node's caret, and behind pytest's
 * marker.
 */
const CODE = [
  new RegExp(
    String.raw`^ {2}File "[^"\n]{1,300}", line \d{1,7}, in [^\n]{1,200}\n {4}(?<code>[^\n]` +
      String.raw`{1,300})\n(?:[ ~^]{1,300}\n)?(?=\S)`,
    'gm',
  ),
  /^(?<code>[^\n]{1,300})\n {1,300}\^{1,80}\n/gm,
  /^> {3}(?<code>[^\n]{1,300})$/gm,
] as const;

function readCode({ excerpts }: FailureWords): string[] {
  const text = excerpts.map((excerpt) => excerpt.text).join('\n\n');
  const found = CODE.flatMap((pattern) =>
    [...text.matchAll(pattern)].map(({ groups }) => groups?.code ?? ''),
  );
  return [...new Set(found)].slice(0, MAX_STATEMENTS);
}

/**
 * Removes the exception type before a message. The type names a package, whichever package the message is
 * about.
 */
function withoutType(text: string): string {
  return text
    .slice(0, MAX_STATEMENT)
    .replace(/^(?:[A-Za-z_][\w.$]{0,200}(?:Error|Exception|Warning|Failure)\b:?\s{0,4}){1,3}/, '');
}

function findLink(change: VersionChange, collected: Said): Linked | null {
  switch (change.kind) {
    case 'step':
    case 'workflow':
      return null;
    case 'image':
      return collected.isSameCommit ? linkImage(collected) : null;
    case 'env':
      return change.to !== null ? null : linkVariable(change, collected);
    case 'action':
      return collected.isSameCommit ? linkAction(change, collected) : null;
    case 'tool':
      return linkRuntime(change, collected) ?? linkPackage(change, collected);
    case 'service':
      return collected.isSameCommit ? linkService(change, collected) : null;
    default:
      return linkPackage(change, collected);
  }
}

function linkImage({ statements }: Said): Linked | null {
  const statement = statements.find((text) => MISSING_ON_MACHINE.test(text));
  return statement === undefined ? null : { link: statement.slice(0, 300), score: 3 };
}

function linkVariable({ name }: VersionChange, { statements }: Said): Linked | null {
  const pattern = createWordPattern(name);
  const statement = statements.find((text) => pattern.test(text));
  return statement === undefined ? null : { link: statement.slice(0, 300), score: 4 };
}

function linkAction({ name }: VersionChange, { words, statements }: Said): Linked | null {
  const bare = name.split('@')[0] ?? name;
  const section = words.failedSections.find((failedSection) => failedSection.name.includes(bare));
  const isOutside = statements.some((text) => OUTSIDE.test(text));
  if (section === undefined || isOutside) return null;
  return { link: section.name.slice(0, 300), score: 3 };
}

function linkService({ name }: VersionChange, { statements }: Said): Linked | null {
  const base = name.split('/').at(-1)?.split(':')[0] ?? name;
  const pattern = createWordPattern(base);
  const statement = statements.find((text) => pattern.test(text) && BREAKS.test(text) && !OUTSIDE.test(text));
  return statement === undefined ? null : { link: statement.slice(0, 300), score: 2 };
}

function linkRuntime(change: VersionChange, { statements, isSameCommit }: Said): Linked | null {
  const pattern = RUNTIME[change.name.toLowerCase()];
  if (pattern === undefined || !(isSameCommit || isMajor(change))) return null;
  const statement = statements.find((text) => pattern.test(text) && !OUTSIDE.test(text));
  return statement === undefined ? null : { link: statement.slice(0, 300), score: 5 };
}

/**
 * Links a package that a message names as used wrongly. If the commit is the same, also links a tool whose
 * own errors failed the step, and a package in which the exception was thrown.
 */
function linkPackage(change: VersionChange, collected: Said): Linked | null {
  if (!collected.isSameCommit && !isMajor(change)) return null;
  const names = listNames(change.kind, change.name);
  const { statements } = collected;
  for (const [place, text] of statements.entries()) {
    if (OUTSIDE.test(text) || !BREAKS.test(text)) continue;
    if (names.some((name) => createCodePattern(name).test(text)))
      return { link: text.slice(0, 300), score: 10 - place / MAX_STATEMENTS };
  }
  const misused = statements.find((text) => BREAKS.test(text) && !OUTSIDE.test(text));
  const code = collected.code.find((text) => names.some((name) => createCodePattern(name).test(text)));
  if (misused !== undefined && code !== undefined)
    return { link: `${code.trim()}: ${misused}`.slice(0, 300), score: 8 };
  if (!collected.isSameCommit) return null;
  return linkTool(change, names, collected) ?? linkFrames(change, names, collected);
}

/** Packages by the name of the tool in diagnostics, if the names differ. */
const TOOL_NAMES: Readonly<Record<string, string>> = { tsc: 'typescript', rustc: 'rustc', 'go vet': 'go' };

/** Tools that format source code. */
const FORMATTER = /^(?:prettier|black|isort|yapf|autopep8|gofmt|gofumpt|rustfmt|dprint|standard)$/;

/** Links a linter or compiler whose own errors failed the step. */
function linkTool(
  change: VersionChange,
  names: readonly string[],
  { words, statements }: Said,
): Linked | null {
  if (change.from === null || change.to === null) return null;
  const known = new Set(names.map((name) => name.toLowerCase()));
  const finding = words.diagnostics.find(
    ({ tool, severity, code }) =>
      severity === 'error' &&
      known.has((TOOL_NAMES[/^TS\d/.test(code ?? '') ? 'tsc' : tool] ?? tool).toLowerCase()),
  );
  if (finding !== undefined) return { link: `${finding.tool}: ${finding.message}`.slice(0, 300), score: 6 };
  const isStep = words.failedSections.some(({ name }) => names.some((alias) => runsProgram(name, alias)));
  const isOwn = (text: string) => BREAKS.test(text) || names.some((alias) => startsWith(text, alias));
  // A tool that only reads source code is the reason for any error of its step.
  const readsSource = names.some((alias) => isCheck(alias) || FORMATTER.test(alias));
  const isTold = statements.some((text) => (readsSource || isOwn(text)) && !OUTSIDE.test(text));
  if (HARNESS.test(change.name) || !isStep || !isTold) return null;
  return { link: statements[0]?.slice(0, 300) ?? change.name, score: 5 };
}

function runsProgram(step: string, name: string): boolean {
  return new RegExp(
    String.raw`^Run (?:npx |uvx? (?:run )?|pnpm |yarn |python -m )?${escapePattern(name)}\b`,
  ).test(step);
}

function startsWith(text: string, name: string): boolean {
  return text.toLowerCase().startsWith(name.toLowerCase());
}

/** Links a package whose code is at the top of a trace. */
function linkFrames(
  change: VersionChange,
  names: readonly string[],
  { frames, statements }: Said,
): Linked | null {
  if (HARNESS.test(change.name) || !(isMajor(change) || isMinor(change))) return null;
  if (statements.some((text) => OUTSIDE.test(text)) || !statements.some((text) => BREAKS.test(text)))
    return null;
  for (const trace of frames) {
    const [first] = trace;
    if (first === undefined) continue;
    const file = first.file.replaceAll('\\', '/');
    if (names.some((name) => isFileIn(file, change.kind, name)))
      return { link: `${first.file}${first.line === null ? '' : `:${first.line}`}`.slice(0, 300), score: 4 };
  }
  return null;
}

function isFileIn(file: string, kind: VersionChange['kind'], name: string): boolean {
  if (kind === 'python') return file.includes(`-packages/${name}/`) || file.endsWith(`-packages/${name}.py`);
  if (kind === 'npm') return file.includes(`node_modules/${name}/`);
  if (kind === 'cargo') return new RegExp(`/${escapePattern(name)}-\\d`).test(file);
  return kind === 'go' && file.includes(`${name}@`);
}

/**
 * The import names of distributions that are imported under another name, according to their documentation.
 */
const IMPORTED: Readonly<Record<string, readonly string[]>> = {
  pyyaml: ['yaml'],
  'scikit-learn': ['sklearn'],
  beautifulsoup4: ['bs4'],
  pillow: ['PIL'],
  'opencv-python': ['cv2'],
  'python-dateutil': ['dateutil'],
  protobuf: ['google.protobuf'],
  setuptools: ['setuptools', 'pkg_resources'],
  attrs: ['attr', 'attrs'],
  'pydantic-core': ['pydantic_core'],
  'flask-sqlalchemy': ['flask_sqlalchemy'],
  'discord-py': ['discord'],
  pyjwt: ['jwt'],
  'msgpack-python': ['msgpack'],
  'python-jose': ['jose'],
  pycryptodome: ['Crypto'],
  pymongo: ['pymongo', 'bson'],
  dnspython: ['dns'],
};

/** Returns the names by which code and messages refer to a package. */
function listNames(kind: VersionChange['kind'], name: string): string[] {
  if (kind === 'python') {
    const canonical = canonicalizePythonName(name);
    return [...new Set([name, canonical, canonical.replaceAll('-', '_'), ...(IMPORTED[canonical] ?? [])])];
  }
  if (kind === 'cargo') return [...new Set([name, name.replaceAll('-', '_')])];
  if (kind === 'go') {
    const parts = name.replace(/\/v\d{1,3}$/, '').split('/');
    return [name, parts.at(-1) ?? name];
  }
  if (kind === 'maven') return [name, name.split(':')[1] ?? name, name.split(':')[0] ?? name];
  if (kind === 'os') return [name.split(/\d/)[0] ?? ''].filter((word) => word.length > 3);
  if (kind !== 'npm') return [name];
  // JavaScript code imports "p-limit" as pLimit.
  return [...new Set([name, name.replace(/[-_.](?<next>[a-z])/g, (_, next: string) => next.toUpperCase())])];
}

/** Creates a pattern that matches a name used as code or as a package, but not as part of a sentence. */
function createCodePattern(name: string): RegExp {
  const pattern = escapePattern(name);
  return new RegExp(
    [
      String.raw`['"\x60‘“/]${pattern}['"\x60’”/@.]`,
      String.raw`(?<![\w.@/-])${pattern}(?:\.[A-Za-z_]|@\d|@\^|@"|[=<>~!]=|::)`,
      String.raw`(?<![\w.@/-])${pattern} v?\d`,
      String.raw`(?<![\w.@/-])${pattern} is not a (?:function|constructor)`,
      String.raw`['"\x60]${pattern}\.[\w.]{1,100}['"\x60]`,
      `(?:-packages|node_modules)/${pattern}/`,
      String.raw`(?:package|module|plugin|import|dependency|requirement) ${pattern}(?![\w-])`,
    ].join('|'),
    'i',
  );
}

function createWordPattern(name: string): RegExp {
  return new RegExp(String.raw`(?<![\w@/-])${escapePattern(name)}(?![\w-])`, 'i');
}

function parseNumbers(version: string): number[] {
  return (/^[^\d]{0,12}(\d{1,9}(?:\.\d{1,9}){0,3})/.exec(version)?.[1] ?? '').split('.').map(Number);
}

/**
 * Tells whether a change is of the part of the version that announces incompatibility: the first, or the
 * second after a leading 0.
 */
function isMajor({ from, to }: VersionChange): boolean {
  if (from === null || to === null) return true;
  const [[oldMajor = 0, oldMinor = 0], [newMajor = 0, newMinor = 0]] = [parseNumbers(from), parseNumbers(to)];
  return oldMajor !== newMajor || (oldMajor === 0 && oldMinor !== newMinor);
}

function isMinor({ from, to }: VersionChange): boolean {
  if (from === null || to === null) return true;
  return (parseNumbers(from)[1] ?? 0) !== (parseNumbers(to)[1] ?? 0);
}
