import { describe, expect, test } from 'vitest';
import { disableCaches, isCached, withoutCache } from '../../src/experiments/caches.ts';

const run = (output: string, milliseconds = 5_000, exitCode: number | null = 0) => ({
  output,
  milliseconds,
  exitCode,
  timedOut: false,
});

describe('a command without its cache', () => {
  test.each([
    ['go test ./...', 'go test -count=1 ./...'],
    ['/usr/local/go/bin/go test', '/usr/local/go/bin/go test -count=1'],
    ['go test -count=3 ./...', 'go test -count=3 ./...'],
    ['faketime -f @2026-01-01 go test ./...', 'faketime -f @2026-01-01 go test -count=1 ./...'],
    ['go vet ./...', 'go vet ./...'],
    ['bazel --bazelrc=ci test //...', 'bazel --bazelrc=ci test --nocache_test_results //...'],
    ['./gradlew check', './gradlew --rerun-tasks check'],
    ['gradle test --rerun', 'gradle test --rerun'],
    [
      'mvn -B verify',
      'mvn -Dmaven.build.cache.enabled=false -Ddevelocity.cache.local.enabled=false -Ddevelocity.cache.remote.enabled=false -B verify',
    ],
    ['npm test', 'npm test'],
    ['pytest -q', 'pytest -q'],
  ])('of %s is %s', (command, expected) => {
    expect(withoutCache(command.split(' ')).join(' ')).toBe(expected);
  });

  test('disables it by variables if a script starts the tool', () => {
    expect(disableCaches({ GOFLAGS: '-mod=vendor' })).toMatchObject({
      GOFLAGS: '-mod=vendor -count=1',
      TURBO_FORCE: 'true',
    });
    expect(disableCaches({}).GOFLAGS).toBe('-count=1');
    expect(disableCaches({ GOFLAGS: '-count=2' }).GOFLAGS).toBe('-count=2');
  });
});

describe('a run that ran no tests, or whose result is from a cache', () => {
  test.each([
    ['go', 'ok  \tshop\t0.003s\nok  \tshop/cart\t(cached)\n'],
    ['go in colors', 'ok  \tshop\t\u001b[2m(cached)\u001b[0m\n'],
    ['bazel', '//cart:cart_test    (cached) PASSED in 0.1s\n\nExecuted 0 out of 1 test: 1 test passes.\n'],
    ['pants', '✓ src/cart:tests succeeded in 1.20s (cached locally).\n'],
    ['gradle', '> Task :app:compileJava UP-TO-DATE\n> Task :app:test UP-TO-DATE\n\nBUILD SUCCESSFUL in 1s\n'],
    ['gradle before 4.8', ':testClasses UP-TO-DATE\n:test UP-TO-DATE\n\nBUILD SUCCESSFUL in 11s\n'],
    ['gradle, another task', '> Task :app:integrationTest FROM-CACHE\n'],
    ['gradle for Android', '> Task :app:testDebugUnitTest UP-TO-DATE\n'],
    ['maven', '[INFO] Skipping plugin execution (cached): surefire:test\n'],
    ['nx', '> nx run cart:test  [local cache]\n\n 3 passing\n'],
    ['turbo', 'cart:test: cache hit, replaying logs 0123456789abcdef\ncart:test: 3 passed\n'],
    ['make', "make: Nothing to be done for 'test'.\n"],
    ['jest', 'No tests found related to files changed since last commit.\n'],
    ['vitest', 'No test files found, exiting with code 0\n'],
    ['pytest-testmon', '============ 5 deselected in 0.02s ============\n'],
    ['docker', '#8 [build 3/4] COPY . .\n#8 DONE 0.1s\n\n#9 [test 4/4] RUN pytest\n#9 CACHED\n'],
  ])('is recognized by the output of %s', (_, output) => {
    expect(isCached(run(output))).toBe(true);
    expect(isCached(run(output, 5_000, 1))).toBe(false);
  });

  test.each([
    ['pytest', '============ 3 passed in 12.31s ============\n'],
    ['jest', 'Tests:       3 passed, 3 total\nTime:        12.3 s\n'],
    ['node --test', 'ℹ pass 3\nℹ duration_ms 12310.5\n'],
    ['a script of a package', 'cart:test: ok  \tshop\t12.310s\n'],
  ])('is recognized by a duration of %s that is longer than the real one', (_, output) => {
    expect(isCached(run(output, 900))).toBe(true);
    expect(isCached(run(output, 12_900))).toBe(false);
  });

  test.each([
    [
      'a build that was up to date before its tests',
      '> Task :compileTestJava UP-TO-DATE\n> Task :testClasses UP-TO-DATE\n> Task :test\n\nBUILD SUCCESSFUL in 1s\n',
    ],
    [
      'a package without tests beside one with',
      'No test files found, exiting with code 0\n Tests  3 passed (3)\n',
    ],
    ['a folder without tests', '?   \tshop/cmd\t[no test files]\nok  \tshop\t0.003s\n'],
    ['a subfolder of make', "make[1]: Nothing to be done for 'all'.\n3 passed\n"],
    ['a command without tests', 'All files are formatted.\n'],
    [
      'a Docker build that ran its last step',
      '#8 [test 3/4] RUN pip install pytest\n#8 CACHED\n\n#9 [test 4/4] RUN pytest\n#9 1.2 3 passed\n#9 DONE 2s\n',
    ],
    ['output that mentions a pause', 'retrying in 30s\n3 passed in 0.20s\n'],
  ])('is not %s', (_, output) => {
    expect(isCached(run(output, 900))).toBe(false);
  });
});
