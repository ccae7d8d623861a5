import type { FileGrade } from '../../domain/reading.ts';
import { findMin } from '../../lib/collections.ts';
import { toLogBytes } from '../lines/bytes.ts';
import { type LogText, openLog } from '../lines/lines.ts';
import type { ReadableSource } from '../read-log.ts';
import { buildMatcher, type Matcher } from '../scan/matcher.ts';
import { scanLog } from '../scan/scan-log.ts';

/** A place in a text that refers to a file or folder. */
export interface Reference {
  /** The path as it is in the text, with `/` between its parts. */
  readonly path: string;
  readonly source: string;
  /** The line number, 1-based. */
  readonly line: number;
}

/**
 * Phrases that programs print before the path of a file with details. A path without such a phrase is only
 * mentioned.
 */
const PHRASES: readonly string[] = [
  'see ',
  'see:',
  'see also',
  'refer to',
  'full log',
  'complete log',
  'debug log',
  'full trace',
  'full output',
  'full report',
  'more detail',
  'more info',
  'details in',
  'details:',
  'report at',
  'report file',
  'report:',
  'saved as',
  'saved to',
  'saved in',
  'written to',
  'written in',
  'wrote ',
  'logged to',
  'logs in',
  'log in',
  'log file',
  'logfile',
  'log:',
  'logs:',
  'found in',
  'located at',
  'dumped to',
  'output in',
  'stderr:',
];

/**
 * The maximum number of lines after the phrase on which the path may be. npm and the JVM print it on the next
 * line.
 */
const LINES_AFTER = 2;
/**
 * The maximum number of lines with such a phrase that are read, from the end, because failures are late in a
 * log.
 */
const MAX_LINES = 2_000;
const MAX_REFERENCES = 200;
const SEPARATORS = /[\s"'`<>()[\]{}|,;=*]/;

let matcher: Matcher | undefined;

/**
 * Returns the files and folders that a text refers to, each once, last one first. Never throws on any text.
 */
export function listReferences(source: ReadableSource): Reference[] {
  const bytes = 'bytes' in source ? source.bytes : toLogBytes(source.text);
  matcher ??= buildMatcher([PHRASES]);
  const scan = scanLog(bytes, matcher);
  const log = openLog(source.name, bytes, scan.index, []);
  const found = new Map<string, Reference>();
  for (const line of (scan.hits[0] ?? []).slice(-MAX_LINES).toReversed()) {
    for (const [path, at] of listPathsAfter(log, line)) {
      if (!found.has(path)) found.set(path, { path, source: source.name, line: at });
    }
    if (found.size >= MAX_REFERENCES) break;
  }
  return [...found.values()];
}

/** Returns the paths after the phrase on its line; if there is none, those on the next lines. */
function listPathsAfter(log: LogText, line: number): [string, number][] {
  for (let at = line; at <= Math.min(line + LINES_AFTER, log.lineCount); at++) {
    const text = at === line ? getAfterPhrase(log.line(at)) : log.line(at);
    const paths = extractPaths(text);
    if (paths.length > 0) return paths.map((path) => [path, at]);
  }
  return [];
}

function getAfterPhrase(text: string): string {
  const lower = text.toLowerCase();
  const starts = PHRASES.flatMap((phrase) => {
    const at = lower.indexOf(phrase);
    return at === -1 ? [] : [at];
  });
  return starts.length === 0 ? '' : text.slice(findMin(starts));
}

/** Extracts the words that have a folder or an extension, without surrounding punctuation. */
function extractPaths(text: string): string[] {
  return text
    .split(SEPARATORS)
    .map((word) => splitPath(word).join('/'))
    .filter(isPath);
}

/**
 * Splits a path into its parts, without a scheme, a drive, `.` and `..`, and punctuation at the end of a
 * sentence.
 */
function splitPath(path: string): string[] {
  const plain = path.replace(/^file:/i, '').replace(/[.:!?]{1,3}$/, '');
  const parts = plain.replaceAll('\\', '/').split('/');
  return parts.filter((part) => part !== '' && part !== '.' && part !== '..' && !/^[A-Za-z]:$/.test(part));
}

function isPath(path: string): boolean {
  if (path.length > 500 || /^https?:/i.test(path)) return false;
  return path.includes('/') || /^[^.].{0,200}\.[A-Za-z][A-Za-z0-9]{0,11}$/.test(path);
}

/**
 * Counts the parts that a path and a file have in common from the end. Returns 0 if the path does not point
 * to the file.
 */
export function countFileParts(path: string, file: string): number {
  return countCommonEnd(splitPath(path), splitPath(file));
}

/**
 * Counts the parts of a path that point to a folder that contains the file, directly or deeper. Returns 0 if
 * it does not.
 */
export function countFolderParts(path: string, file: string): number {
  const wanted = splitPath(path);
  const folders = splitPath(file).slice(0, -1);
  let best = 0;
  for (let end = folders.length; end > 0; end--)
    best = Math.max(best, countCommonEnd(wanted, folders.slice(0, end)));
  return best;
}

function countCommonEnd(left: readonly string[], right: readonly string[]): number {
  let count = 0;
  while (count < left.length && count < right.length && left.at(-1 - count) === right.at(-1 - count))
    count += 1;
  return count;
}

/** The information in a file's name alone. */
interface NamedAs {
  readonly what: string;
  readonly grade: FileGrade;
  readonly reason: string;
}

/** The maximum length of a name that the rules are tried on, counted from its end. */
const MAX_NAME = 300;

const PICTURE = 'a picture says nothing that can be read here';
const PRODUCT = 'a product of the build, not what it said';

/** The rules for names. The first one that matches is used. */
// biome-ignore format: one row for each kind of file
const RULES: readonly (NamedAs & { readonly matches: RegExp })[] = [
  { what: 'list or content of installed packages', grade: 'skip', reason: 'what is installed is no failure',
    matches: new RegExp(
      String.raw`(?:^|/)(?:node_modules|\.venv|site-packages|vendor/bundle|\.m2|` +
      String.raw`\.gradle/caches)(?:/|[^/]{0,40}\.(?:txt|json|log)$)`,
      'i',
    ) },
  { what: 'list of installed packages', grade: 'skip', reason: 'what is installed is no failure',
    matches: new RegExp(
      String.raw`(?:^|/)(?:package-lock\.json|yarn\.lock|pnpm-lock\.yaml|pip-?freeze[^/]{0,40}|` +
      'npm-?ls[^/]{0,40}|dependency-tree[^/]{0,40}|(?:s?bom|cyclonedx|' +
      String.raw`spdx)[^/]{0,40}\.(?:json|xml))$`,
      'i',
    ) },
  { what: 'coverage data', grade: 'skip', reason: 'coverage says what ran, not what failed',
    matches: new RegExp(
      '(?:^|/)(?:[^/]{0,60}coverage|lcov|jacoco|cobertura|clover|htmlcov)(?:[^/]{0,80}$|/)|' +
      String.raw`\.(?:lcov|gcov|gcda|gcno|profraw|exec)$`,
      'i',
    ) },
  { what: 'picture', grade: 'skip', reason: PICTURE,
    matches: /\.(?:png|jpe?g|gif|webp|bmp|ico|svg|tiff?)$/i },
  { what: 'recording', grade: 'skip', reason: PICTURE, matches: /\.(?:mp4|webm|mkv|avi|mov|har)$/i },
  { what: 'program or package', grade: 'skip', reason: PRODUCT,
    matches: new RegExp(
      String.raw`\.(?:jar|war|ear|class|o|a|so|dll|exe|pdb|dylib|wasm|whl|egg|nupkg|deb|rpm|` +
      String.raw`apk|aab|ipa|dmg|msi|pyc|bin|node|map|min\.js|d\.ts)$`,
      'i',
    ) },
  { what: 'web page or its parts', grade: 'skip', reason: 'a page for people; its data is elsewhere',
    matches: /\.(?:html?|css|js|mjs|woff2?|ttf|eot)$/i },
  { what: 'memory image', grade: 'skip', reason: 'a memory image needs a debugger',
    matches: /\.(?:hprof|heapsnapshot|dmp|mdmp)$|(?:^|\/)core(?:\.\d{1,10})?$/i },
  { what: 'JVM crash report', grade: 'relevant', reason: 'the JVM writes it only when it crashes',
    matches: /(?:^|\/)hs_err_pid\d{1,10}\.log$/i },
  { what: 'log of crashed test runners', grade: 'relevant', reason: 'written only when a test process fails',
    matches: /\.dumpstream$|(?:^|\/)[^/]{1,200}-jvmRun\d{1,5}\.dump$/i },
  { what: 'crash report', grade: 'relevant', reason: 'written only when a process crashes',
    matches: new RegExp(
      String.raw`\.(?:crash|ips|stacktrace)$|(?:^|/)(?:core|crash)[-_.]?(?:dump|` +
      String.raw`report|log)[^/]{0,60}\.(?:txt|log)$`,
      'i',
    ) },
  { what: 'debug log of npm', grade: 'maybe', reason: 'npm writes one for every failed command',
    matches: /(?:^|\/)npm-debug\.log$|(?:^|\/)[\w-]{1,60}-debug-\d{1,3}\.log$/i },
];

/**
 * Returns what a file's name indicates, or null if it indicates nothing. The name never counts as a failure
 * that the text contradicts.
 */
export function readFileName(name: string): NamedAs | null {
  const end = name.slice(-MAX_NAME).replaceAll('\\', '/');
  const rule = RULES.find(({ matches }) => matches.test(end));
  return rule === undefined ? null : { what: rule.what, grade: rule.grade, reason: rule.reason };
}
