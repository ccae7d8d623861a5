import type { Extraction } from '../extract/extraction.ts';
import type { LogText } from '../lines/lines.ts';

/** Runtimes and compilers whose version determines which language features code may use. */
export const RUNTIMES = ['node', 'python', 'go', 'java', 'rust'] as const;
export type Runtime = (typeof RUNTIMES)[number];

/** A version that a line of the log shows. */
export interface ShownVersion {
  readonly tool: Runtime;
  /** The version as the log prints it, without a leading "v": "18.20.4", "3.8". */
  readonly version: string;
  readonly line: number;
  /** True if the failing program itself prints it; false if a step set it up or only named it. */
  readonly running: boolean;
}

interface VersionRow {
  readonly tool: Runtime;
  readonly running: boolean;
  /** Has one group: the version. */
  readonly pattern: RegExp;
}

const V = String.raw`v?(\d{1,3}(?:\.\d{1,3}){0,2})`;

/** Forms in which logs show versions. Each contains one of {@link RUNTIME_LITERALS}. */
// biome-ignore format: one row for each form
const VERSION_ROWS: readonly VersionRow[] = [
  { tool: 'node', running: true, pattern: new RegExp(`^\\s{0,8}Node\\.js ${V}$`) },
  { tool: 'node', running: true, pattern: new RegExp(`current: \\{ ?"?node"?: ?['"]${V}`) },
  { tool: 'node', running: true, pattern: new RegExp(`^npm (?:ERR!|error) node ${V}$`) },
  { tool: 'node', running: false, pattern: new RegExp(`\\bNow using node ${V}`, 'i') },
  { tool: 'node', running: false, pattern: new RegExp(`^\\s{0,8}node: ${V}$`) },
  { tool: 'node', running: false, pattern: new RegExp(`\\bnode/${V}(?:/| )`) },
  { tool: 'node', running: false,
    pattern: new RegExp(`\\b(?:FROM|image:?|docker pull) (?:docker\\.io/(?:library/)?)?node:${V}`, 'i') },
  { tool: 'python', running: true, pattern: new RegExp(`^platform \\w{1,20} -- Python ${V}`) },
  { tool: 'python', running: true, pattern: new RegExp(`[/\\\\]lib[/\\\\]python${V}[/\\\\]`) },
  { tool: 'python', running: false, pattern: new RegExp(`\\bPython[/\\\\]${V}[/\\\\]`) },
  { tool: 'python', running: false,
    pattern: new RegExp(`^(?:Python|Using CPython|Successfully set up CPython \\(?|Using Python) ?${V}`, 'i') },
  { tool: 'python', running: false,
    pattern: new RegExp(`\\b(?:FROM|image:?|docker pull) (?:docker\\.io/(?:library/)?)?python:${V}`, 'i') },
  { tool: 'go', running: true, pattern: new RegExp(`\\(running go ${V}`) },
  { tool: 'go', running: false, pattern: new RegExp(`\\bgo version go${V}`) },
  { tool: 'go', running: false, pattern: new RegExp(`hostedtoolcache[/\\\\]go[/\\\\]${V}`) },
  { tool: 'go', running: false,
    pattern: new RegExp(`\\b(?:FROM|image:?|docker pull) (?:docker\\.io/(?:library/)?)?golang:${V}`, 'i') },
  { tool: 'java', running: false,
    pattern: new RegExp(`\\b(?:openjdk version|java version|Java version:) "?${V}`) },
  { tool: 'java', running: false,
    pattern: new RegExp(`hostedtoolcache[/\\\\]Java_\\w{1,40}_jdk[/\\\\]${V}`) },
  { tool: 'java', running: false,
    pattern: new RegExp(`\\b(?:FROM|image:?|docker pull) (?:docker\\.io/(?:library/)?)?(?:eclipse-temurin|openjdk|amazoncorretto):${V}`, 'i') },
  { tool: 'java', running: false, pattern: new RegExp(`\\bmaven:[\\w.]{1,20}-(?:\\w{1,20}-)?(?:jdk-)?${V}`) },
  { tool: 'rust', running: true, pattern: new RegExp(`currently active rustc version is ${V}`) },
  { tool: 'rust', running: false, pattern: new RegExp(`\\brustc ${V}(?:-\\w{1,20})? ?\\(`) },
];

/** Literals, case ignored. Every line that shows a version contains one of them. */
export const RUNTIME_LITERALS: readonly string[] = [
  'node.js v',
  'current: {',
  ' node v',
  'now using node',
  'node: v',
  'node: 1',
  'node: 2',
  'node/v',
  'node/1',
  'node/2',
  'node:1',
  'node:2',
  '-- python 3',
  '/python3',
  'python/3',
  'python 3',
  'cpython',
  'python:3',
  '(running go',
  'version go',
  'hostedtoolcache/go/',
  'golang:1',
  'jdk version',
  'java version',
  'toolcache/java',
  'temurin:',
  'openjdk:',
  'corretto:',
  'maven:3',
  'rustc vers',
  'rustc 1',
];

/** Messages of failures that a version may explain. Versions are returned only with such a failure. */
const ASKS: Readonly<Record<Runtime, RegExp>> = {
  node: new RegExp(
    'is not a (?:function|constructor)|is not defined|does not provide an export named|' +
      'Unexpected (?:token|identifier|reserved|strict)|Invalid regular expression|' +
      'built-in module|Unsupported engine|EBADENGINE|engine "node" is incompatible|' +
      'bad option|node version',
    'i',
  ),
  python: new RegExp(
    'has no attribute|cannot import name|No module named|SyntaxError|invalid syntax|' +
      String.raw`unsupported operand type\(s\) for \||is not subscriptable|` +
      'requires-python|different Python',
    'i',
  ),
  go: /undefined: |is not in (?:std|GOROOT)|requires go|unknown directive: toolchain|invalid go version/i,
  java: new RegExp(
    'class file|UnsupportedClassVersion|(?:target|source) release|' +
      String.raw`release version \d|Source option|Target option`,
    'i',
  ),
  rust: /requires rustc|edition20\d\d|lock ?file version|E0658|unstable/i,
};

/**
 * Returns the version that the log shows of each runtime that a failure may be about. A runtime without a
 * version in the log is left out.
 */
export function readRuntimes(log: LogText, lines: readonly number[], found: Extraction): ShownVersion[] {
  const wanted = listWantedRuntimes(found);
  if (wanted.length === 0) return [];
  const versions = lines
    .flatMap((line) => listVersionsOn(log.line(line), line))
    .filter(({ tool }) => wanted.includes(tool));
  const failed = listFailedLines(found).reduce((last, line) => Math.max(last, line), 1);
  return wanted.flatMap(
    (tool) =>
      chooseVersion(
        versions.filter((shownVersion) => shownVersion.tool === tool),
        failed,
      ) ?? [],
  );
}

function listWantedRuntimes(found: Extraction): Runtime[] {
  const texts = [
    ...found.messages.map(({ text }) => text),
    ...found.diagnostics.map(({ message }) => message),
    ...found.exceptions.map(({ type, message }) => `${type}: ${message}`),
    ...found.failingTests.map(({ message }) => message ?? ''),
  ].join('\n');
  return RUNTIMES.filter((tool) => ASKS[tool].test(texts));
}

function listVersionsOn(text: string, line: number): ShownVersion[] {
  return VERSION_ROWS.flatMap(({ tool, running, pattern }) => {
    const version = pattern.exec(text)?.[1];
    return version === undefined ? [] : [{ tool, running, version, line }];
  });
}

function listFailedLines({ messages, diagnostics, exceptions }: Extraction): number[] {
  return [...messages, ...diagnostics, ...exceptions].flatMap(({ at }) => at?.line ?? []);
}

/** The number of lines after a failure in which the failing program may still print its version. */
const NEAR = 80;

/**
 * Chooses the version that the failing program printed itself, or else the last one shown before the failure.
 * If a more exact form of that version was shown as well, returns that one.
 */
function chooseVersion(versions: readonly ShownVersion[], failed: number): ShownVersion | null {
  const before = versions.filter(({ line }) => line <= failed + NEAR);
  const last = before.findLast(({ running }) => running) ?? before.at(-1);
  if (last === undefined) return null;
  const exact = before.filter(({ version }) => version.startsWith(`${last.version}.`));
  return exact.at(-1) ?? last;
}
