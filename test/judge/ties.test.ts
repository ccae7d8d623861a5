import { describe, expect, test } from 'vitest';
import { classify } from './subject.ts';

const FAILED_TEST = `============================= test session starts ==============================
tests/test_scales.py::test_weighs_an_empty_basket FAILED                 [100%]

=================================== FAILURES ===================================
_________________________ test_weighs_an_empty_basket __________________________

    def test_weighs_an_empty_basket():
>       assert weigh(None) == 0

tests/test_scales.py:7:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

    def weigh(basket):
>       return sum(fruit.grams for fruit in basket.fruits)
E       AttributeError: 'NoneType' object has no attribute 'fruits'

src/scales.py:4: AttributeError
=========================== short test summary info ============================
FAILED tests/test_scales.py::test_weighs_an_empty_basket - AttributeError: 'NoneType' object has no attribute 'fruits'
============================== 1 failed in 0.05s ===============================
`;

describe('the tie-breaking rules between categories', () => {
  test('1: an attribute of None read inside a test run is a code error', () => {
    const found = classify(FAILED_TEST);
    expect(found).toMatchObject({ category: 'CODE_ERROR', kind: 'null_reference', abstained: false });
    expect(found.because).toContain('tie-1');
  });

  test('1: a failed assertion remains a test failure', () => {
    const found = classify(
      FAILED_TEST.replaceAll(
        "AttributeError: 'NoneType' object has no attribute 'fruits'",
        'AssertionError: assert 3 == 0',
      ),
    );
    expect(found.category).toBe('TEST_FAILURE');
  });

  test('2: a refusal by a service of the job is a configuration error', () => {
    const found = classify(
      'Error: connect ECONNREFUSED 127.0.0.1:5432\n    at TCPConnectWrap.afterConnect (node:net:1611:16)\nexit status 1\n',
    );
    expect(found.category).toBe('CONFIG_ERROR');
    expect(found.because).toContain('tie-2-refused-by-own-service');
  });

  test('2: a refusal by a service container named like a host is a configuration error', () => {
    expect(
      classify('redis.exceptions.ConnectionError: Error 111 connecting to redis:6379. Connection refused.\n')
        .category,
    ).toBe('CONFIG_ERROR');
  });

  test('2: a refusal by another party is an infrastructure error', () => {
    const found = classify(
      'curl: (7) Failed to connect to mirror.fruit.example.org:443: Connection refused\n',
    );
    expect(found.category).toBe('INFRA_ERROR');
  });

  test('3: a missing module of the project is a code error', () => {
    const found = classify(
      "Error: Cannot find module './basket'\nRequire stack:\n- /home/runner/work/scales/scales/src/index.js\n",
    );
    expect(found).toMatchObject({ category: 'CODE_ERROR' });
    expect(found.because).toContain('tie-3-own-module-missing');
  });

  test('3: a missing mapped path is a configuration error', () => {
    expect(classify("Error: Cannot find module '@/basket'\n").category).toBe('CONFIG_ERROR');
  });

  test('3: a missing package is a dependency error', () => {
    expect(classify("Error: Cannot find module 'left-weight'\n")).toMatchObject({
      category: 'DEPENDENCY_ERROR',
      kind: 'missing_module',
    });
    expect(classify("ModuleNotFoundError: No module named 'pomology'\n").category).toBe('DEPENDENCY_ERROR');
  });

  const COMPILE =
    "src/scales.ts(4,7): error TS2339: Property 'grams' does not exist on type 'Basket'.\n##[error]Process completed with exit code 2.\n";

  test('4: a compile error on a branch that upgrades a dependency is a dependency error', () => {
    const found = classify(COMPILE, { branch: 'dependabot/npm_and_yarn/basket-3.0.0' });
    expect(found.category).toBe('DEPENDENCY_ERROR');
    expect(found.because).toContain('tie-4-upgrade-broke-its-users');
  });

  test('4: a compile error without a sign of an upgrade is a code error', () => {
    expect(classify(COMPILE, { branch: 'main' })).toMatchObject({
      category: 'CODE_ERROR',
      kind: 'type_error',
    });
  });

  test('4: an error inside an installed package is a dependency error', () => {
    const found = classify("node_modules/basket/index.d.ts(9,3): error TS2304: Cannot find name 'Pear'.\n");
    expect(found.category).toBe('DEPENDENCY_ERROR');
  });

  test('5: the response of a registry decides', () => {
    const npm = (status: string) =>
      classify(
        `npm error code E${status.slice(0, 3)}\nnpm error ${status} - GET https://registry.fruit.example.org/basket\n`,
      );
    expect(npm('404 Not Found').category).toBe('DEPENDENCY_ERROR');
    expect(npm('401 Unauthorized').category).toBe('CONFIG_ERROR');
    expect(npm('403 Forbidden').category).toBe('CONFIG_ERROR');
    expect(npm('503 Service Unavailable').category).toBe('INFRA_ERROR');
    expect(npm('429 Too Many Requests')).toMatchObject({ category: 'INFRA_ERROR', kind: 'rate_limited' });
  });

  test('6: the word flaky does not imply an infrastructure failure', () => {
    const found = classify(
      `${FAILED_TEST.replaceAll("AttributeError: 'NoneType' object has no attribute 'fruits'", 'AssertionError: assert 3 == 0')}flaky test, connection timed out once before\n`,
    );
    expect(found.category).toBe('TEST_FAILURE');
  });

  test('7: too little evidence leads to abstaining, with less than one half', () => {
    for (const log of [
      '',
      'step 1\nstep 2\nFinished: FAILURE\n',
      '##[error]Process completed with exit code 1.\n',
    ]) {
      const found = classify(log);
      expect(found.abstained).toBe(true);
      expect(found.confidence).toBeLessThan(0.5);
    }
  });
});

describe('an infrastructure error', () => {
  const ASSERTION = FAILED_TEST.replaceAll(
    "AttributeError: 'NoneType' object has no attribute 'fruits'",
    'AssertionError: assert 3 == 0',
  );

  test.each([
    ['a dropped connection', 'warning: request failed\nConnection reset by peer\n'],
    ['a full disk', 'cp: error writing cache: No space left on device\n'],
    ['a server error', 'HTTP 503 Service Unavailable\n'],
  ])('requires that there is no failed assertion next to %s', (_name, noise) => {
    expect(classify(`${noise}${ASSERTION}`).category).toBe('TEST_FAILURE');
  });

  test('requires that there is no compile error next to a timeout', () => {
    const log =
      "Connection timed out\nsrc/scales.c:4:9: error: use of undeclared identifier 'grams'\nmake: *** [Makefile:3: scales.o] Error 1\n";
    expect(classify(log).category).toBe('CODE_ERROR');
  });

  test('requires that there is no exception of the product next to it', () => {
    const log = `Read timed out\nTraceback (most recent call last):\n  File "/home/runner/work/scales/scales/src/scales.py", line 4, in weigh\n    return fruits["pear"]\nKeyError: 'pear'\n`;
    expect(classify(log).category).toBe('CODE_ERROR');
  });

  test('is right if nothing contradicts it', () => {
    expect(classify('E: Write error - write (28: No space left on device)\n')).toMatchObject({
      category: 'INFRA_ERROR',
      kind: 'disk_full',
    });
    expect(classify('The hosted runner lost communication with the server.\n')).toMatchObject({
      category: 'INFRA_ERROR',
      kind: 'runner_lost',
    });
  });

  test('is a full disk, even if files are missing because of it', () => {
    const log =
      "bash: line 4: basket.json: No space left on device\nmv: cannot stat 'basket.json': No such file or directory\n";
    expect(classify(log).category).toBe('INFRA_ERROR');
  });

  const thrown = (
    said: string,
    frame: string,
  ) => `[ERROR] shop.CartLoaderTest.loads -- Time elapsed: 3.9 s <<< ERROR!
${said}
\tat java.base/java.util.Arrays.copyOf(Arrays.java:3512)
${frame}
\tat shop.CartLoaderTest.loads(CartLoaderTest.java:21)

[ERROR] Tests run: 3, Failures: 0, Errors: 1, Skipped: 0
##[error]Process completed with exit code 1.
`;
  const FRAME = '\tat shop.CartLoader.load(CartLoader.java:88)';
  const inPython = (said: string) =>
    FAILED_TEST.replaceAll("AttributeError: 'NoneType' object has no attribute 'fruits'", said);
  test.each([
    [
      'Java heap space in a JUnit test',
      thrown('java.lang.OutOfMemoryError: Java heap space', FRAME),
      'out_of_memory',
    ],
    [
      'native threads',
      thrown('java.lang.OutOfMemoryError: unable to create native thread', FRAME),
      'out_of_memory',
    ],
    [
      'MemoryError in pytest',
      inPython('MemoryError: Unable to allocate 3.2 GiB for an array'),
      'out_of_memory',
    ],
    ['a full disk in pytest', inPython('OSError: [Errno 28] No space left on device'), 'disk_full'],
    ['descriptors in pytest', inPython('OSError: [Errno 24] Too many open files'), 'descriptor_limit'],
    [
      'descriptors in JUnit',
      thrown('java.net.SocketException: Too many open files', FRAME),
      'descriptor_limit',
    ],
  ])("14: is %s, also in the project's own stack trace", (_what, log, kind) => {
    expect(classify(log)).toMatchObject({ category: 'INFRA_ERROR', kind, abstained: false });
  });

  test.each([
    ['more than any machine has', 'java.lang.OutOfMemoryError: Requested array size exceeds VM limit', FRAME],
    ['a recursion', 'java.lang.OutOfMemoryError: Java heap space', `${FRAME}\n`.repeat(6).trimEnd()],
  ])('14: is not published for code that requests unlimited memory: %s', (_what, said, frames) => {
    const { category, confidence } = classify(thrown(said, frames));
    expect(category === 'CODE_ERROR' || confidence < 0.65).toBe(true);
  });

  test('14: does not replace a failed assertion if the log mentions a full disk elsewhere', () => {
    const log = inPython('AssertionError: assert 3 == 0');
    expect(classify(`warning: cache not written: No space left on device\n${log}`).category).toBe(
      'TEST_FAILURE',
    );
  });
});
