import type { FileGrade } from '../../domain/reading.ts';

/** What a file's name alone says. */
export interface NamedAs {
  readonly what: string;
  readonly grade: FileGrade;
  readonly reason: string;
}

interface NameRule extends NamedAs {
  readonly matches: RegExp;
}

/** Longest name that rules look at, from its end, in characters. */
const MAX_NAME = 300;

const PICTURE = 'a picture says nothing that can be read here';
const PRODUCT = 'a product of the build, not what it said';

/** The first that matches counts. All of them match names of at most 300 characters. */
const RULES: readonly NameRule[] = [
  {
    what: 'list or content of installed packages',
    grade: 'skip',
    reason: 'what is installed is no failure',
    matches: /(?:^|\/)(?:node_modules|\.venv|site-packages|vendor\/bundle|\.m2|\.gradle\/caches)(?:\/|[^/]{0,40}\.(?:txt|json|log)$)/i,
  },
  {
    what: 'list of installed packages',
    grade: 'skip',
    reason: 'what is installed is no failure',
    matches:
      /(?:^|\/)(?:package-lock\.json|yarn\.lock|pnpm-lock\.yaml|pip-?freeze[^/]{0,40}|npm-?ls[^/]{0,40}|dependency-tree[^/]{0,40}|(?:s?bom|cyclonedx|spdx)[^/]{0,40}\.(?:json|xml))$/i,
  },
  {
    what: 'coverage data',
    grade: 'skip',
    reason: 'coverage says what ran, not what failed',
    matches:
      /(?:^|\/)(?:[^/]{0,60}coverage|lcov|jacoco|cobertura|clover|htmlcov)(?:[^/]{0,80}$|\/)|\.(?:lcov|gcov|gcda|gcno|profraw|exec)$/i,
  },
  { what: 'picture', grade: 'skip', reason: PICTURE, matches: /\.(?:png|jpe?g|gif|webp|bmp|ico|svg|tiff?)$/i },
  { what: 'recording', grade: 'skip', reason: PICTURE, matches: /\.(?:mp4|webm|mkv|avi|mov|har)$/i },
  {
    what: 'program or package',
    grade: 'skip',
    reason: PRODUCT,
    matches:
      /\.(?:jar|war|ear|class|o|a|so|dll|exe|pdb|dylib|wasm|whl|egg|nupkg|deb|rpm|apk|aab|ipa|dmg|msi|pyc|bin|node|map|min\.js|d\.ts)$/i,
  },
  {
    what: 'web page or its parts',
    grade: 'skip',
    reason: 'a page for people; its data is elsewhere',
    matches: /\.(?:html?|css|js|mjs|woff2?|ttf|eot)$/i,
  },
  {
    what: 'memory image',
    grade: 'skip',
    reason: 'a memory image needs a debugger',
    matches: /\.(?:hprof|heapsnapshot|dmp|mdmp)$|(?:^|\/)core(?:\.\d{1,10})?$/i,
  },
  {
    what: 'JVM crash report',
    grade: 'relevant',
    reason: 'the JVM writes it only when it crashes',
    matches: /(?:^|\/)hs_err_pid\d{1,10}\.log$/i,
  },
  {
    what: 'log of crashed test runners',
    grade: 'relevant',
    reason: 'written only when a test process fails',
    matches: /\.dumpstream$|(?:^|\/)[^/]{1,200}-jvmRun\d{1,5}\.dump$/i,
  },
  {
    what: 'crash report',
    grade: 'relevant',
    reason: 'written only when a process crashes',
    matches: /\.(?:crash|ips|stacktrace)$|(?:^|\/)(?:core|crash)[-_.]?(?:dump|report|log)[^/]{0,60}\.(?:txt|log)$/i,
  },
  {
    what: 'debug log of npm',
    grade: 'maybe',
    reason: 'npm writes one for every failed command',
    matches: /(?:^|\/)npm-debug\.log$|(?:^|\/)[\w-]{1,60}-debug-\d{1,3}\.log$/i,
  },
];

/** What the name says, or null where it says nothing. A name is never proof of a failure that its text denies. */
export function namedAs(name: string): NamedAs | null {
  const end = name.slice(-MAX_NAME).replaceAll('\\', '/');
  const rule = RULES.find(({ matches }) => matches.test(end));
  return rule === undefined ? null : { what: rule.what, grade: rule.grade, reason: rule.reason };
}
