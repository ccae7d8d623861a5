import { describe, expect, it } from 'vitest';
import type { BuildSituation } from '../../../src/ports/notices.ts';
import { renderJenkinsDescription } from '../../../src/providers/jenkins/description.ts';
import { createJenkinsProvider, JenkinsSettings } from '../../../src/providers/jenkins/provider.ts';
import {
  createBranchSituation,
  createDecision,
  openQuestion,
  sampleCause,
  sampleHead,
} from '../../channels/slack/slack-world.ts';
import {
  createRecalledAnalysis,
  createUnsureAnalysis,
  sampleAnalysis,
  sampleBuild,
} from '../../support/sample-analysis.ts';

const HTML = { publicUrl: 'https://fl.example/', format: 'html' } as const;

function formatMessage(
  change: Partial<BuildSituation> = {},
  options: Parameters<typeof renderJenkinsDescription>[1] = HTML,
) {
  const build = sampleBuild({ provider: 'jenkins', url: 'https://ci.example/job/shop/812/' });
  return (
    renderJenkinsDescription(createBranchSituation(sampleHead({ build, ...change })), options)?.text ?? null
  );
}

const WHY = '<a href="https://fl.example/analyses/ana_9f2c">why</a>';

it('a description contains the category, the confidence, the cause and the link', () => {
  expect(formatMessage()).toBe(`Test failure 91 %: The cart total is rounded twice. ${WHY}`);
  expect(formatMessage({}, { publicUrl: 'https://fl.example', format: 'text' })).toBe(
    'Test failure 91 %: The cart total is rounded twice. Why: https://fl.example/analyses/ana_9f2c',
  );
  expect(formatMessage({}, { publicUrl: null, format: 'html' })).toBe(
    'Test failure 91 %: The cart total is rounded twice.',
  );
});

it.each([
  [sampleCause(createUnsureAnalysis()), 'Test failure 61 %, needs review: '],
  [sampleCause(createRecalledAnalysis()), 'Test failure, confirmed by grace on 2026-10-12, seen 14 times: '],
  [
    sampleCause(sampleAnalysis(), { review: createDecision({ type: 'accept' }) }),
    'Test failure, confirmed by grace: ',
  ],
  [
    sampleCause(sampleAnalysis(), { review: createDecision({ type: 'correct', category: 'CONFIG_ERROR' }) }),
    'Configuration, corrected by grace (Faultline said Test failure): ',
  ],
  [
    sampleCause(sampleAnalysis(), { review: createDecision({ type: 'reject', reason: 'no' }) }),
    'Test failure, marked wrong by grace: ',
  ],
])('a description states what a person decided or found before: %#', (cause, start) => {
  expect(formatMessage({ causes: [cause] })?.startsWith(start)).toBe(true);
});

it('a description counts further causes', () => {
  expect(formatMessage({ causes: [sampleCause(), sampleCause(), sampleCause()] })).toContain(
    'rounded twice. 2 more causes. <a',
  );
});

it('a description explains why there is no answer', () => {
  const job = { state: 'failed', error: 'the daily budget is used up' } as const;
  expect(formatMessage({ causes: [], job })).toBe('Faultline: not analyzed, the daily budget is used up');
  expect(formatMessage({ causes: [], job: null })).toBe(
    'Faultline: not analyzed, no failure was found in its logs',
  );
});

it('a description is not written during the triage, or for a passed build', () => {
  expect(formatMessage({ causes: [], job: { state: 'running', error: null } })).toBeNull();
  expect(formatMessage({ causes: [], question: openQuestion })).toBeNull();
  expect(formatMessage({ build: sampleBuild({ provider: 'jenkins', status: 'passed' }) })).toBeNull();
});

describe('hostile text', () => {
  const { answer } = sampleAnalysis();
  const title = '<img src=x onerror=alert(1)> "quoted" \u202e & [x](y)';
  const causes = [sampleCause(sampleAnalysis({ id: '"><script>', answer: { ...answer, title } }))];

  it('is escaped in HTML', () => {
    expect(formatMessage({ causes })).toContain(
      '&lt;img src=x onerror=alert(1)&gt; &quot;quoted&quot; ⟦U+202E⟧ &amp; [x](y)',
    );
    expect(formatMessage({ causes })?.match(/<[a-z]+/g)).toEqual(['<a']);
  });

  it('has no brackets in plain text', () => {
    expect(formatMessage({ causes }, { ...HTML, format: 'text' })).not.toMatch(/[<>]/);
  });
});

it('descriptions are written for builds of Jenkins, beginning with a failed one', () => {
  const settings = JenkinsSettings.parse({ baseUrl: 'https://ci.example', description: 'html' });
  const [jenkinsRule] = createJenkinsProvider(settings).channels;
  const known = { defaultBranch: null };
  expect(jenkinsRule?.findPlace(sampleBuild(), known)).toBeNull();
  const key = 'jenkins-description:bld_1';
  expect(jenkinsRule?.findPlace(sampleBuild({ provider: 'jenkins' }), known)).toMatchObject({
    key,
    opens: true,
  });
  expect(jenkinsRule?.findPlace(sampleBuild({ provider: 'jenkins', status: 'passed' }), known)).toMatchObject(
    { key, opens: false },
  );
});
