import { describe, expect, test } from 'vitest';
import { composeAnswer } from '../../src/judge/answer.ts';
import { rankSuspects } from '../../src/judge/suspects.ts';
import { createInsight, createSubject } from './subject.ts';

function listSuspectsIn(...lines: string[]) {
  return composeAnswer(createInsight(lines.join('\n'))).suspects;
}

function listPaths(...lines: string[]): string[] {
  return listSuspectsIn(...lines).map(({ path }) => path);
}

const RUNNER = [
  '\tat sun.reflect.NativeMethodAccessorImpl.invoke0(Native Method)',
  '\tat java.lang.reflect.Method.invoke(Method.java:498)',
  '\tat junit.framework.TestCase.runTest(TestCase.java:176)',
  '\tat org.apache.tools.ant.taskdefs.optional.junit.JUnitTestRunner.run(JUnitTestRunner.java:520)',
];

test("a report in a hidden folder of the home is not a suspect, but a file in a runner's checkout there is", () => {
  expect(
    listPaths('/home/ann/.npm/_logs/2026-11-21T22_48_50_492Z-eresolve-report.txt:3: error: cannot resolve'),
  ).toEqual([]);
  expect(
    listPaths('/home/ann/.cache/act/9f8e7d6c5b4a/hostexecutor/src/price.c:3:5: error: expected expression'),
  ).toEqual(['src/price.c']);
});

test.each(['reports/junit.xml', 'build/test-results/shop.xml', 'junit-node.xml'])(
  'the report %s that the failed command writes is not a suspect',
  (path) => {
    expect(
      listPaths(`+ node --test --test-reporter-destination=${path}`, 'script returned exit code 1'),
    ).toEqual([]);
  },
);

describe('suspects from a stack trace alone', () => {
  test('include a library that is under test, but not its test runner', () => {
    const paths = listPaths(
      'java.lang.NullPointerException',
      '\tat org.apache.commons.basket.Weights.total(Weights.java:36)',
      '\tat org.apache.commons.basket.WeightsTest.testTotal(WeightsTest.java:12)',
      ...RUNNER,
    );
    expect(paths).toEqual([
      'org/apache/commons/basket/Weights.java',
      'org/apache/commons/basket/WeightsTest.java',
    ]);
  });

  test('give both reasons for a frame that the test is named after', () => {
    const [first] = listSuspectsIn(
      'java.lang.NullPointerException',
      '\tat shop.orders.Cart.total(Cart.java:36)',
      '\tat shop.orders.CartTest.totals(CartTest.java:12)',
      ...RUNNER,
    );
    expect(first).toMatchObject({
      line: 36,
      reason: 'innermost project frame in the stack trace, and the failing test is named after it',
    });
  });

  test('exclude a library in the trace of another project', () => {
    const paths = listPaths(
      'java.lang.IllegalStateException: no rows',
      '\tat com.zaxxer.pool.Lease.take(Lease.java:9)',
      '\tat org.apache.commons.basket.Weights.total(Weights.java:36)',
      '\tat shop.orders.Cart.weigh(Cart.java:20)',
      '\tat shop.orders.CartTest.weighs(CartTest.java:8)',
      ...RUNNER,
    );
    expect(paths).toEqual(['shop/orders/Cart.java', 'shop/orders/CartTest.java']);
  });

  test('begin with the source file of a test if only the test is in the trace, by the path of its package', () => {
    const [first, second] = listSuspectsIn(
      'junit.framework.AssertionFailedError: expected:<10> but was:<9>',
      '\tat junit.framework.Assert.fail(Assert.java:57)',
      '\tat shop.orders.TestCart.testTotal(TestCart.java:47)',
      ...RUNNER,
    );
    expect(first).toMatchObject({
      path: 'shop/orders/Cart.java',
      line: null,
      reason: 'the failing test is named after it',
    });
    expect(second).toMatchObject({ path: 'shop/orders/TestCart.java', line: 47 });
    expect(first?.score).toBeGreaterThan(second?.score ?? 1);
  });

  test('do not treat a class called Spec as a test in Java', () => {
    const paths = listPaths(
      'junit.framework.AssertionFailedError: expected:<10> but was:<9>',
      '\tat junit.framework.Assert.fail(Assert.java:57)',
      '\tat shop.code.TypeSpecTest.basic(TypeSpecTest.java:39)',
    );
    expect(paths).toEqual(['shop/code/TypeSpec.java', 'shop/code/TypeSpecTest.java']);
  });

  test('place nested classes and lambdas in the file of the outer class', () => {
    const [first] = listPaths(
      'java.lang.IllegalStateException: closed',
      '\tat shop.orders.Cart$Line.price(Cart.java:80)',
      '\tat shop.orders.Cart.lambda$sum$0(Cart.java:31)',
      '\tat shop.orders.CartTest.sums(CartTest.java:8)',
    );
    expect(first).toBe('shop/orders/Cart.java');
  });

  test('rank code that only formats an error after code that caused it', () => {
    const paths = listPaths(
      'shop.orders.CartException: bad weight',
      '\tat shop.orders.CartException.of(CartException.java:5)',
      '\tat shop.orders.Checks.reportWeight(Checks.java:9)',
      '\tat shop.orders.Scale.weigh(Scale.java:20)',
      '\tat shop.orders.CartTest.weighs(CartTest.java:8)',
      ...RUNNER,
    );
    expect(paths[0]).toBe('shop/orders/Scale.java');
    expect(paths.indexOf('shop/orders/Checks.java')).toBeGreaterThan(0);
  });

  test('find the test in the frames around the deepest cause', () => {
    const paths = listPaths(
      'java.lang.RuntimeException: no price',
      '\tat shop.orders.Cart.total(Cart.java:20)',
      '\tat shop.orders.CartTest.totals(CartTest.java:8)',
      'Caused by: java.io.IOException: closed',
      '\tat java.io.Reader.read(Reader.java:100)',
      '\tat org.apache.commons.io.Copy.all(Copy.java:4)',
      '\t... 23 more',
    );
    expect(paths).toEqual(['shop/orders/Cart.java', 'shop/orders/CartTest.java']);
  });

  test("guess a name after removing a ticket number and a common suffix from a test's name, ranked after the test", () => {
    const paths = listPaths(
      'junit.framework.AssertionFailedError: expected:<a> but was:<b>',
      '\tat junit.framework.Assert.fail(Assert.java:57)',
      '\tat shop.text.TextUtilsTrimTest.testTrim(TextUtilsTrimTest.java:47)',
    );
    expect(paths).toEqual([
      'shop/text/TextUtilsTrim.java',
      'shop/text/TextUtilsTrimTest.java',
      'shop/text/TextUtils.java',
    ]);
  });

  test('include a class of the project with its full name in the message, but not a library or a test', () => {
    const paths = listPaths(
      'java.io.NotSerializableException: shop.orders.money.Price of org.elsewhere.Thing in shop.orders.PriceTest',
      '\tat java.io.ObjectOutputStream.writeObject0(ObjectOutputStream.java:1184)',
      '\tat shop.orders.CartTest.writes(CartTest.java:8)',
      ...RUNNER,
    );
    expect(paths).toEqual([
      'shop/orders/Cart.java',
      'shop/orders/money/Price.java',
      'shop/orders/CartTest.java',
    ]);
  });

  test('include no file for a failure of the machine', () => {
    const subject = createSubject(
      ['java.lang.NullPointerException', '\tat shop.Cart.total(Cart.java:3)'].join('\n'),
    );
    expect(rankSuspects(subject, [], 'INFRA_ERROR')).toEqual([]);
    expect(rankSuspects(subject, [], 'CODE_ERROR')).toHaveLength(1);
  });
});

describe('suspects with the files of the repository', () => {
  const log = [
    'junit.framework.AssertionFailedError: expected:<10> but was:<9>',
    '\tat shop.orders.CartTest.sums(CartTest.java:47)',
  ].join('\n');
  const suspects = (found: readonly object[], missing: readonly string[] = []) => {
    const evidence = [
      {
        id: 'E9',
        tool: 'find_files',
        title: 'files',
        text: '',
        source: 'repository',
        data: { found, missing },
      },
    ];
    return rankSuspects(createSubject(log), evidence, 'TEST_FAILURE');
  };
  const file = (path: string, by: string, as = path, line: number | null = null) => ({ path, as, line, by });

  test('have the paths of the repository, and a guess without a file is dropped', () => {
    const path = 'app/src/test/java/shop/orders/CartTest.java';
    const found = suspects([file(path, 'asked', 'shop/orders/CartTest.java')], ['shop/orders/Cart.java']);
    expect(found.map((one) => one.path)).toEqual([path]);
  });

  test('rank what the failing test imports between its source file and itself', () => {
    const paths = suspects([file('shop/orders/money/Price.java', 'import')]).map(({ path }) => path);
    expect(paths).toEqual([
      'shop/orders/Cart.java',
      'shop/orders/CartTest.java',
      'shop/orders/money/Price.java',
    ]);
  });

  test('include files that the log names, with line and reason', () => {
    const [, named] = suspects([file('conf/prices.yaml', 'log', 'conf/prices.yaml:3', 3)]);
    expect(named).toMatchObject({ path: 'conf/prices.yaml', line: 3, reason: 'the log names it' });
  });

  test('rank a file that only the built commit changed below one that changed since the last passed build', () => {
    const change = (sinceGreen: boolean) => {
      const data = { files: ['src/price.ts'], fileCount: 1, truncated: false, sinceGreen };
      const evidence = [
        { id: 'E9', tool: 'changed_since_green', title: 'one file', text: '', source: 'compare/a...b', data },
      ];
      return rankSuspects(createSubject(log), evidence, 'TEST_FAILURE');
    };
    const scoreIn = (all: ReturnType<typeof change>, path: string) =>
      all.find((one) => one.path === path)?.score ?? 0;
    expect(scoreIn(change(false), 'src/price.ts')).toBeLessThan(scoreIn(change(true), 'src/price.ts'));
    expect(scoreIn(change(false), 'src/price.ts')).toBeGreaterThan(0);
    // What did not change in it is no less suspect where nobody knows that it worked before.
    expect(scoreIn(change(false), 'shop/orders/Cart.java')).toBeGreaterThan(
      scoreIn(change(true), 'shop/orders/Cart.java'),
    );
  });
});

describe('suspects that the log only names', () => {
  const failing = (...lines: string[]) =>
    listSuspectsIn(
      '##[group]Run make all',
      '##[endgroup]',
      ...lines,
      '##[error]Process completed with exit code 1.',
    );

  test('are files of the decisive lines, with their line, and described as such', () => {
    const [named] = failing('Error: nobody may sell what has no currency (see conf/prices.yaml:7).');
    expect(named).toMatchObject({ path: 'conf/prices.yaml', line: 7, reason: 'the log names it' });
  });

  test.each([
    'Error: cannot find module in node_modules/left-pad/index.js',
    'Error: /usr/lib/python3/site.py is broken',
    'Error: .venv/lib/thing.py is broken',
    'Error: Node.js 12 is too old for Next.js',
    'Error: cannot read https://example.test/data/prices.json',
  ])('are not files of others, products or addresses: %s', (line) => {
    expect(failing(line)).toEqual([]);
  });

  test('may have spaces in their path if a compiler names them', () => {
    const [first] = failing(
      'Poem of the Day/Views/Main View.swift:12:5: error: cannot find type Foo in scope',
    );
    expect(first).toMatchObject({ path: 'Poem of the Day/Views/Main View.swift', line: 12 });
  });

  test('are the usual manifest if a dependency is the cause and no file is named, which is stated', () => {
    const subject = createSubject(
      [
        '##[group]Run npm ci',
        '##[endgroup]',
        'npm error code ERESOLVE',
        'npm error ERESOLVE unable to resolve dependency tree',
        '##[error]Process completed with exit code 1.',
      ].join('\n'),
    );
    expect(rankSuspects(subject, [], 'DEPENDENCY_ERROR')).toMatchObject([
      { path: 'package.json', reason: expect.stringContaining('usually') },
    ]);
    expect(rankSuspects(subject, [], 'CODE_ERROR')).toEqual([]);
  });
});

describe('suspects in Python', () => {
  const failure = (...frames: string[]) => [
    'Traceback (most recent call last):',
    ...frames.flatMap((frame) => [`  File "${frame}`, '    run()']),
    'ValueError: bad price',
  ];

  test('have paths without the checkout that the dotted name of the test implies', () => {
    const paths = listPaths(
      '======================================================================',
      'ERROR: test_total (tests.test_cart.CartTest)',
      '----------------------------------------------------------------------',
      ...failure(
        '/srv/kit/shop/tests/test_cart.py", line 9, in test_total',
        '/srv/kit/shop/shop/cart.py", line 4, in total',
      ),
      '',
      '----------------------------------------------------------------------',
      'Ran 1 test in 0.004s',
      '',
      'FAILED (errors=1)',
    );
    expect(paths.slice(0, 2)).toEqual(['shop/cart.py', 'tests/test_cart.py']);
  });

  test('may be a module in a package that a flat test file names', () => {
    const paths = listPaths(
      '======================================================================',
      'FAIL: test_gunzip (tests.test_tools_gz.GunzipTest)',
      '----------------------------------------------------------------------',
      'Traceback (most recent call last):',
      '  File "/srv/kit/shop/tests/test_tools_gz.py", line 9, in test_gunzip',
      '    self.assertEqual(1, 2)',
      'AssertionError: 1 != 2',
      '',
      'FAILED (failures=1)',
    );
    expect(paths).toEqual(['tools_gz.py', 'tests/test_tools_gz.py', 'tools/gz.py', 'tools.py']);
  });

  test('exclude site-packages, except the project installed there by its own name', () => {
    const section = (root: string) => [
      `rootdir: ${root}`,
      '=================================== FAILURES ===================================',
      '__________________________________ test_total __________________________________',
      '',
      '    def test_total():',
      '>       total()',
      '',
      'tests/test_cart.py:9: ',
      '_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ ',
      '/env/lib/python3.12/site-packages/shop/cart.py:4: in total',
      '    raise ValueError',
      'E   ValueError: bad price',
      '',
      '/env/lib/python3.12/site-packages/shop/cart.py:4: ValueError',
      '=========================== short test summary info ============================',
      'FAILED tests/test_cart.py::test_total - ValueError: bad price',
    ];
    expect(listPaths(...section('/srv/kit/shop'))[0]).toBe('shop/cart.py');
    expect(listSuspectsIn(...section('/srv/kit/other')).every(({ line }) => line !== 4)).toBe(true);
  });
});
