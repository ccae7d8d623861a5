import { expect, it } from 'vitest';
import { formatSummary } from '../../action/src/render-answer.ts';
import { findSlackFacts } from '../../src/channels/slack/branch-facts.ts';
import { createSlackMessage } from '../../src/channels/slack/branch-message.ts';
import { createAnswerBody } from '../../src/channels/webhook.ts';
import { withTried } from '../../src/domain/analysis.ts';
import { describeAnswer, toCauseOutput } from '../../src/mcp/shapes.ts';
import type { ArrangedAnswer } from '../../src/notifications/build-answers.ts';
import { createNoticeLinks } from '../../src/notifications/notice-words.ts';
import { renderComment } from '../../src/notifications/render-comment.ts';
import { buildCtrfReport, buildSarifLog } from '../../src/service/answers/export.ts';
import { renderMarkdown, renderPlain, renderTerminal } from '../../src/service/answers/render.ts';
import { createBranchSituation, sampleCause, sampleHead } from '../channels/slack/slack-world.ts';
import {
  sampleAnalysis,
  sampleAnswers,
  sampleBuild,
  sampleExperiment,
  sampleFailure,
} from '../support/sample-analysis.ts';
import { createCause, createHead, createSituation } from './sample-situation.ts';

const sample = sampleAnalysis();
const analysis = sampleAnalysis({
  answer: { ...sample.answer, transient: 0.86 },
  green: { buildId: 'bld_0', number: '1234', url: null },
});
const [answered] = sampleAnswers([analysis]) as [ArrangedAnswer];
const exported = { build: sampleBuild(), answers: [answered], failures: [sampleFailure()], publicUrl: null };
const streak = { firstBuildId: 'bld_1', since: analysis.createdAt, commit: null, author: null, seenToday: 1 };

/** Answers whole, and those that are short. */
const full = {
  plain: () => renderPlain(analysis),
  terminal: () => renderTerminal(analysis, { color: false, width: 78 }),
  markdown: () => renderMarkdown(analysis),
  action: () =>
    formatSummary({ answers: [answered], experiment: null, pending: null, getPageUrl: () => null }),
  agent: () => describeAnswer(answered).join('\n'),
  'agent, as data': () => JSON.stringify(toCauseOutput(answered)),
  webhook: () => createAnswerBody({ build: sampleBuild(), analysis }),
  ctrf: () => JSON.stringify(buildCtrfReport(exported)),
  sarif: () => JSON.stringify(buildSarifLog(exported)),
};
const short = {
  comment: () =>
    renderComment(createSituation(createHead({ causes: [createCause(analysis)] })), createNoticeLinks(null))
      ?.body ?? '',
  slack: () => {
    const facts = findSlackFacts(createBranchSituation(sampleHead({ causes: [sampleCause(analysis)] })));
    return facts === null
      ? ''
      : JSON.stringify(createSlackMessage(facts, streak, { publicUrl: null, decides: false }));
  },
};

it.each(Object.entries({ ...full, ...short }))(
  '%s shows the facts that every output shows',
  (_name, shown) => {
    expect(shown()).toContain('Round once, after the sum');
  },
);

it.each(Object.entries(full))('%s shows every fact of an answer', (_name, shown) => {
  expect(shown()).toContain('since build 1234');
});

it.each(Object.entries({ ...full, ...short }))(
  '%s states that a rerun would probably pass',
  (_name, shown) => {
    expect(shown()).toContain('A re-run would probably pass (0.86).');
  },
);

it('a rerun is not mentioned between the limits, or if it was tried', () => {
  const unsure = { ...analysis, answer: { ...analysis.answer, transient: 0.5 } };
  expect(renderPlain(unsure)).not.toContain('re-run');
  const tried = withTried(analysis, sampleExperiment());
  expect(renderPlain(tried)).not.toContain('A re-run would');
});

it('web pages are shown with their addresses, even if no claim cites them', () => {
  const page = {
    id: 'E31',
    tool: 'search_web',
    title: 'The press stops at low tide',
    text: 'Wait for high tide.',
    source: 'web',
    url: 'https://docs.example/tide',
  };
  const searched = { ...analysis, evidence: analysis.evidence.concat(page) };
  expect(renderPlain(searched)).toContain('https://docs.example/tide: The press stops at low tide');
});
