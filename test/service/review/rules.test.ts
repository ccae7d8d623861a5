import { describe, expect, it } from 'vitest';
import type { FailureRow } from '../../../src/domain/failure.ts';
import type { Rule, RuleInput } from '../../../src/domain/library.ts';
import { extractTemplates } from '../../../src/log/green/templates.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import {
  createRule,
  GENERIC_LINES,
  type RuleDeps,
  tryRule,
  withdrawRule,
} from '../../../src/service/review/rules.ts';
import type { Stores } from '../../../src/stores/stores.ts';
import { sampleFailure } from '../../support/sample-analysis.ts';

const REGISTRY: RuleInput = {
  pattern: 'npm error 503 .{0,80}registry\\.npm\\.example',
  sample:
    'npm error code E503\nnpm error 503 Service Unavailable - GET https://registry.npm.example/left-pad\n',
  repository: 'shop/api',
  category: 'INFRA_ERROR',
  kind: 'service_unavailable',
  rootCause: 'The registry does not answer. It is restarted nightly.',
  fixRecommendation: 'Run it again after three.',
};

function createRulesWorld({ green = [], rows = [] }: { green?: string[]; rows?: FailureRow[] } = {}) {
  const stored: Rule[] = [];
  const rules: Stores['rules'] = {
    add: async (rule) => void stored.push(rule),
    find: async (id) => stored.findLast((rule) => rule.id === id) ?? null,
    list: async () => stored,
    active: async () => stored.filter(({ withdrawn }) => withdrawn === null),
    countActive: async () => stored.filter(({ withdrawn }) => withdrawn === null).length,
    withdraw: async (id, by, reason) => {
      const at = stored.findIndex((rule) => rule.id === id && rule.withdrawn === null);
      const rule = stored[at];
      if (rule === undefined) return null;
      const gone = { ...rule, withdrawn: { by, reason, at: '2026-10-12T15:00:00.000Z' } };
      stored[at] = gone;
      return gone;
    },
    restore: async (id, by) => {
      const at = stored.findIndex((rule) => rule.id === id && rule.withdrawn?.by === by);
      const rule = stored[at];
      if (rule === undefined) return null;
      stored[at] = { ...rule, withdrawn: null };
      return stored[at];
    },
    used: async () => 1,
  };
  const build = { buildId: 'bld_green', number: '811', url: null };
  const newest =
    green.length === 0
      ? []
      : [
          {
            log: 'l',
            build,
            templates: extractTemplates(green.join('\n')),
            seenAt: '2026-10-01T00:00:00.000Z',
          },
        ];
  const deps = {
    stores: { rules, passingBuilds: { newest: async () => newest }, failures: { search: async () => rows } },
    database: {
      transaction: async <Result>(work: (sql: { query: () => Promise<never[]> }) => Promise<Result>) =>
        await work({ query: async () => [] }),
    },
    masker: { mask: async (text: string) => ({ text: text.replaceAll('hunter2', '***'), count: 0 }) },
    clock: { now: () => Date.parse('2026-10-12T15:00:00.000Z') },
    logger: silentLogger,
  };
  // The rest of the stores is not used by rules.
  return { stored, deps: deps as unknown as RuleDeps };
}

describe('writing a rule', () => {
  it('stores a pattern that matches its sample and no passed build, with its author', async () => {
    const { deps, stored } = createRulesWorld({ green: ['npm notice all fine', 'tests passed'] });
    const rule = await createRule(deps, REGISTRY, 'ada');
    expect(stored).toEqual([rule]);
    expect(rule).toMatchObject({
      version: 1,
      author: 'ada',
      title: 'The registry does not answer',
      withdrawn: null,
      timesUsed: 0,
    });
  });

  it.each<[string, Partial<RuleInput>, RegExp, string[]?]>([
    ['one that misses its sample', { sample: 'something else' }, /does not match its own sample/],
    ['one that could backtrack', { pattern: '(?=npm)npm' }, /RE2/],
    [
      'a generic one',
      { pattern: 'exit code \\d', sample: 'it ended with exit code 1' },
      /too general: it matches "exit code 1"/,
    ],
    [
      'one that matches any line end',
      { pattern: '(?s)\\n.*', sample: 'ENOSPC: no space left\nat write' },
      /too general: it matches an empty line/,
    ],
    ['BUILD FAILED alone', { pattern: 'BUILD FAILED', sample: 'BUILD FAILED' }, /too general/],
    ['one that matches everything', { pattern: '.*.*' }, /an empty line/],
    [
      'what a green build says',
      {},
      /Green build 811 also contains/,
      ['npm error 503 Service Unavailable - GET https://registry.npm.example/left-pad'],
    ],
    [
      'what a green build says in other words',
      { pattern: 'npm error 50[0-9]|deprecated left' },
      /matches a line of green build 811/,
      ['deprecated left pad'],
    ],
    ['a secret', { pattern: 'hunter2 npm|npm error 503' }, /looks like a secret/],
  ])('refuses %s', async (_, change, why, green = []) => {
    const { deps, stored } = createRulesWorld({ green });
    await expect(createRule(deps, { ...REGISTRY, ...change }, 'ada')).rejects.toMatchObject({
      code: 'invalid-input',
      message: expect.stringMatching(why),
    });
    expect(stored).toEqual([]);
  });

  it('refuses a pattern for a line with which builds of every cause end', async () => {
    const { deps } = createRulesWorld();
    for (const line of GENERIC_LINES.filter((one) => one.length > 3)) {
      const pattern = line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
      await expect(
        createRule(deps, { ...REGISTRY, pattern, sample: line }, 'ada'),
        line,
      ).rejects.toMatchObject({ code: 'invalid-input' });
    }
  });

  it('stores a changed rule as its next version', async () => {
    const { deps, stored } = createRulesWorld();
    const first = await createRule(deps, REGISTRY, 'ada');
    const second = await createRule(deps, { ...REGISTRY, rootCause: 'The proxy drops it.' }, 'bob', first.id);
    expect(second).toMatchObject({ id: first.id, version: 2, author: 'bob' });
    expect(stored[0]?.withdrawn).toMatchObject({ by: 'bob', reason: 'Replaced by version 2.' });
    await expect(createRule(deps, REGISTRY, 'ada', 'rul_none')).rejects.toMatchObject({ code: 'not-found' });
  });

  it('can be withdrawn once', async () => {
    const { deps } = createRulesWorld();
    const { id } = await createRule(deps, REGISTRY, 'ada');
    const gone = await withdrawRule(deps, { id, by: 'bob', reason: 'moved away, hunter2' });
    expect(gone.withdrawn).toMatchObject({ by: 'bob', reason: 'moved away, ***' });
    expect(await withdrawRule(deps, { id, by: 'eve', reason: 'again' })).toEqual(gone);
    await expect(withdrawRule(deps, { id: 'rul_none', by: 'bob', reason: 'x' })).rejects.toMatchObject({
      code: 'not-found',
    });
  });
});

describe('trying a rule', () => {
  it('lists the stored failures that it would match, and stores nothing', async () => {
    const row = (message: string): FailureRow => ({
      failure: sampleFailure({ message, excerpt: null }),
      repository: 'shop/api',
      pipeline: 'ci',
      number: '1',
      branch: null,
      commit: null,
      category: null,
      analysisId: null,
      seenAt: '2026-10-12',
    });
    const { deps, stored } = createRulesWorld({
      rows: [row('npm error 503 from registry.npm.example'), row('assertion failed')],
    });
    const trial = await tryRule(deps, REGISTRY);
    expect(trial).toMatchObject({ refused: null, tried: 2, line: expect.stringContaining('503 Service') });
    expect(trial.matches.map(({ failure }) => failure.message)).toEqual([
      'npm error 503 from registry.npm.example',
    ]);
    expect(
      await tryRule(deps, { ...REGISTRY, pattern: 'BUILD FAILED', sample: 'BUILD FAILED' }),
    ).toMatchObject({
      refused: expect.stringMatching(/general/),
      matches: [],
    });
    expect(stored).toEqual([]);
  });
});
