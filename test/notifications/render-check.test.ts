import { describe, expect, it } from 'vitest';
import type { Category } from '../../src/domain/category.ts';
import { createNoticeLinks } from '../../src/notifications/notice-words.ts';
import { renderCheck } from '../../src/notifications/render-check.ts';
import { renderStatus } from '../../src/notifications/render-status.ts';
import type { BuildSituation } from '../../src/ports/notices.ts';
import { createRecalledAnalysis, createUnsureAnalysis, sampleAnalysis } from '../support/sample-analysis.ts';
import {
  createCause,
  createDecision,
  createHead,
  createSituation,
  FIRST_HERE,
  pullRequestBuild,
} from './sample-situation.ts';

const LINKS = createNoticeLinks('https://fl.example');

function renderCheckFor(...heads: readonly BuildSituation[]) {
  const check = renderCheck(createSituation(...heads), LINKS);
  if (check === null) throw new Error('a check is expected');
  return check;
}

describe('the check run', () => {
  it('is not created while everything passes', () => {
    expect(
      renderCheck(createSituation(createHead({ build: pullRequestBuild({ status: 'passed' }) })), LINKS),
    ).toBeNull();
  });

  it('ends if a build passes of which a part had failed', () => {
    const about = { type: 'build', buildId: 'bld_1' } as const;
    const passed = createSituation(createHead({ build: pullRequestBuild({ status: 'passed' }), job: null }));
    expect(renderCheck({ ...passed, about }, LINKS)).toMatchObject({
      status: 'completed',
      title: 'The build passed after all',
    });
  });

  it('is in progress while a failure is being analyzed', () => {
    expect(renderCheckFor(createHead({ failures: 3 }))).toMatchObject({
      status: 'in_progress',
      title: 'Analyzing 3 failures',
      annotations: [],
    });
    expect(renderCheckFor(createHead({ causes: [createCause()], openCauses: 1 })).status).toBe('in_progress');
    expect(renderCheckFor(createHead({ causes: [createCause()] })).status).toBe('completed');
  });

  it.each([
    ['The cart total is rounded twice (Test failure)', [createCause()]],
    ['Not sure: needs review', [createCause(createUnsureAnalysis())]],
    [
      'Known: The cart total is rounded twice (confirmed 12 Oct 2026)',
      [createCause(createRecalledAnalysis())],
    ],
    [
      '2 causes, 1 needs your attention, 1 needs review',
      [createCause(), createCause(createUnsureAnalysis({ id: 'ana_2' }))],
    ],
    [
      'Not explained: a reviewer rejected the answer',
      [createCause(createUnsureAnalysis(), { review: createDecision('reject') })],
    ],
  ] as const)('has the title: %s', (title, causes) => {
    expect(renderCheckFor(createHead({ causes })).title).toBe(title);
  });

  it('states why a failure could not be analyzed', () => {
    expect(renderCheckFor(createHead({ job: { state: 'failed', error: 'expired' } })).title).toBe(
      'Could not read the log: expired',
    );
  });

  it('UX 48: has one annotation for each cause at its first suspect, at most ten', () => {
    const causes = Array.from({ length: 14 }, (_, index) =>
      createCause(sampleAnalysis({ id: `ana_${index}` }), { history: FIRST_HERE }),
    );
    const { annotations } = renderCheckFor(createHead({ causes }));
    expect(annotations).toHaveLength(10);
    expect(annotations[0]).toEqual({
      path: 'src/cart/tax.ts',
      line: 41,
      level: 'failure',
      title: 'The cart total is rounded twice (Test failure, 91 %)',
      message:
        'The new tax step rounds each line before summing; the total differs by 0.01. 3 tests: cart total, cart tax, invoice total.',
      details: '288501  expected 10.20, got 10.21\n288502  at sum (src/cart/tax.ts:41)',
    });
    expect(renderCheckFor(createHead({ causes: [createCause()] })).annotations[0]?.level).toBe('notice');
  });

  it('omits suspects that are not a place in a repository', () => {
    const [suspect] = sampleAnalysis().answer.suspects;
    if (suspect === undefined) throw new Error('a suspect is expected');
    for (const change of [
      { path: '/etc/passwd' },
      { path: 'a/../b' },
      { path: 'a\u202eb' },
      { line: null },
    ]) {
      const answer = { ...sampleAnalysis().answer, suspects: [{ ...suspect, ...change }] };
      expect(
        renderCheckFor(createHead({ causes: [createCause(sampleAnalysis({ answer }))] })).annotations,
      ).toEqual([]);
    }
  });

  it("obeys GitHub's limits with 400 causes", () => {
    const answer = { ...sampleAnalysis().answer, title: 'x'.repeat(9_000), rootCause: '`@<#$'.repeat(4_000) };
    const causes = Array.from({ length: 400 }, (_, index) =>
      createCause(sampleAnalysis({ id: `ana_${index}`, answer })),
    );
    const check = renderCheckFor(createHead({ causes }));
    expect(check.summary.length).toBeLessThanOrEqual(65_535);
    expect(check.text.length).toBeLessThanOrEqual(65_000);
    expect(check.text).toMatch(
      /… \d+ more causes \[in Faultline\]\(https:\/\/fl\.example\/builds\/bld_1\)\n$/,
    );
    expect(
      check.annotations.every(({ title, message }) => title.length <= 255 && message.length <= 4_000),
    ).toBe(true);
  });
});

describe('the commit status', () => {
  const renderStatusFor = (...heads: readonly BuildSituation[]) =>
    renderStatus(createSituation(...heads), LINKS);
  it('fails with the builds, and succeeds only when they do', () => {
    expect(renderStatusFor(createHead())).toMatchObject({
      state: 'pending',
      description: 'Analyzing the failure',
    });
    const category: Category = 'CODE_ERROR';
    const answer = { ...sampleAnalysis().answer, title: 'y'.repeat(300) };
    const answered = renderStatusFor(
      createHead({ causes: [createCause(sampleAnalysis({ category, answer }))] }),
    );
    expect(answered).toMatchObject({ state: 'failure', targetUrl: 'https://fl.example/builds/bld_1' });
    expect(answered?.description).toHaveLength(140);
    const lastFailed = {
      build: pullRequestBuild(),
      fixedBy: pullRequestBuild({ attempt: 2 }),
      failures: 1,
      causes: [],
    };
    const passed = renderStatusFor(
      createHead({ build: pullRequestBuild({ attempt: 2, status: 'passed' }), lastFailed }),
    );
    expect(passed).toMatchObject({ state: 'success', description: 'All failures are fixed' });
    expect(renderStatusFor()).toBeNull();
  });
});
