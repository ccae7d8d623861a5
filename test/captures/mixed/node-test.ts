import {
  assertion,
  brokenFixture,
  type MixedBuild,
  missingFile,
  nullReference,
  refused,
  testTimeout,
  thrown,
} from '../../../scripts/parts/capture/mixed-row.ts';

const project = {
  'package.json': '{ "name": "orchard", "private": true, "type": "module" }\n',
  'src/harvest.js': `import { readFileSync } from 'node:fs';
import net from 'node:net';

export const crates = (kilograms) => Math.floor(kilograms / 18);
export const ripe = (tree) => tree.variety.ripeIn === 'September';
export const rain = () => readFileSync('weather/rain-2025.csv', 'utf8').split('\\n');
export const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
export const scale = () =>
  new Promise((resolve, reject) => {
    net.connect(4010, '127.0.0.1').on('connect', resolve).on('error', reject);
  });
export function pick(row) {
  if (row > 40) throw new RangeError('the orchard has 40 rows, asked for ' + row);
  return 'row ' + row;
}
`,
  'test/harvest.test.js': `import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { crates, pick, rain, ripe, scale, wait } from '../src/harvest.js';

describe('harvest', () => {
  it('fills two crates', () => {
    assert.equal(crates(36), 2);
  });

  it('needs a crate for the rest', () => {
    assert.equal(crates(40), 3);
  });

  it('knows when an unknown tree is ripe', () => {
    assert.equal(ripe({}), false);
  });

  it('reads the rain of last year', () => {
    assert.equal(rain().length, 366);
  });

  it('picks the last row', () => {
    assert.equal(pick(41), 'row 41');
  });

  it('rests until the dew is gone', { timeout: 150 }, async () => {
    await wait(1_500);
  });

  it('weighs the crates', async () => {
    await scale();
  });
});
`,
};

const failures: MixedBuild['failures'] = [
  { ...assertion, test: 'needs a crate for the rest', message: '2 !== 3', cause: 'rest-of-crates' },
  {
    ...nullReference,
    test: 'knows when an unknown tree is ripe',
    message: "Cannot read properties of undefined (reading 'ripeIn')",
    cause: 'tree-without-variety',
  },
  {
    ...missingFile,
    test: 'reads the rain of last year',
    message: "ENOENT: no such file or directory, open 'weather/rain-2025.csv'",
    cause: 'rain-file',
  },
  {
    ...thrown,
    test: 'picks the last row',
    message: 'the orchard has 40 rows, asked for 41',
    cause: 'forty-rows',
  },
  {
    ...testTimeout,
    test: 'rests until the dew is gone',
    message: 'test timed out after 150ms',
    cause: 'dew',
  },
  {
    ...refused,
    test: 'weighs the crates',
    message: 'connect ECONNREFUSED 127.0.0.1:4010',
    cause: 'no-scale',
  },
];

/** Suites of Node's own test runner. */
export const builds: readonly MixedBuild[] = [
  {
    version: 'node --version',
    id: 'node-test-orchard-spec',
    runner: 'node:test',
    project: 'orchard',
    files: project,
    run: 'node --test --test-reporter=spec',
    tally: ['tests 7', 'fail 5', 'cancelled 1'],
    failures: failures.map((failure) => ({ ...failure, suite: 'harvest', at: `✖ ${failure.test}` })),
  },
  {
    version: 'node --version',
    id: 'node-test-orchard-tap',
    runner: 'node:test',
    project: 'orchard',
    ci: 'plain',
    files: project,
    run: 'node --test --test-reporter=tap',
    tally: ['# tests 7', '# fail 5', '# cancelled 1'],
    failures: failures.map((failure) => ({ ...failure, suite: 'harvest', at: `- ${failure.test}` })),
  },
  {
    version: 'node --version',
    id: 'node-test-lighthouse-hook',
    runner: 'node:test',
    project: 'lighthouse',
    files: {
      'test/lamp.test.js': `const assert = require('node:assert/strict');
const { before, beforeEach, describe, it, test } = require('node:test');

describe('lamp', () => {
  let timetable;

  beforeEach(() => {
    timetable = require('../data/dusk.json').march;
  });

  it('is lit at dusk', () => assert.equal(timetable.on, '18:40'));
  it('is out at dawn', () => assert.equal(timetable.off, '06:20'));
  it('burns all night', () => assert.equal(timetable.hours, 12));
});

test('the foghorn sounds twice a minute', () => {
  assert.deepEqual({ perMinute: 1, seconds: 4 }, { perMinute: 2, seconds: 4 });
});

test('the keeper logs a storm', () => {
  const log = [];
  assert.match(log.at(-1).text, /storm/);
});
`,
      'data/dusk.json': '{ "march": { "on": "18:40", "off": "06:20" "hours": 12 } }\n',
    },
    run: 'node --test --test-reporter=spec',
    tally: ['tests 5', 'fail 5'],
    failures: [
      ...['is lit at dusk', 'is out at dawn', 'burns all night'].map((test) => ({
        ...brokenFixture,
        test,
        suite: 'lamp',
        at: `✖ ${test}`,
        message: "Expected ',' or '}' after property value in JSON",
        cause: 'dusk-json',
      })),
      {
        ...assertion,
        test: 'the foghorn sounds twice a minute',
        at: '✖ the foghorn sounds twice a minute',
        message: 'perMinute: 1',
        lines: ['perMinute: 2'],
        cause: 'foghorn',
      },
      {
        ...nullReference,
        test: 'the keeper logs a storm',
        at: '✖ the keeper logs a storm',
        message: "Cannot read properties of undefined (reading 'text')",
        cause: 'empty-log',
      },
    ],
  },
];
