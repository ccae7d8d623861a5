import { describe, expect, test } from 'vitest';
import type { FailingTest } from '../../src/domain/failure.ts';
import { seedCommand } from '../../src/experiments/conditions.ts';
import { narrow, testList } from '../../src/experiments/narrow.ts';

const SHOP = { folder: '/shop', cwd: '/shop' };
const failing = (framework: string, name: string, more: Partial<FailingTest> = {}): FailingTest => ({
  framework,
  name,
  suite: null,
  file: null,
  line: null,
  message: null,
  expected: null,
  actual: null,
  at: null,
  ...more,
});

test('a quiet command gets options that print the tests it ran', () => {
  const narrowed = narrow(['mvn', '-q', 'test'], [failing('maven', 'adds', { suite: 'CartTest' })], SHOP);
  expect(narrowed?.argv).toEqual(['mvn', 'test', '-Dtest=CartTest#adds']);
});

describe('a command is narrowed to its failing tests', () => {
  test.each([
    [
      'pytest -q',
      failing('pytest', 'test_bell', { file: 'tests/test_bell.py' }),
      ['tests/test_bell.py::test_bell'],
    ],
    [
      'python -m pytest',
      failing('pytest', 'test_a', { file: 't.py', suite: 'TestA' }),
      ['t.py::TestA::test_a'],
    ],
    [
      'npx vitest run',
      failing('vitest', 'adds (2)', { suite: 'cart', file: 'cart.test.ts' }),
      ['cart.test.ts', '-t', '^cart adds \\(2\\)$'],
    ],
    ['npx jest', failing('jest', 'adds', { suite: 'shop › cart' }), ['-t', '^shop cart adds$']],
    ['npm test', failing('jest', 'adds', { file: 'a.test.js' }), ['--', 'a.test.js', '-t', '^adds$']],
    ['npm test -- --ci', failing('jest', 'adds'), ['-t', '^adds$']],
    ['cargo test -- --test-threads=1', failing('cargo', 'tests::adds'), ['--exact', 'tests::adds']],
    ['cargo test', failing('cargo', 'tests::adds'), ['--', '--exact', 'tests::adds']],
    ['./mvnw verify', failing('maven', 'adds', { suite: 'shop.CartTest' }), ['-Dtest=shop.CartTest#adds']],
    [
      './gradlew test',
      failing('maven', 'adds', { suite: 'shop.CartTest' }),
      ['--tests', 'shop.CartTest.adds'],
    ],
    ['bundle exec rspec', failing('rspec', 'Cart adds'), ['-e', 'Cart adds']],
    ['vendor/bin/phpunit', failing('phpunit', 'adds'), ['--filter', '/(adds)$/']],
    ['ctest --output-on-failure', failing('ctest', 'gauge'), ['-R', '^gauge$']],
    [
      'npx playwright test',
      failing('playwright', 'buys', { file: 'buy.spec.ts' }),
      ['buy.spec.ts', '--grep', 'buys'],
    ],
    ['npx mocha', failing('mocha', 'adds', { suite: 'cart' }), ['--grep', '^cart adds$']],
    [
      'python -m unittest',
      failing('unittest', 'test_a', { suite: 'tests.test_a.ATest' }),
      ['tests.test_a.ATest.test_a'],
    ],
  ])('%s', (command, one, args) => {
    const argv = command.split(' ');
    expect(narrow(argv, [one], SHOP)?.argv).toEqual([...argv, ...args]);
  });

  test('also if the tool requires its filter before the files', () => {
    expect(narrow(['go', 'test', './...'], [failing('go', 'TestOf/three')], SHOP)?.argv).toEqual([
      'go',
      'test',
      '-count=1',
      '-v',
      '-run',
      '^(TestOf)$',
      './...',
    ]);
    expect(narrow(['node', '--test', 'test/a.test.js'], [failing('tap', 'adds')], SHOP)?.argv).toEqual([
      'node',
      '--test',
      '--test-name-pattern=^adds$',
      'test/a.test.js',
    ]);
  });

  test('but not by a name that is an option or contains control characters, nor for an unknown tool', () => {
    for (const name of ['--config=evil.js', '-exec', 'a\nb', 'a\u001bb', 'x'.repeat(600)]) {
      expect(narrow(['pytest'], [failing('pytest', name, { file: 'a.py' })], SHOP)).toBeNull();
      expect(narrow(['cargo', 'test'], [failing('cargo', name)], SHOP)).toBeNull();
    }
    expect(narrow(['pytest'], [failing('pytest', 'test_a', { file: '--rootdir=/' })], SHOP)).toBeNull();
    expect(
      narrow(['python', '-m', 'unittest'], [failing('unittest', 'test_a', { suite: '../evil.py' })], SHOP),
    ).toBeNull();
    expect(narrow(['make', 'check'], [failing('pytest', 'test_a', { file: 'a.py' })], SHOP)).toBeNull();
    expect(narrow(['pytest'], [], SHOP)).toBeNull();
  });
});

describe('a file that a log names is an argument only in the worktree', () => {
  const cwd = '/shop/web';
  test.each([
    ['tests/test_a.py', 'tests/test_a.py'],
    ['../lib/test_a.py', '../lib/test_a.py'],
    ['/shop/web/test_a.py', 'test_a.py'],
    ['a/../../lib/test_a.py', '../lib/test_a.py'],
    ['../../outside/test_evil.py', null],
    ['/outside/test_evil.py', null],
    ['/shopping/test_evil.py', null],
    ['../..', null],
    ['/shop/web', null],
    ['/shop/web/-p/test_a.py', null],
    ['/shop/web/@options', null],
  ])('%s', (file, argument) => {
    const place = { folder: '/shop', cwd };
    const pytest = narrow(['pytest'], [failing('pytest', 'test_a', { file })], place)?.argv ?? null;
    expect(pytest).toEqual(argument === null ? null : ['pytest', `${argument}::test_a`]);
    for (const program of ['vitest', 'jest', 'playwright'])
      expect(narrow([program], [failing(program, 'a', { file })], place)?.argv.slice(1, -2)).toEqual(
        argument === null ? [] : [argument],
      );
  });
});

describe('the tests of a command are listed in their order', () => {
  const named = (command: string, output: string) => {
    const list = testList(command.split(' '));
    return [
      list?.argv.join(' '),
      ...(list?.read(output, '/shop') ?? []).map(({ file, suite, name }) => [file, suite, name]),
    ];
  };

  test.each<[string, string, unknown[]]>([
    [
      'pytest -q',
      't/a.py::TestX::test_one\nt/a.py::test_p[a b]\nt/a.py::test_p[c::d]\n\n3 tests collected in 0.00s\n',
      [
        'pytest -q --collect-only --verbosity=-1',
        ['t/a.py', 'TestX', 'test_one'],
        ['t/a.py', null, 'test_p[a b]'],
        ['t/a.py', null, 'test_p[c::d]'],
      ],
    ],
    [
      'npx vitest run a',
      'warning\n[\n{"name":"shop > cart > adds","file":"/shop/a.test.ts"}\n]\n',
      ['npx vitest list a --json', ['a.test.ts', 'shop > cart', 'adds']],
    ],
    ['npx vitest', 'no list', ['npx vitest list --json']],
    [
      'go test ./...',
      'TestA\nExampleB\nok  \tshop\t0.002s\n',
      ['go test -list . ./...', [null, null, 'TestA'], [null, null, 'ExampleB']],
    ],
    [
      'cargo test',
      'tests::a: test\nb: benchmark\n\n1 tests\n',
      ['cargo test -- --list', [null, null, 'tests::a']],
    ],
  ])('%s', (command, output, found) => {
    expect(named(command, output)).toEqual(found);
  });

  test('but not by tools that cannot list them', () => {
    expect(testList(['make', 'check'])).toBeNull();
    expect(testList(['npx', 'mocha'])).toBeNull();
  });
});

test('a file that crashed under node --test is not selected by a pattern', () => {
  expect(narrow(['node', '--test'], [failing('node', 'adds', { file: 'a.test.js' })], SHOP)?.argv).toContain(
    '--test-name-pattern=^adds$',
  );
  expect(narrow(['node', '--test'], [failing('node', 'test/a.test.js')], SHOP)).toBeNull();
});

test('a script gets the filter of the tool whose tests failed, and none if the tool is unknown', () => {
  expect(narrow(['npm', 'test'], [failing('node-test', 'adds')], SHOP)?.argv).toEqual([
    'npm',
    'test',
    '--',
    '--test-name-pattern=^adds$',
  ]);
  expect(narrow(['npm', 'test'], [failing('tests', 'adds')], SHOP)).toBeNull();
});

describe('the seed of a command', () => {
  test.each([
    [['pytest', '-q'], 'PYTHONHASHSEED=7', ['pytest', '-q']],
    [['npx', 'jest'], '--seed=7', ['npx', 'jest', '--seed=7']],
    [
      ['node_modules/.bin/vitest', 'run'],
      '--sequence.seed=7',
      ['node_modules/.bin/vitest', 'run', '--sequence.seed=7'],
    ],
    [['npx', 'mocha'], '--v8-random-seed=7', ['npx', 'mocha', '--v8-random-seed=7']],
    [['node', '--test', 'a.js'], '--random-seed=7', ['node', '--random-seed=7', '--test', 'a.js']],
    [['go', 'test', './...'], '-shuffle=7', ['go', 'test', '-shuffle=7', './...']],
    [['bundle', 'exec', 'rspec'], '--seed=7', ['bundle', 'exec', 'rspec', '--seed=7']],
    [
      ['vendor/bin/phpunit'],
      '--order-by=random --random-order-seed=7',
      ['vendor/bin/phpunit', '--order-by=random', '--random-order-seed=7'],
    ],
    [
      ['mvn', 'test'],
      '-Dsurefire.runOrder=random -Dsurefire.runOrder.random.seed=18581050327',
      ['mvn', 'test', '-Dsurefire.runOrder=random', '-Dsurefire.runOrder.random.seed=18581050327'],
    ],
  ])('is %j', (argv, name, expected) => {
    expect(seedCommand(argv, '', 7)).toMatchObject({ name, argv: expected });
  });

  test('is that of a plugin if the output of a run shows the plugin', () => {
    expect(seedCommand(['pytest'], 'Using --randomly-seed=1234\n', 7)?.argv).toEqual([
      'pytest',
      '--randomly-seed=7',
    ]);
    expect(seedCommand(['pytest'], 'Using --random-order-seed=1234\n', 7)?.argv).toEqual([
      'pytest',
      '--random-order-seed=7',
    ]);
  });

  test.each([[['cargo', 'test']], [['gradle', 'test']], [['ctest']], [['npm', 'test']]])(
    'is unknown for %j',
    (argv) => {
      expect(seedCommand(argv, '', 7)).toBeNull();
    },
  );
});
