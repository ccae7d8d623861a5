import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../src/domain/analysis.ts';
import { createNoticeLinks } from '../../src/notifications/notice-words.ts';
import { COMMENT_BUDGET, renderComment } from '../../src/notifications/render-comment.ts';
import type { BuildSituation } from '../../src/ports/notices.ts';
import {
  createRecalledAnalysis,
  createUnsureAnalysis,
  sampleAnalysis,
  sampleExperiment,
} from '../support/sample-analysis.ts';
import {
  createCause,
  createDecision,
  createHead,
  createMainBuild,
  createSituation,
  FAILS,
  FIRST_HERE,
  NO_HISTORY,
  PASSES,
  pullRequestBuild,
} from './sample-situation.ts';

const LINKS = createNoticeLinks('https://fl.example/');

function readBody(...heads: readonly BuildSituation[]): string {
  return renderComment(createSituation(...heads), LINKS)?.body ?? 'nothing';
}

const registry = {
  ...createRecalledAnalysis(),
  id: 'ana_2',
  category: 'INFRA_ERROR' as const,
  kind: 'service_unavailable' as const,
  answer: {
    ...createRecalledAnalysis().answer,
    title: 'npm registry answered 503',
    rootCause: 'The registry was away.',
    suspects: [],
  },
};
const failsOnMain = { ...NO_HISTORY, defaultBranch: FAILS, seenElsewhere: true };
const question: BuildSituation['question'] = {
  id: 'que_1',
  kind: 'question',
  triageId: 'tri_1',
  buildId: 'bld_1',
  repository: 'shop/api',
  title: 'cart',
  state: 'waiting',
  category: 'CONFIG_ERROR',
  question: 'Is Postgres 17 @expected?',
  answer: null,
  answeredBy: null,
  answeredAt: null,
  openedAt: '2026-10-12T14:02:00.000Z',
  expiresAt: '2026-10-13T14:02:00.000Z',
};
const waiting = { id: 'rev_41', openedAt: '2026-10-12T14:02:00.000Z', decision: null };

describe('the comment on a pull request', () => {
  it('is not created while everything passes', () => {
    expect(readBody()).toBe('nothing');
    expect(readBody(createHead({ build: pullRequestBuild({ status: 'passed' }), job: null }))).toBe(
      'nothing',
    );
  });

  it('states that an analysis is running, and how long that usually takes', () => {
    const body = renderComment({ ...createSituation(createHead()), usualMs: 31_000 }, LINKS)?.body;
    expect(body).toBe(
      '**Analyzing why `ci #812` failed** (commit a41f9c2). This usually takes 31 s. [Watch](https://fl.example/builds/bld_1)\n',
    );
    expect(readBody(createHead({ failures: 3 }))).toContain(
      '**Analyzing 3 failures in `ci #812`** (commit a41f9c2).',
    );
  });

  it('states that an analysis is running, and that a review was requested', () => {
    expect(readBody(createHead({ question }))).toContain(
      'Question for a reviewer: Is Postgres 17 @\u200bexpected? [Answer](https://fl.example/review/que_1)',
    );
  });

  it('does not mention an analysis once the triage has ended without a result, unless a review is still pending', () => {
    const done = { state: 'done', error: null } as const;
    expect(readBody(createHead({ job: done }))).toMatch(
      /^\*\*`ci #812` failed\. .*\(no failure was found in its logs\)/,
    );
    expect(readBody(createHead({ job: done, question }))).toContain('Question for a reviewer');
  });

  it('groups by cause, and expands what needs the reader', () => {
    const cart = createCause(sampleAnalysis(), { history: FIRST_HERE, record: { right: 58, decided: 62 } });
    const body = readBody(
      createHead({ causes: [createCause(registry, { failures: 11, history: failsOnMain }), cart] }),
    );
    expect(body).toMatch(
      /^\*\*14 tests failed for 2 reasons\. 1 needs your attention\.\*\* · `ci #812` · a41f9c2\n/,
    );
    expect(body).toContain(
      '<details open><summary><b>1. The cart total is rounded twice</b>: Test failure, 3 tests, 91 % (right 58 of 62 times at this level)</summary>',
    );
    expect(body).toContain(
      '**Is it me? Most likely yes, new with this change (98 %)**: passes on `main` ([`ci #790`](https://fl.example/builds/bld_main)) and was seen nowhere else. Yours: `src/cart/tax.ts:41`.',
    );
    expect(body).toContain('**Fix:** Round once, after the sum, in `src/cart/tax.ts:41`.');
    expect(body).toContain('```text\n288501  expected 10.20, got 10.21\n');
    expect(body).toContain(
      '[Lines in the log](https://fl.example/logs/bld_1?file=build.log&L=288501-288502#L288501) · [All evidence]',
    );
    expect(body).toContain(
      'suspect `src/cart/tax.ts:41` (a41f9c2) · `cart total`, `cart tax`, `invoice total`',
    );
    expect(body).toContain(
      '<details><summary><b>2. npm registry answered 503</b>: Infrastructure, 11 tests, known since 12 Oct 2026, confirmed by grace, seen 14 times</summary>',
    );
    expect(body).toContain(
      '**Is it me? No, already red on the default branch**: `main` fails this way since [`ci #790`](https://fl.example/builds/bld_main) (12 Oct 2026, b5d1e22 by Max). Rebase when `main` is green.',
    );
    expect(body.trimEnd().endsWith('</sub>')).toBe(true);
  });

  it('lists what is still being analyzed', () => {
    const body = readBody(createHead({ causes: [createCause()], openCauses: 2 }));
    expect(body).toContain('for 1 reason so far.');
    expect(body).toContain('Still analyzing 2 more.');
  });

  it('states that a review was requested, and the possible explanations', () => {
    const body = readBody(createHead({ causes: [createCause(createUnsureAnalysis(), { review: waiting })] }));
    expect(body).toMatch(
      /^\*\*3 tests failed\. Faultline is not sure why \(61 %\)\. The answer needs review\.\*\* · `ci #812`/,
    );
    expect(body).toContain('<b>2 explanations fit</b>');
    expect(body).toContain(
      '1. Code error: `tax.ts:41` throws when the list is empty. To confirm: the value of `items` at line 40',
    );
    expect(body).toContain('<sub>[Decide](https://fl.example/review/rev_41) · waiting since 14:02 UTC');
  });

  it.each([
    ['accept', {}, 'Test failure, 3 tests, confirmed by grace at 14:09 UTC'],
    [
      'accept',
      { decidedAt: '2026-10-14T09:00:00.000Z' },
      'Test failure, 3 tests, confirmed by grace on 14 Oct 2026',
    ],
    [
      'correct',
      { category: 'CONFIG_ERROR' },
      'Configuration, 3 tests, corrected by grace at 14:09 UTC (Faultline said Test failure)',
    ],
    [
      'reject',
      { reason: 'it is nonsense' },
      "3 tests, not explained: grace at 14:09 UTC rejected Faultline's answer (Test failure)",
    ],
  ] as const)('names the person who decided %s', (type, change, words) => {
    const body = readBody(
      createHead({ causes: [createCause(createUnsureAnalysis(), { review: createDecision(type, change) })] }),
    );
    expect(body).toContain(words);
    expect(body).not.toContain('61 %');
  });

  it('names the author of the rule that answered, without an accuracy of the machine', () => {
    const ruled = {
      ruleId: 'rul_1',
      version: 1,
      author: 'ada',
      createdAt: '2026-10-01T08:00:00.000Z',
      timesUsed: 3,
    };
    const body = readBody(
      createHead({ causes: [createCause(sampleAnalysis({ ruled }), { record: { right: 1, decided: 62 } })] }),
    );
    expect(body).toContain('Test failure, 3 tests, by a rule from ada (1 Oct 2026)');
    expect(body).not.toContain('right 1 of 62');
  });

  it('has a title for a cause that begins with an empty line', () => {
    const review = createDecision('correct', {
      category: 'CONFIG_ERROR',
      rootCause: '\n TAX is not set. It never was.',
    });
    expect(readBody(createHead({ causes: [createCause(createUnsureAnalysis(), { review })] }))).toContain(
      '<b>TAX is not set</b>',
    );
  });

  it("states the cause that a person gave, without advice for the machine's cause", () => {
    const review = createDecision('correct', {
      category: 'CONFIG_ERROR',
      rootCause: 'TAX is not set. It never was.',
    });
    const body = readBody(createHead({ causes: [createCause(createUnsureAnalysis(), { review })] }));
    expect(body).toContain('<b>TAX is not set</b>');
    expect(body).not.toContain('Round once');
  });

  it('states when everything is fixed, and by which build, however many follow', () => {
    const lastFailed = {
      build: pullRequestBuild(),
      fixedBy: pullRequestBuild({ number: '813' }),
      failures: 14,
      causes: [sampleAnalysis(), registry],
    };
    const passed = (number: string) =>
      createHead({ build: pullRequestBuild({ number, status: 'passed' }), job: null, lastFailed });
    expect(readBody(passed('813'))).toMatch(
      /^\*\*All 14 failures of `ci #812` are fixed in `ci #813`\.\*\*\n\n<details>/,
    );
    expect(readBody(passed('840'))).toBe(readBody(passed('813')));
  });

  it('stays within its size if many pipelines are fixed of many causes', () => {
    const title = '<!-- `'.repeat(30);
    const causes = Array.from({ length: 20 }, (_, at) =>
      sampleAnalysis({ id: `ana_${at}`, answer: { ...sampleAnalysis().answer, title } }),
    );
    const heads = Array.from({ length: 20 }, (_, at) => {
      const lastFailed = {
        build: pullRequestBuild(),
        fixedBy: pullRequestBuild({ number: `9${at}` }),
        failures: 20,
        causes,
      };
      return createHead({
        build: pullRequestBuild({ status: 'passed', pipeline: `p${at}` }),
        job: null,
        lastFailed,
      });
    });
    const body = readBody(...heads);
    expect(body.length).toBeLessThanOrEqual(COMMENT_BUDGET);
    expect(body).toContain('are fixed in `ci #919`.**');
    expect(body.match(/<details>/g)).toHaveLength(body.match(/<\/details>/g)?.length ?? 0);
  });

  it('states why a failure could not be analyzed', () => {
    const error = 'GitHub returned 404 for the log: it has expired.';
    const body = readBody(createHead({ job: { state: 'failed', error } }));
    expect(body).toBe(
      '**`ci #812` failed. Faultline could not read its log** (GitHub returned 404 for the log: it has expired). [Details](https://fl.example/builds/bld_1)\n',
    );
    const failed = sampleAnalysis({
      terminationReason: 'failed',
      answer: { ...sampleAnalysis().answer, rootCause: error },
    });
    expect(readBody(createHead({ causes: [createCause(failed)] }))).toContain(
      'Faultline could not analyze it** (GitHub returned 404',
    );
  });

  it('contains no links if no public address is configured', () => {
    const situation = createSituation(
      createHead({
        causes: [createCause(createUnsureAnalysis(), { review: waiting }), createCause(registry)],
      }),
    );
    expect(renderComment(situation, createNoticeLinks(null))?.body).not.toMatch(/\]\(|https?:/);
  });

  it('stays within its size with 400 causes: low-ranked ones are shortened first, the last are counted (UX 47)', () => {
    const long = { ...sampleAnalysis().answer, title: '`@<$'.repeat(100), rootCause: '`@<#$'.repeat(2_000) };
    const causes = Array.from({ length: 400 }, (_, index) =>
      createCause(sampleAnalysis({ id: `ana_${index}`, answer: long }), { failures: 400 - index }),
    );
    const body = readBody(createHead({ causes }));
    expect(body.length).toBeLessThanOrEqual(COMMENT_BUDGET);
    expect(body).toContain('<details open><summary><b>1. ');
    expect(body).toMatch(/… and \d+ more causes \[in Faultline\]/);
    const few = readBody(createHead({ causes: causes.slice(0, 12) }));
    expect(few.length).toBeLessThanOrEqual(COMMENT_BUDGET);
    expect(few).toContain('**12\\. ');
    expect(few).not.toContain('more cause');
  });

  it('states no cost if no model was used', () => {
    expect(
      readBody(createHead({ causes: [createCause(sampleAnalysis({ usage: NO_USAGE }))] })),
    ).not.toContain('&#36;');
  });
});

describe('the origin of a failure in a comment', () => {
  const ELSEWHERE = sampleAnalysis({ answer: { ...sampleAnalysis().answer, suspects: [] } });
  const said = (history: Partial<typeof NO_HISTORY>, analysis = ELSEWHERE) =>
    readBody(createHead({ causes: [createCause(analysis, { history: { ...NO_HISTORY, ...history } })] }));

  it('is mentioned if other pull requests had the failure, but not if only one had it', () => {
    expect(said({ otherPullRequests: 4, seenElsewhere: true })).toContain(
      '**Is it me? Most likely no, also on other pull requests (95 %)**: 4 other pull requests had it in the week before. Run it again.',
    );
    const one = said({ otherPullRequests: 1, seenElsewhere: true });
    expect(one).toContain(
      '**Is it me? Not known yet**: 1 other pull request had it in the week before. Only a rerun would show it: if it passes, it is flaky.',
    );
  });

  it('is stated for failures that are fixed on the default branch; old failures are only called old', () => {
    const on = (receivedAt: string) =>
      said({
        seenElsewhere: true,
        defaultBranch: {
          ...PASSES,
          lastFailed: createMainBuild({ receivedAt }),
          fixedBy: createMainBuild({ number: '791' }),
        },
      });
    expect(on('2026-10-11T12:00:00.000Z')).toContain(
      '**Is it me? Most likely no, it was red on the default branch (90 %)**: `main` failed this way in [`ci #790`](https://fl.example/builds/bld_main) (11 Oct 2026, b5d1e22 by Max). Rebase: `main` is green since [`ci #791`](https://fl.example/builds/bld_main).',
    );
    expect(on('2026-10-02T12:00:00.000Z')).toContain('**Is it me? Not known yet**: `main` failed this way');
  });

  it('is not the change if it may be flaky, or the fault of another server', () => {
    for (const change of [
      { kind: 'flaky_timing' },
      { category: 'INFRA_ERROR' },
      { category: 'DEPENDENCY_ERROR' },
    ] as const) {
      const analysis = sampleAnalysis(change);
      const body = said(FIRST_HERE, { ...analysis, answer: { ...analysis.answer, suspects: [] } });
      expect(body).toContain('**Is it me? Not known yet**: passes on `main`');
    }
  });

  it('is left open if history shows nothing, or the failure is only similar', () => {
    const open = '**Is it me? Not known yet**. Only a rerun would show it: if it passes, it is flaky.';
    expect(said({})).toContain('**Is it me? Not known yet**. No earlier build is known to compare with.');
    expect(said({ ...failsOnMain, generic: true })).toContain('**Is it me? Not known yet**');
    expect(said({ ...FIRST_HERE, seenElsewhere: true })).toContain(open);
  });

  it('63: includes the owner and where the name comes from, without a mention', () => {
    const owner = {
      path: 'src/a.ts',
      names: ['@shop/payments'],
      by: 'codeowners' as const,
      at: '.github/CODEOWNERS:12',
    };
    const body = readBody(
      createHead({ causes: [createCause({ ...sampleAnalysis(), owner }, { history: FIRST_HERE })] }),
    );
    expect(body).toMatch(/Owner/);
    expect(body).toMatch(/shop.{0,10}payments.*CODEOWNERS:12/);
    expect(body).not.toContain('@shop');
  });

  it('begins with the experiment, which decides the origin', () => {
    const bodyWith = (change: Parameters<typeof sampleExperiment>[0], history = FIRST_HERE) =>
      readBody(
        createHead({
          causes: [createCause({ ...sampleAnalysis(), experiment: sampleExperiment(change) }, { history })],
        }),
      );
    const caused = bodyWith({}, failsOnMain);
    expect(caused).toContain(
      '**Is it me? Yes, new with this change**: Fails 3 of 3 here, 0 of 3 on the base (cfa15e99a): introduced by this change.',
    );
    expect(caused.indexOf('Is it me?')).toBeLessThan(
      caused.indexOf(sampleAnalysis().answer.rootCause.slice(0, 20)),
    );
    expect(caused).not.toContain('fails this way');
    const both = 'Fails 3 of 3 here and 3 of 3 on the base: not caused by this change.';
    expect(bodyWith({ verdict: 'not-this-change', sentence: both })).toContain(
      `**Is it me? No, already red on the default branch**: ${both}`,
    );
    const flaky = 'Fails 1 of 3 here without any change: flaky, in 33% of runs.';
    expect(bodyWith({ verdict: 'flaky', sentence: flaky })).toContain(flaky);
    expect(bodyWith({ verdict: 'flaky', sentence: flaky })).toContain('**Is it me? Not known yet**');
    expect(bodyWith({ sentence: '<img src=x> @everyone [x](http://evil)' })).not.toMatch(
      /<img|@everyone|\]\(http:\/\/evil/,
    );
  });
});

it('a cause that an experiment attributes to this change is first', () => {
  const guessed = createCause({ ...sampleAnalysis(), id: 'ana_1' });
  const tried = createCause({
    ...sampleAnalysis(),
    id: 'ana_2',
    experiment: sampleExperiment({ verdict: 'this-change' }),
  });
  const body = readBody(createHead({ causes: [guessed, tried] }));
  expect(body.indexOf('Yes, new with this change')).toBeGreaterThan(0);
  expect(body.indexOf('Yes, new with this change')).toBeLessThan(body.indexOf('<b>2. '));
});
