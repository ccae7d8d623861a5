import { describe, expect, it } from 'vitest';
import { checkAdvice } from '../../../src/replay/run/check-advice.ts';
import { createLookup, findIdentifiers } from '../../../src/replay/run/identifiers.ts';

const valuesIn = (text: string) => findIdentifiers(text).map(({ kind, value }) => `${kind} ${value}`);

describe('the identifiers of a sentence', () => {
  it.each([
    [
      'Commit electron/main.js, or set `main` in package.json.',
      ['path electron/main.js', 'path package.json'],
    ],
    ['Remove .npmrc and the line of the Dockerfile.', ['path .npmrc', 'path Dockerfile']],
    ['Raise HUGO_VERSION to 0.146.0 or later.', ['version 0.146.0', 'variable HUGO_VERSION']],
    ['Set up JDK 21 in the workflow.', ['version 21']],
    ['Pass $CARGO_TOKEN to the step.', ['variable CARGO_TOKEN']],
    ['Run cargo fmt --all and commit.', ['command --all', 'command cargo fmt']],
    ['Add @libsql/client to the dependencies.', ['package @libsql/client']],
    ['Install libxml2-dev, or upgrade requests.', ['package libxml2-dev', 'package requests']],
    [
      'Remove the duplicate loadFavorites(); add provider_id to auth.identities.',
      ['symbol loadFavorites', 'symbol provider_id', 'symbol auth.identities'],
    ],
  ])('are found: %s', (text, expected) => expect(valuesIn(text).toSorted()).toEqual(expected.toSorted()));

  it.each([
    'Correct the code and/or the test, and make the change again.',
    'Re-run the job: it is a read-only time-out.',
    'See https://example.org/docs/setup.md for the steps on <HOST_1>.',
    'Add the missing file.',
  ])('are absent in %s', (text) => expect(valuesIn(text)).toEqual([]));
});

describe('a name', () => {
  const isInLog = createLookup([
    'Error: C:\\work\\src\\App.ts(3): needs node v20.1.2, got 18.2\nset NPM_TOKEN \u001b[36mlib/map.ts\u001b[0m',
  ]);

  it.each([
    ['path', 'src/App.ts'],
    ['path', 'app.ts'],
    ['path', 'lib/map.ts'],
    ['version', '20.1.2'],
    ['version', 'v18.2'],
    ['variable', 'NPM_TOKEN'],
  ] as const)('is in the log: %s %s', (kind, value) => expect(isInLog({ kind, value })).toBe(true));

  it.each([
    ['version', '1.2'],
    ['version', '20.1'],
    ['variable', 'NPM'],
    ['path', 'p.ts'],
  ] as const)('is not in the log: %s %s', (kind, value) => expect(isInLog({ kind, value })).toBe(false));
});

describe('scored advice', () => {
  const row = { id: 'x', fix: 'Set node-version: 22 in actions/setup-node, or drop toSorted().' };
  const log = [
    'TypeError: a.toSorted is not a function at /home/runner/work/app/lib/sort.js:4 (node version 18)',
  ];

  it('matches by the names of the fix that are available, and other names count as invented', () => {
    const advice = 'Upgrade Node to version 20: toSorted is missing in lib/order.js.';
    expect(checkAdvice(row, advice, log)).toEqual({
      findable: 1,
      keyed: ['toSorted'],
      invented: ['lib/order.js', '20'],
    });
  });

  it('may name a file of the tree', () => {
    expect(
      checkAdvice(row, 'Correct lib/order.js.', [...log, 'lib/order.js\nlib/sort.js'])?.invented,
    ).toEqual([]);
  });

  it.each([null, '', 'No fix found. The step stopped with: exit 1 in lib/order.js'])(
    'counts as absent: %s',
    (advice) => {
      expect(checkAdvice(row, advice, log)).toEqual({ findable: 1, keyed: [], invented: [] });
    },
  );

  it('is not scored without a known fix', () =>
    expect(checkAdvice({ id: 'x' }, 'Correct lib/order.js.', log)).toBeNull());
});
