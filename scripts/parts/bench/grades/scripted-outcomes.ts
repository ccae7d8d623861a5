import type { Category } from '../../../../src/domain/category.ts';
import type { Failure } from '../../../../src/domain/failure.ts';
import { type FileRole, findFileRole } from '../../../../src/domain/file-role.ts';
import type { ChangedPath, Outcome } from '../../../../src/domain/outcome.ts';

/** A failure with its log and its true category. */
export interface ScriptedFailure {
  readonly log: string;
  readonly truth: { readonly category: Category };
}

/** The shares of failures that end in another way than by a plain fix. */
const [NEVER_GREEN, SKIPPED, SQUASHED, BY_CHANCE] = [0.15, 0.04, 0.08, 0.3];
const HOUR_MS = 3_600_000;
const BEGIN_MS = Date.UTC(2026, 9, 5);

/**
 * Creates an outcome of a failure from its truth, independently of the answer. A transient failure passes
 * again. Others are fixed in a file that the log names if there is one of the right kind, or else in another.
 * Returns null for a branch that never passes again.
 */
export function makeOutcome(
  { log, truth: { category } }: ScriptedFailure,
  failures: readonly Failure[],
  draw: () => number,
): Outcome | null {
  const fate = draw();
  if (fate < NEVER_GREEN) return null;
  const isTransient = category === 'INFRA_ERROR';
  const isByChance = isTransient && fate > 1 - BY_CHANCE;
  const isSkipped = !isTransient && fate < NEVER_GREEN + SKIPPED;
  const isSquashed = !isTransient && fate < NEVER_GREEN + SKIPPED + SQUASHED;
  const mended = isSkipped ? [skip()] : mend(category, log, draw);
  const files = isByChance
    ? [modify(`src/other-${Math.floor(draw() * 90)}.ts`)]
    : isSquashed && !isSkipped
      ? [...mended, ...Array.from({ length: 20 }, (_, at) => modify(`src/part-${at}.ts`))]
      : mended;
  const isAgain = isTransient && !isByChance;
  const times = draw() < 0.3 ? 2 : 1;
  const time = (hours: number) => new Date(BEGIN_MS + hours * HOUR_MS).toISOString();
  const build = { pipeline: 'ci', attempt: 1, url: null, author: 'Ada' };
  const red = { ...build, id: 'red', number: '2', commit: 'a'.repeat(40), receivedAt: time(times) };
  const green = { ...build, id: 'green', number: '3', commit: 'b'.repeat(40), receivedAt: time(times + 1) };
  const commit = { commit: green.commit, subject: 'Mend the build', author: 'Ada' };
  return {
    red,
    green: isAgain ? { ...green, number: '2', attempt: 2, commit: red.commit } : green,
    times,
    since: time(0),
    failedAgain: 0,
    isRebuiltPullRequest: false,
    clocksDisagree: false,
    change: isAgain ? null : { commits: [commit], files, truncated: false, isRewritten: false },
    tests: failures.flatMap(({ test }) =>
      test === null ? [] : ([isSkipped ? 'skipped' : 'passed'] as const),
    ),
    others: [],
  };
}

const CODE =
  /[\w@.-]+(?:\/[\w@.-]+)*\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|rb|php|cs|c|cc|cpp|h|swift|scala|ex|exs|sh|vue|css|scss|hs|lua|pl|dart)\b/g;
const SETTINGS = /[\w@.-]+(?:\/[\w@.-]+)*\.(?:ya?ml|toml|ini|cfg|conf|tf|properties|xml)\b/g;
const MANIFESTS: readonly (readonly [RegExp, string])[] = [
  [/npm|yarn|pnpm|node/i, 'package.json'],
  [/cargo|rustc/i, 'Cargo.lock'],
  [/\bgo\b.*\bmod|go:/i, 'go.mod'],
  [/bundle|gem/i, 'Gemfile.lock'],
  [/composer/i, 'composer.lock'],
];

function mend(category: Category, log: string, draw: () => number): ChangedPath[] {
  const list = (pattern: RegExp, role: FileRole) =>
    (log.match(pattern) ?? []).filter(
      (path) =>
        !/node_modules|site-packages|^\.+$|^node:/.test(path) && findFileRole({ path, patch: null }) === role,
    );
  const choose = (paths: readonly string[], otherwise: string) =>
    modify(paths[Math.floor(draw() * Math.min(2, paths.length))] ?? otherwise);
  switch (category) {
    case 'CODE_ERROR':
      return [choose(list(CODE, 'code'), 'src/elsewhere.ts')];
    case 'TEST_FAILURE':
      return draw() < 0.5
        ? [choose(list(CODE, 'test'), 'test/some.test.ts')]
        : [choose(list(CODE, 'code'), 'src/elsewhere.ts')];
    case 'DEPENDENCY_ERROR': {
      const path = MANIFESTS.find(([pattern]) => pattern.test(log))?.[1] ?? 'requirements.txt';
      const [name = 'left-pad'] = log.match(/[a-z][\w-]{4,30}(?=[@=<>~^ ]{1,3}\d)/) ?? [];
      return [modify(path, `@@ -3,1 +3,1 @@\n-    "${name}": "^2.0.0",\n+    "${name}": "^1.4.0",`)];
    }
    case 'CONFIG_ERROR':
      return [choose(list(SETTINGS, 'settings'), '.github/workflows/ci.yml')];
    case 'INFRA_ERROR':
      return [];
  }
}

function modify(path: string, patch = '@@ -1,1 +1,1 @@\n-before\n+after'): ChangedPath {
  return { path: path.replace(/^\.?\//, ''), previousPath: null, status: 'modified', patch };
}

function skip(): ChangedPath {
  return modify('test/some.test.ts', "@@ -1,1 +1,1 @@\n-it('works'\n+it.skip('works'");
}
