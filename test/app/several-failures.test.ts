import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createTerminalApp, type TerminalApp } from '../../src/app/terminal-app.ts';
import { createEmbeddedPreset } from '../../src/config/load.ts';
import { parseConfig } from '../../src/config/schema.ts';
import { decodeSources } from '../../src/log/decode/archive.ts';
import {
  type ArrangedAnswer,
  arrangeAnswers,
  pairWithFailures,
} from '../../src/notifications/build-answers.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { makeZip } from '../support/make-zip.ts';
import { sampleBuild } from '../support/sample-analysis.ts';

const HOME = resolve(import.meta.dirname, '../..');
const SEVERAL = join(HOME, 'test/fixtures/several');
const MIXED = join(HOME, 'test/fixtures/mixed');

let app: TerminalApp;
beforeAll(async () => {
  app = await createTerminalApp(
    parseConfig(createEmbeddedPreset(join(HOME, '.faultline'), join(HOME, 'knowledge'))),
    silentLogger,
  );
});

/** Answers the logs, reports and archives of one build. */
async function answer(files: Readonly<Record<string, string | Uint8Array>>) {
  const read = Object.entries(files).map(([name, content]) =>
    decodeSources(name, Buffer.from(content), 'log', { maxBytes: 4_000_000 }),
  );
  const { analyses, groups } = await app.triage(
    sampleBuild(),
    (await Promise.all(read)).flat(),
    AbortSignal.timeout(30_000),
  );
  return arrangeAnswers(pairWithFailures(analyses, groups));
}

const answerSeveral = (...names: string[]) =>
  answer(Object.fromEntries(names.map((name) => [name, readFileSync(join(SEVERAL, name))])));
const answerMixed = (name: string) => answer(readMixed(name));

/** Returns the logs of a captured build by their names. */
function readMixed(name: string): Record<string, Buffer> {
  const folder = join(MIXED, name);
  const logs = readdirSync(folder).filter((file) => !file.endsWith('.xml'));
  return Object.fromEntries(logs.map((log) => [log, readFileSync(join(folder, log))]));
}

/** Says of each answer what it tells: its tests, category and title. */
function tell(answers: readonly ArrangedAnswer[]): string[] {
  return answers
    .map(
      ({ explains, analysis }) =>
        `${explains.tests.join(' + ')} | ${analysis.category} | ${analysis.answer.title}`,
    )
    .toSorted();
}

/** Everything that an answer says in words, with what it quotes. */
function joinWords({ analysis: { answer: said } }: ArrangedAnswer): string {
  const claims = said.claims.flatMap(({ text, quotes }) => [text].concat(quotes.map((quote) => quote.text)));
  return [said.title, said.rootCause, said.fixRecommendation].concat(claims).join('\n');
}

/** One runner, one step: each answer, and words of the others that no answer but its own may say. */
const VITEST = [
  ['adds the tax', 'TEST_FAILURE', 'expected 119 but got 107', /107/],
  ['keeps a basket', 'CONFIG_ERROR', 'Redis does not respond on 127.0.0.1:6379', /6379|Redis/],
  [
    'names a parcel',
    'CODE_ERROR',
    "Cannot read properties of undefined (reading 'weight')",
    /weight|parcel\.ts/,
  ],
] as const;
const PYTEST = [
  ['test_total', 'TEST_FAILURE', 'expected 2 but got 3', /total\(\[1, 2\]\)|test_till\.py:9/],
  ['test_receipt', 'CODE_ERROR', "KeyError at till/receipt.py:2: 'customer'", /customer|receipt\.py/],
] as const;
const UNITTEST = [
  ['test_dict', 'TEST_FAILURE', "expected {'a': 2} but got {'a': 1}", /\{'a'/],
  ['test_sum', 'TEST_FAILURE', 'expected 4 but got 3', /3 != 4|add\(1, 2\)/],
] as const;

describe('failures in one step with different causes', () => {
  it.each([
    [
      'jest: an assertion, a time limit and a snapshot',
      ['jest.txt'],
      [
        ['sums', 'TEST_FAILURE', 'expected 12 but got 13', /Received: 13|gets 13/],
        ['slow', 'TEST_FAILURE', 'Exceeded timeout of 200 ms for a test', /timeout of 200/],
        ['label', 'TEST_FAILURE', 'no longer matches its snapshot', /snapshot/i],
      ],
    ],
    [
      'jest: a time limit beside a thrown error',
      ['jest-slow.txt'],
      [
        ['slow', 'TEST_FAILURE', 'Exceeded timeout of 200 ms for a test', /timeout/],
        [
          'ships',
          'CODE_ERROR',
          "TypeError at src/ship.js:2: Cannot read properties of undefined (reading 'city')",
          /TypeError|city/,
        ],
      ],
    ],
    [
      'go: an expectation, a missing file and a time limit',
      ['go.txt'],
      [
        ['TestDiv', 'TEST_FAILURE', 'Div(9,3) = 3, want 4', /want 4/],
        ['TestGolden', 'CONFIG_ERROR', 'The step cannot find testdata/golden.json', /golden/],
        ['TestWorker', 'TEST_FAILURE', 'timed out waiting for worker', /timed out/],
      ],
    ],
    ['vitest: an expectation, a refused connection and a thrown error', ['vitest.txt'], VITEST],
    ['vitest, with its report', ['vitest.txt', 'vitest.xml'], VITEST],
    ['vitest, its report alone', ['vitest.xml'], VITEST],
    ['pytest: an assertion and a thrown error', ['pytest.txt'], PYTEST],
    ['pytest, with its report', ['pytest.txt', 'pytest.xml'], PYTEST],
    ['unittest: two values that differ', ['unittest.txt'], UNITTEST],
    ['unittest, with its report', ['unittest.txt', 'unittest.xml'], UNITTEST],
    ['unittest, its report alone', ['unittest.xml'], UNITTEST],
  ] as const)('%s', async (_what, files, truths) => {
    const answers = await answerSeveral(...files);
    expect(answers).toHaveLength(truths.length);
    for (const [test, category, title, own] of truths) {
      const found = answers.find(({ explains }) => explains.tests.some((name) => name.endsWith(test)));
      expect(found?.analysis.category, test).toBe(category);
      expect(found?.analysis.answer.title, test).toContain(title);
      for (const other of answers.filter((arrangedAnswer) => arrangedAnswer !== found))
        expect(joinWords(other)).not.toMatch(own);
    }
  });

  it('take file and line from the same frame', async () => {
    const [only] = await answerSeveral('vitest-4.txt');
    expect(only?.analysis.answer).toMatchObject({
      title: "TypeError at price.ts:2: Cannot read properties of undefined (reading 'toFixed')",
      suspects: [
        { path: 'src/price.ts', line: 2 },
        { path: 'test/price.test.ts', line: 6 },
      ],
    });
    expect(`${only?.analysis.answer.rootCause} ${only?.analysis.answer.fixRecommendation}`).not.toMatch(
      /price\.ts:(?!2\b)|test\.ts:(?!6\b)/,
    );
  });

  it('name the place of a thrown error, also if a report omits its type', async () => {
    const answers = await answerSeveral('vitest.txt', 'vitest.xml');
    expect(answers.at(-1)?.analysis.answer.fixRecommendation).toContain('src/parcel.ts:3');
  });
});

describe('a message that is not a cause', () => {
  it('is a test that passed when it was run again, next to a doctest that failed', async () => {
    const answers = await answerMixed('pytest-planetarium-rerun');
    expect(tell(answers)).toEqual([
      '[doctest] planetarium.moons | TEST_FAILURE | “[doctest] planetarium.moons”: expected 2 but got 1',
      "test_moons_of_a_comet | CODE_ERROR | KeyError at planetarium.py:9: 'Encke'",
    ]);
    expect(answers.map(joinWords).join('\n')).not.toContain('test_projector_is_warm');
  });

  it('is a feature probe that did not compile, in a step that a download ended', async () => {
    const answers = await answerMixed('cmake-probe-then-download');
    expect(answers.map(({ analysis }) => analysis.category)).toEqual(['INFRA_ERROR']);
    expect(answers.map(joinWords).join('\n')).toContain("Couldn't resolve host name");
    expect(answers.map(joinWords).join('\n')).not.toContain('sys/pin.h');
  });

  it('is a job that fail-fast canceled, next to five that failed', async () => {
    const job = (...output: string[]) =>
      ['##[group]Run npm test', 'npm test', 'shell: /usr/bin/bash -e {0}', '##[endgroup]']
        .concat(output)
        .join('\n');
    const failed = job(
      'not ok 1 - adds up',
      '# Error: the scale is not level',
      '##[error]Process completed with exit code 1.',
    );
    const canceled = job('collecting 12 tests', '##[error]The operation was canceled.');
    const names = [1, 2, 3, 4, 5].map((at) => `test (${at}).log`);
    const answers = await answer({
      'a.log': canceled,
      ...Object.fromEntries(names.map((name) => [name, failed])),
    });
    expect(tell(answers)).toEqual(['adds up | TEST_FAILURE | “adds up”: the scale is not level']);
    expect(answers[0]?.explains.logs).toEqual(names);
    expect(answers.map(joinWords).join('\n')).not.toContain('canceled');
  });

  it('is the line of make about a program that crashed', async () => {
    const [only] = await answerSeveral('make.txt');
    expect(only?.analysis).toMatchObject({ category: 'CODE_ERROR', kind: 'crash' });
    expect(only?.analysis.answer.title).toContain('segmentation fault');
  });
});

describe('jobs of one run', () => {
  const AQUARIUM = [
    " | CODE_ERROR | src/tank.js:1: 'shark' is assigned a value but never used",
    ' | INFRA_ERROR | preview.example.test cannot be resolved',
    'a tank of one meter | TEST_FAILURE | “a tank of one meter”: expected 220 but got 200',
    "the oldest fish of an empty tank | CODE_ERROR | TypeError at src/tank.js:4: Cannot read properties of undefined (reading 'name')",
  ];

  it('get one answer each, given as several logs', async () => {
    const answers = await answerMixed('jobs-aquarium');
    expect(tell(answers)).toEqual(AQUARIUM);
    expect(answers.map(({ explains }) => explains.logs)).toEqual([
      ['deploy-preview.log'],
      ['unit-tests.log'],
      ['unit-tests.log'],
      ['lint.log'],
    ]);
  });

  it('get one answer each, given as the archive of a run with one empty log', async () => {
    const members = Object.entries(readMixed('jobs-aquarium')).map(([name, content], at) => ({
      name: `${at}_${name}`,
      content,
    }));
    const answers = await answer({
      'run.zip': makeZip(members.concat({ name: '3_notify.log', content: Buffer.alloc(0) })),
    });
    expect(tell(answers)).toEqual(AQUARIUM);
  });

  it('are named by the answer to a test that fails in the same way in several jobs of a matrix', async () => {
    const answers = await answerMixed('jobs-sundial-matrix');
    expect(answers.map(({ explains: { tests, logs, failures } }) => ({ tests, logs, failures }))).toEqual([
      {
        tests: ['test_shadow_in_the_afternoon'],
        logs: ['test-full-.log', 'test-tokyo-.log', 'test-utc-.log'],
        failures: 1,
      },
      { tests: ['test_place'], logs: ['test-full-.log'], failures: 1 },
    ]);
  });

  it('keep tests with the same name apart if they fail for different causes', async () => {
    const answers = await answerMixed('jobs-two-shops');
    expect(answers.map(({ explains: { logs }, analysis }) => [logs.join(), analysis.answer.title])).toEqual([
      ['e2e-books.log', '“pays for the basket”: expected 39.5 but got 41.5'],
      [
        'e2e-books.log',
        expect.stringContaining("TypeError: Cannot read properties of undefined (reading 'length')"),
      ],
      ['e2e-flowers.log', 'Nothing responds on 127.0.0.1:7443'],
      ['e2e-flowers.log', '“shows the receipt”: expected "1 ribbon" but got "1 vase"'],
    ]);
  });
});
