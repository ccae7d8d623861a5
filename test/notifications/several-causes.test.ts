import { describe, expect, it } from 'vitest';
import { buildOutputs, formatConsoleText, formatSummary } from '../../action/src/render-answer.ts';
import { findSlackFacts } from '../../src/channels/slack/branch-facts.ts';
import { createSlackMessage } from '../../src/channels/slack/branch-message.ts';
import type { OutputStyle } from '../../src/cli/terminal.ts';
import { renderAnnotations, renderAnswers, renderBlocks } from '../../src/cli/triage/triage-text.ts';
import { createNoticeLinks } from '../../src/notifications/notice-words.ts';
import { renderCheck } from '../../src/notifications/render-check.ts';
import { renderComment } from '../../src/notifications/render-comment.ts';
import type { Cause } from '../../src/ports/notices.ts';
import { renderJenkinsDescription } from '../../src/providers/jenkins/description.ts';
import { buildCtrfReport, buildSarifLog } from '../../src/service/answers/export.ts';
import { createBranchSituation, sampleHead } from '../channels/slack/slack-world.ts';
import { sampleBuild } from '../support/sample-analysis.ts';
import { ANALYSES, createSeveralAnswers, GROUPS, TITLES } from '../support/several-causes.ts';
import { createCause, createHead, createSituation } from './sample-situation.ts';

const answers = createSeveralAnswers();
const action = { answers, experiment: null, pending: null, getPageUrl: () => null };
const exported = {
  build: sampleBuild(),
  answers,
  failures: GROUPS.flatMap(({ failures }) => failures),
  publicUrl: null,
};
const links = createNoticeLinks(null);
const streak = {
  firstBuildId: 'bld_1',
  since: '2026-10-12T14:01:00.000Z',
  commit: null,
  author: null,
  seenToday: 1,
};
const style = { color: false, plain: true, width: 100, quiet: true } satisfies OutputStyle;

/** Creates the causes in the order of their first failures, as stored if each is analyzed in turn. */
function createCauses(): Cause[] {
  return ANALYSES.map((analysis, index) => {
    const sample = GROUPS[index]?.failures ?? [];
    return createCause(analysis, {
      failures: sample.length,
      tests: sample.flatMap(({ test }) => test?.name ?? []),
      sample,
    });
  });
}

const check = () => renderCheck(createSituation(createHead({ causes: createCauses() })), links);
const slack = () => {
  const facts = findSlackFacts(createBranchSituation(sampleHead({ causes: createCauses() })));
  return facts === null
    ? ''
    : JSON.stringify(createSlackMessage(facts, streak, { publicUrl: null, decides: false }));
};

const outputs = {
  'the terminal': () => renderBlocks(answers, style),
  'plain output': () => renderAnswers(answers, style),
  annotations: () => renderAnnotations(answers),
  "the Action's summary": () => formatSummary(action),
  "the Action's log": () => formatConsoleText(action, false),
  'the comment': () =>
    renderComment(createSituation(createHead({ causes: createCauses() })), links)?.body ?? '',
  'the check': () => `${check()?.summary}`,
  "the check's evidence": () => `${check()?.text}`,
  Slack: slack,
  SARIF: () => JSON.stringify(buildSarifLog(exported)),
};

describe.each(Object.entries(outputs))(
  '%s of a build with three causes and fifteen tests',
  (_name, render) => {
    // Some outputs escape external text, or insert zero-width spaces so that it is no markup.
    const text = render()
      .replaceAll('\\n', '\n')
      .replaceAll(/[`\\\u200b]|<\/?code>/g, '');
    const positions = TITLES.map((title) => text.indexOf(title.replaceAll('`', '')));

    it('lists all causes in the order in which to fix them', () => {
      expect(positions.every((position) => position >= 0)).toBe(true);
      expect(positions).toEqual(positions.toSorted((left, right) => left - right));
    });

    it('names the tests of each cause next to it, and counts the others', () => {
      const [redis = 0, label = 0, price = 0] = positions;
      const parts = [text.slice(redis, label), text.slice(label, price), text.slice(price)];
      expect(parts[0]).toMatch(/stores order 1\b/);
      expect(parts[0]).toMatch(/and 5 more|and 4 more|stores order 10/);
      expect(parts[1]).toMatch(/label 1\b.*label 3\b/s);
      expect(parts[2]).toMatch(/total of 1\b.*total of 2\b/s);
    });

    it('states what was grouped, and why', () => {
      expect(text).toContain('10 tests, because each says “Error: Redis does not answer”.');
    });
  },
);

it('the outputs of the Action list all causes in the order in which to fix them', () => {
  expect(JSON.parse(buildOutputs(action, '').json ?? '')).toMatchObject([
    {
      title: TITLES[0],
      failures: 10,
      tests: expect.arrayContaining(['stores order 10']),
      grouped: expect.stringContaining('10 tests'),
    },
    { title: TITLES[1], failures: 3 },
    { title: TITLES[2], failures: 2, tests: ['total of 1', 'total of 2'] },
  ]);
  expect(formatSummary(action)).toMatch(
    /^### Faultline: 3 causes, 15 failed tests, in the order in which to fix them\n/,
  );
});

it('the Jenkins description names the first cause to fix and counts the others', () => {
  const format = { publicUrl: null, format: 'text' } as const;
  const described = renderJenkinsDescription(
    createBranchSituation(sampleHead({ causes: createCauses() })),
    format,
  );
  expect(described?.text).toMatch(/Redis does not answer\. 2 more causes\./);
});

it('a CTRF report links each failed test to its analysis', () => {
  const { tests } = buildCtrfReport(exported).results;
  expect(tests.map(({ extra }) => 'analysisId' in extra && extra.analysisId)).toEqual([
    ...Array(2).fill('ana_price'),
    ...Array(3).fill('ana_label'),
    ...Array(10).fill('ana_redis'),
  ]);
});

it('plain output of a build with one failure has no rows that tell failures apart', () => {
  const [alone] = answers.slice(-1);
  if (alone === undefined) throw new Error('there is no answer');
  const tests = alone.explains.tests.slice(0, 1);
  const explains = { ...alone.explains, failures: 1, tests, unnamed: 0, grouped: null, isOnly: true };
  expect(renderAnswers([{ ...alone, explains }], style)).not.toMatch(/^(?:Test|Grouped|Log|Causes)\t/m);
});
