import { createNpmTool, type ToolRow } from '../../../scripts/parts/capture/row.ts';

/** Tools of npm that run tests, and thresholds on them. */
export const rows: readonly ToolRow[] = [
  {
    ...createNpmTool('tape@5'),
    slug: 'tape-deep-equal',
    tool: 'tape',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: {
      'test/shelf.js': `const test = require('tape');
const { sort } = require('../shelf');

test('sorts by author', (t) => {
  t.deepEqual(sort(['Borges', 'Woolf', 'Aira']), ['Aira', 'Borges', 'Woolf']);
  t.end();
});

test('keeps one book', (t) => {
  t.deepEqual(sort(['Aira']), ['Aira']);
  t.end();
});
`,
      'shelf.js': 'exports.sort = (books) => books.slice().reverse();\n',
    },
    green: { 'shelf.js': ['reverse()', 'sort()'] },
    run: "npx tape 'test/*.js'",
    exitCode: 1,
    telling: ['not ok 1 should be deeply equivalent', { from: 'expected: [', to: 'actual:' }],
  },
  {
    ...createNpmTool('tap@21'),
    slug: 'tap-plan-mismatch',
    tool: 'tap',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: {
      'test/gate.js': `const t = require('tap');

t.test('opens twice a day', (t) => {
  const hours = [7, 16];
  t.equal(hours.length, 2);
  t.match(hours.join(' '), /^8 /);
  t.end();
});
`,
    },
    green: { 'test/gate.js': ['/^8 /', '/^7 /'] },
    run: 'npx tap --disable-coverage --allow-empty-coverage --reporter=tap test/gate.js',
    exitCode: 1,
    telling: ['not ok 2 - should match pattern'],
  },
  {
    ...createNpmTool('ava@6'),
    slug: 'ava-is-not',
    tool: 'ava',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: {
      'package.json': '{ "name": "knots", "type": "module" }\n',
      'test.js':
        "import test from 'ava';\n\nimport { knots } from './knots.js';\n\ntest('a nautical mile an hour is a knot', (t) => {\n  t.is(knots(1852, 3600), 1);\n});\n\ntest('standing still', (t) => {\n  t.is(knots(0, 60), 0);\n});\n",
      'knots.js': 'export const knots = (meters, seconds) => (meters / 1852) * (3600 / seconds) * 10;\n',
    },
    green: { 'knots.js': [' * 10', ''] },
    run: 'npx ava',
    exitCode: 1,
    telling: [{ from: '- 10', to: '+ 1' }],
  },
  {
    ...createNpmTool('uvu@0.5'),
    slug: 'uvu-throws',
    tool: 'uvu',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: {
      'tests/ticket.js':
        "const { test } = require('uvu');\nconst assert = require('uvu/assert');\nconst { ticket } = require('../ticket');\n\ntest('a child pays half', () => {\n  assert.is(ticket(9), 4);\n});\n\ntest('an adult pays all', () => {\n  assert.is(ticket(40), 8);\n});\n\ntest.run();\n",
      'ticket.js': 'exports.ticket = (age) => (age <= 8 ? 4 : 8);\n',
    },
    green: { 'ticket.js': ['age <= 8', 'age <= 12'] },
    run: 'npx uvu tests',
    exitCode: 1,
    telling: [{ from: '++4', to: '--8' }],
  },
  {
    ...createNpmTool('mocha@11'),
    slug: 'mocha-hook-timeout',
    tool: 'mocha',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: {
      'test/feed.js':
        "describe('feed', () => {\n  before((done) => {\n    setTimeout(() => {}, 50);\n  });\n\n  it('has news', () => {});\n  it('has weather', () => {});\n});\n",
    },
    green: { 'test/feed.js': ['() => {}, 50', 'done, 50'] },
    run: 'npx mocha --timeout 400 --exit',
    exitCode: 1,
    telling: ['Error: Timeout of 400ms exceeded.'],
  },
  {
    ...createNpmTool('jasmine@5'),
    slug: 'jasmine-expected',
    tool: 'jasmine',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: {
      'spec/support/jasmine.json':
        '{ "spec_dir": "spec", "spec_files": ["**/*-spec.js"], "random": false }\n',
      'spec/clock-spec.js':
        "describe('clock', () => {\n  it('shows noon', () => {\n    expect(require('../clock').show(720)).toBe('12:00');\n  });\n\n  it('shows a quarter past nine', () => {\n    expect(require('../clock').show(555)).toBe('09:15');\n  });\n});\n",
      'clock.js':
        "exports.show = (minutes) => [Math.floor(minutes / 60), String(minutes % 60).padStart(2, '0')].join(':');\n",
    },
    green: { 'clock.js': ['Math.floor(minutes / 60)', "String(Math.floor(minutes / 60)).padStart(2, '0')"] },
    run: 'npx jasmine',
    exitCode: 3,
    telling: ["Expected '9:15' to be '09:15'."],
  },
  {
    ...createNpmTool('qunit@2'),
    slug: 'qunit-ok',
    tool: 'qunit',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: {
      'test/seats.js':
        "const { free } = require('../seats');\n\nQUnit.module('seats', () => {\n  QUnit.test('row C is free', (assert) => {\n    assert.deepEqual(free({ a: true, b: true, c: false }), ['c']);\n  });\n\n  QUnit.test('an empty hall', (assert) => {\n    assert.deepEqual(free({}), []);\n  });\n});\n",
      'seats.js': 'exports.free = (rows) => Object.keys(rows).filter((row) => rows[row]);\n',
    },
    green: { 'seats.js': ['rows[row]', '!rows[row]'] },
    run: 'npx qunit',
    exitCode: 1,
    telling: ['not ok 1 seats > row C is free'],
  },
  {
    version: 'node --version',
    slug: 'node-test-rejection',
    tool: 'node-test',
    heldOut: false,
    category: 'CODE_ERROR',
    alsoOk: ['TEST_FAILURE'],
    files: {
      'test/mail.test.mjs':
        "import assert from 'node:assert/strict';\nimport { describe, it } from 'node:test';\n\nimport { address } from '../mail.mjs';\n\ndescribe('address', () => {\n  it('keeps the name', async () => {\n    assert.equal(await address('Ida Moor <ida@example.test>'), 'ida@example.test');\n  });\n\n  it('takes a bare address', async () => {\n    assert.equal(await address('ida@example.test'), 'ida@example.test');\n  });\n});\n",
      'mail.mjs': 'export async function address(line) {\n  return line.match(/<(.+)>/)[1];\n}\n',
    },
    green: { 'mail.mjs': ['line.match(/<(.+)>/)[1]', '(line.match(/<(.+)>/) ?? [line, line])[1]'] },
    run: 'node --test test/',
    exitCode: 1,
    telling: ["Cannot read properties of null (reading '1')"],
  },
  {
    ...createNpmTool('vitest@2', 'happy-dom@15'),
    slug: 'vitest-snapshot-ci',
    tool: 'vitest',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: {
      'package.json': '{ "name": "banner", "type": "module" }\n',
      'banner.test.js':
        'import { expect, test } from \'vitest\';\n\ntest(\'the banner\', () => {\n  expect({ title: \'Sale\', days: 4 }).toMatchInlineSnapshot(`\n    {\n      "days": 3,\n      "title": "Sale",\n    }\n  `);\n});\n',
    },
    green: { 'banner.test.js': ['days: 4', 'days: 3'] },
    run: 'npx vitest run',
    exitCode: 1,
    telling: [{ from: '-   "days": 3', to: '+   "days": 4' }],
  },
  {
    ...createNpmTool('jest@29'),
    slug: 'jest-esm-import',
    tool: 'jest',
    heldOut: false,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'package.json': '{ "name": "stamps" }\n',
      'stamps.js': 'export const stamps = (grams) => (grams > 20 ? 2 : 1);\n',
      'stamps.test.js':
        "const { stamps } = require('./stamps');\n\ntest('a letter', () => expect(stamps(10)).toBe(1));\n",
    },
    green: { 'stamps.js': ['export const stamps =', 'exports.stamps ='] },
    env: { FORCE_COLOR: '1' },
    run: 'npx jest',
    exitCode: 1,
    telling: ["SyntaxError: Unexpected token 'export'"],
  },
  {
    ...createNpmTool('jest@29'),
    slug: 'jest-coverage-threshold',
    tool: 'jest',
    heldOut: false,
    category: 'TEST_FAILURE',
    alsoOk: ['CODE_ERROR'],
    files: {
      'package.json':
        '{ "name": "stamps", "jest": { "coverageThreshold": { "global": { "branches": 90 } } } }\n',
      'stamps.js':
        "exports.stamps = (grams) => {\n  if (grams > 500) throw new Error('too heavy');\n  return grams > 20 ? 2 : 1;\n};\n",
      'stamps.test.js':
        "const { stamps } = require('./stamps');\n\ntest('a letter', () => expect(stamps(10)).toBe(1));\n",
    },
    run: 'npx jest --coverage',
    exitCode: 1,
    telling: ['coverage threshold for branches (90%) not met'],
  },
  {
    ...createNpmTool('nyc@17', 'mocha@11'),
    slug: 'nyc-below-threshold',
    tool: 'nyc',
    heldOut: false,
    category: 'TEST_FAILURE',
    alsoOk: ['CODE_ERROR'],
    files: {
      'package.json': '{ "name": "oars" }\n',
      'oars.js':
        "exports.oars = (boat) => {\n  if (boat === 'eight') return 8;\n  if (boat === 'four') return 4;\n  if (boat === 'pair') return 2;\n  return 0;\n};\n",
      'test/oars.js':
        "const assert = require('node:assert');\nconst { oars } = require('../oars');\n\nit('an eight', () => assert.equal(oars('eight'), 8));\n",
    },
    green: {
      'test/oars.js':
        "const assert = require('node:assert');\nconst { oars } = require('../oars');\n\nfor (const boat of ['eight', 'four', 'pair', 'raft']) it(boat, () => assert.ok(oars(boat) >= 0));\n",
    },
    run: 'npx nyc --check-coverage --lines 95 mocha',
    exitCode: 1,
    telling: ['does not meet global threshold (95%)'],
  },
  {
    ...createNpmTool('c8@10'),
    slug: 'c8-below-threshold',
    tool: 'c8',
    heldOut: false,
    category: 'TEST_FAILURE',
    alsoOk: ['CODE_ERROR'],
    files: {
      'package.json': '{ "name": "oars" }\n',
      'oars.js':
        "exports.oars = (boat) => {\n  if (boat === 'eight') {\n    return 8;\n  }\n  if (boat === 'four') {\n    return 4;\n  }\n  return 0;\n};\n",
      'test.js':
        "const assert = require('node:assert');\nconst { oars } = require('./oars');\n\nassert.equal(oars('eight'), 8);\nconsole.log('rowing works');\n",
    },
    green: {
      'test.js': [
        "assert.equal(oars('eight'), 8);",
        "for (const boat of ['eight', 'four', 'raft']) assert.ok(oars(boat) >= 0);",
      ],
    },
    run: 'npx c8 --check-coverage --lines 95 --branches 95 node test.js',
    exitCode: 1,
    telling: ['ERROR: Coverage for lines'],
  },
  {
    ...createNpmTool('@cucumber/cucumber@11'),
    slug: 'cucumber-js-ambiguous',
    tool: 'cucumber',
    heldOut: false,
    category: 'TEST_FAILURE',
    alsoOk: ['CODE_ERROR'],
    files: {
      'features/tea.feature':
        'Feature: Tea\n  Scenario: A cup of tea\n    Given a pot of green tea\n    When I pour 2 cups\n    Then 1 cup is left\n',
      'features/steps.js':
        "const { Given, When, Then } = require('@cucumber/cucumber');\nconst assert = require('node:assert');\n\nlet cups = 0;\nGiven('a pot of green tea', () => {\n  cups = 3;\n});\nGiven(/^a pot of (.+)$/, () => {\n  cups = 4;\n});\nWhen('I pour {int} cups', (poured) => {\n  cups -= poured;\n});\nThen('{int} cup is left', (left) => {\n  assert.equal(cups, left);\n});\n",
    },
    green: { 'features/steps.js': ['Given(/^a pot of (.+)$/', 'Given(/^a cup of (.+)$/'] },
    run: 'npx cucumber-js --publish-quiet',
    exitCode: 1,
    telling: [{ from: 'Multiple step definitions match:', to: '/^a pot of (.+)$/' }],
  },
  {
    ...createNpmTool('@hapi/lab@26', '@hapi/code@9'),
    slug: 'lab-global-leak',
    tool: 'lab',
    heldOut: true,
    category: 'TEST_FAILURE',
    alsoOk: ['CODE_ERROR'],
    files: {
      'package.json': '{ "name": "wool" }\n',
      'test/index.js':
        "const Lab = require('@hapi/lab');\nconst { expect } = require('@hapi/code');\n\nconst { it } = (exports.lab = Lab.script());\n\nit('counts the sheep', () => {\n  sheep = 12;\n  expect(sheep).to.equal(12);\n});\n",
    },
    green: { 'test/index.js': ['  sheep = 12', '  const sheep = 12'] },
    run: 'npx lab',
    exitCode: 1,
    telling: ['The following leaks were detected: sheep'],
  },
  {
    ...createNpmTool('baretest@2'),
    slug: 'baretest-message',
    tool: 'baretest',
    heldOut: true,
    category: 'TEST_FAILURE',
    files: {
      'package.json': '{ "name": "wool" }\n',
      'test.js':
        "const assert = require('node:assert');\nconst test = require('baretest')('Wool');\n\ntest('three bags full', () => {\n  const bags = 2;\n  assert.ok(bags === 3, 'one bag of wool is missing');\n});\n\ntest.run().then((passed) => process.exit(passed ? 0 : 1));\n",
    },
    green: { 'test.js': ['bags = 2', 'bags = 3'] },
    run: 'node test.js',
    exitCode: 1,
    telling: ['one bag of wool is missing'],
  },
  {
    ...createNpmTool('zora@6', 'zora-reporters@2'),
    slug: 'zora-node-too-old',
    tool: 'zora',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['DEPENDENCY_ERROR'],
    files: {
      'package.json': '{ "name": "reef", "type": "module" }\n',
      'test.js':
        "import { test } from 'zora';\n\ntest('depth of the reef', (t) => {\n  t.equal(Math.round(31.6), 31, 'rounds down');\n  t.ok(true, 'is wet');\n});\n",
    },
    run: 'node test.js',
    exitCode: 1,
    telling: ['TypeError: Promise.withResolvers is not a function'],
  },
];
