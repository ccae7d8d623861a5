import { basename } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { CommandRun } from './run-command.ts';

interface Switch {
  /** The names of the program, without its folder. */
  readonly programs: readonly string[];
  /** The word after which the arguments are inserted. If absent, they follow the program. */
  readonly behind?: RegExp;
  readonly off: readonly string[];
  /** The arguments with which the cache of the tool is already off, or deliberately on. */
  readonly unless?: RegExp;
}

/**
 * The options with which each tool runs everything that its cache could answer. None of them changes which
 * tests are run.
 */
const SWITCHES: readonly Switch[] = [
  { programs: ['go'], behind: /^test$/, off: ['-count=1'], unless: /^--?(?:test\.)?count(?:=|$)/ },
  {
    programs: ['bazel', 'bazelisk'],
    behind: /^(?:test|coverage)$/,
    off: ['--nocache_test_results'],
    unless: /^(?:--(?:no)?cache_test_results|-t-)/,
  },
  { programs: ['gradle', 'gradlew'], off: ['--rerun-tasks'], unless: /^--rerun(?:-tasks)?$/ },
  {
    programs: ['mvn', 'mvnw', 'mvnd'],
    off: [
      '-Dmaven.build.cache.enabled=false',
      '-Ddevelocity.cache.local.enabled=false',
      '-Ddevelocity.cache.remote.enabled=false',
    ],
  },
];

/** The number of cached answers after which the command is not tried again. */
export const MAX_CACHED = 2;

/** The variables for tools that a script or a wrapper starts. */
const VARIABLES: NodeJS.ProcessEnv = {
  NX_SKIP_NX_CACHE: 'true',
  TURBO_FORCE: 'true',
  PANTS_TEST_FORCE: 'true',
  RUSH_BUILD_CACHE_ENABLED: '0',
  MOON_CACHE: 'off',
  WIREIT_CACHE: 'none',
};

/** Returns the command with options that turn off its cache. */
export function withoutCache(argv: readonly string[]): string[] {
  for (const { programs, behind, off, unless } of SWITCHES) {
    const program = argv.findIndex((word, at) => at < MAX_WORDS && programs.includes(basename(word)));
    const at =
      program === -1 || behind === undefined
        ? program
        : argv.findIndex((word, index) => index > program && behind.test(word));
    if (at !== -1)
      return argv.some((word) => unless?.test(word))
        ? [...argv]
        : [...argv.slice(0, at + 1), ...off, ...argv.slice(at + 1)];
  }
  return [...argv];
}

/**
 * The number of words among which the program is searched for. It may follow words such as `faketime -f @…`
 * and those that turn off the network.
 */
const MAX_WORDS = 24;

/**
 * Returns the variables that turn off the caches of tools that a script starts. Keeps the value of `GOFLAGS`
 * in the environment.
 */
export function disableCaches({ GOFLAGS = '' }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return {
    ...VARIABLES,
    GOFLAGS: /(?:^|\s)--?count=/.test(GOFLAGS) ? GOFLAGS : `${GOFLAGS} -count=1`.trim(),
  };
}

/** The lines that tools print if they return an earlier result instead of running. */
const ANSWERS: readonly RegExp[] = [
  // Go.
  /^ok\s+\S+\s+\(cached\)/,
  // Bazel, Pants.
  /^\/\/\S+\s+\(cached\) PASSED/,
  /^✓ \S+ succeeded\b.*\((?:cached|memoized)/,
  // Gradle, for tasks that run tests.
  new RegExp(
    String.raw`^(?:> Task )?:(?:[\w.-]+:)*(?!compile|process|generate|merge|kapt|ksp)(?:t|` +
      String.raw`\w*T)est\w*(?<!Classes|Resources) (?:UP-TO-DATE|FROM-CACHE)$`,
  ),
  // Maven's build cache, and Develocity's.
  new RegExp(
    String.raw`^\[INFO\] (?:Skipping plugin execution \(cached\): (?:surefire|failsafe)|` +
      'Found cached build, restoring|Loaded from the build cache)',
  ),
  // Nx, Turborepo, Rush, wireit.
  /\[(?:existing outputs match the cache|local cache|remote cache)|Nx read the output from the cache instead/,
  /\bcache hit(?: \(outputs already on disk\))?, (?:replaying|suppressing) logs|>>> FULL TURBO/,
  /was restored from the build cache\.|^✅ \[[^\]]+\] Already fresh|^♻️ \[[^\]]+\] Restored/u,
];

/**
 * The lines that tools print if they selected no test or found nothing to do. One of several packages may
 * also print them.
 */
const NOTHING = new RegExp(
  String.raw`^=* ?(?:no tests ran|\d+ deselected(?:, \d+ warnings?)?) in [\d.]+s|` +
    '^(?:No tests? (?:files? )?found|No tests executed!|No tests were found!!!|' +
    String.raw`0 examples, 0 failures)|^\s*0 passing\b|^(?:# |ℹ )tests 0$|` +
    String.raw`^(?:g?make(?:\[\d+\])?: (?:'[^'\n]*' is up to date\.|Nothing to be done for)|` +
    String.raw`ninja: no work to do\.|task: Task "[^"\n]*" is up to date)`,
);
const SOMETHING = new RegExp(
  String.raw`\b[1-9]\d* (?:passed|passing|examples?|tests?)\b|^(?:# |ℹ )pass [1-9]|` +
    String.raw`^ok\s+\S+\s+[\d.]+s|\bTests run: [1-9]|^Ran [1-9]|\bOK \([1-9]`,
);

/**
 * The total run times that tools report, in seconds or milliseconds. A script may put its name before the
 * line.
 */
const CLAIMS = new RegExp(
  String.raw`^(?:[\w@/.-]+:[\w:-]* )?(?:=+ .* in ([\d.]+)s\b.*=|ok\s+\S+\s+([\d.]+)s\b|` +
    String.raw`Time:\s+([\d.]+) s\b|\s*Duration\s+([\d.]+)s\b|(?:# |ℹ )duration_ms ([\d.]+)$|` +
    String.raw`test result: .*finished in ([\d.]+)s|Ran \d+ tests? in ([\d.]+)s|` +
    String.raw`Finished in ([\d.]+) seconds)`,
);
const MILLISECONDS_AT = 5;
/**
 * The factor by which the stated duration of a run must exceed the real one for its output to count as
 * repeated.
 */
const TIMES_LONGER = 2;
const MORE_MS = 1_000;
/**
 * The number of characters at the end of the output that are searched. Tools print their summary at the end.
 */
const MAX_LOOKED_AT = 1024 * 1024;
const MAX_LINE = 500;

/**
 * Checks whether a command passed without running its tests: its tool reports that a cache answered, that
 * there was nothing to do, or a longer run time than the real one. A command that failed did run.
 * `isNarrowed` excludes the case that no test was run because the selected ones do not exist.
 */
export function isCached({ exitCode, output, milliseconds }: CommandRun, isNarrowed = false): boolean {
  if (exitCode !== 0) return false;
  const lines = stripVTControlCharacters(output.slice(-MAX_LOOKED_AT)).split('\n');
  const short = lines.filter((line) => line.length <= MAX_LINE);
  const says = (pattern: RegExp) => short.some((line) => pattern.test(line));
  const hasRunNothing = !isNarrowed && says(NOTHING) && !says(SOMETHING);
  return hasRunNothing || ANSWERS.some(says) || isReplayed(short, milliseconds) || isDockerCached(short);
}

function isReplayed(lines: readonly string[], milliseconds: number): boolean {
  return lines.some((line) => {
    const match = CLAIMS.exec(line);
    if (match === null) return false;
    const at = match.findIndex((group, index) => index > 0 && group !== undefined);
    const claimed = Number(match[at]) * (at === MILLISECONDS_AT ? 1 : 1_000);
    return claimed > TIMES_LONGER * milliseconds + MORE_MS;
  });
}

/** Checks whether the last RUN of an image build came from its cache. A test stage ends with such a step. */
function isDockerCached(lines: readonly string[]): boolean {
  const step = lines.flatMap((line) => /^#(\d{1,6}) \[.*\] RUN /.exec(line)?.[1] ?? []).at(-1);
  return step !== undefined && lines.includes(`#${step} CACHED`);
}
