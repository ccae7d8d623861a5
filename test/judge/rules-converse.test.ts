import { describe, expect, it } from 'vitest';
import { checkStatements } from '../../graphs/ask/nodes/check-citations.ts';
import type { QuestionShape } from '../../src/domain/conversation.ts';
import type { Evidence } from '../../src/domain/evidence.ts';
import { createRulesAnalyst } from '../../src/judge/rules-analyst.ts';
import type { Inquiry } from '../../src/ports/analyst.ts';
import { sampleTopic } from '../support/ask-topic.ts';
import { createScriptedToolbox } from '../support/scripted-toolbox.ts';

const { converse } = createRulesAnalyst();
const never = new AbortController().signal;
const topic = sampleTopic();
const TOOLS = [
  'diff_with_green',
  'count_consecutive_failures',
  'read_failure_history',
  'find_similar_failures',
  'read_commit_history',
  'view_log',
  'grep_log',
  'search_knowledge',
];
const offered = createScriptedToolbox(Object.fromEntries(TOOLS.map((name) => [name, {}])))
  .offered('TEST_FAILURE')
  .map((tool) => ({
    ...tool,
    parameters: { properties: { text: {}, from: {}, to: {}, limit: {}, ignoreCase: {}, query: {} } },
  }));

function createInquiry(
  question: string,
  found: Evidence[] = [],
  outcomes: Inquiry['outcomes'] = [],
  about = topic,
): Inquiry {
  return {
    topic: about,
    question,
    memory: { older: [], recent: [] },
    evidence: [...topic.analysis.evidence, ...found],
    found,
    outcomes,
  };
}

async function reply(
  question: string,
  found: Evidence[] = [],
  outcomes: Inquiry['outcomes'] = [],
  about = topic,
) {
  const input = createInquiry(question, found, outcomes, about);
  const understanding = (await converse.understand(input, never)).value;
  const statements = (await converse.reply({ ...input, understanding, onText: () => undefined }, never))
    .value;
  const { kept, leftOut } = checkStatements(statements, input.evidence);
  expect(leftOut).toEqual([]);
  return kept.map(({ lead, text }) => lead + text).join('');
}

async function listToolsFor(question: string): Promise<readonly string[]> {
  const input = createInquiry(question);
  const understanding = (await converse.understand(input, never)).value;
  return (await converse.chooseTools({ ...input, understanding, offered, round: 1 }, never)).value.map(
    ({ tool }) => tool,
  );
}

describe('the rules in a conversation', () => {
  it.each<[string, QuestionShape]>([
    ['how did it fail?', 'journey'],
    ['Walk me through it step by step', 'journey'],
    ['what changed compared with the last green build?', 'comparison'],
    ['is it the same as #640?', 'comparison'],
    ['why now?', 'comparison'],
    ['why?', 'explanation'],
    ['who broke it?', 'explanation'],
  ])('understand %s as a question for a %s', async (question, shape) => {
    expect((await converse.understand(createInquiry(question), never)).value.shape).toBe(shape);
  });

  it('call the tool that the question needs, once', async () => {
    expect(await listToolsFor('what is different from the last green build?')).toContain('diff_with_green');
    expect(await listToolsFor('did this fail before?')).toEqual([
      'count_consecutive_failures',
      'read_failure_history',
    ]);
    expect(await listToolsFor('what is on line 120?')).toContain('view_log');
    expect(await listToolsFor('where is "got 10.21"?')).toContain('grep_log');
    const input = {
      ...createInquiry('why?'),
      understanding: { shape: 'explanation', about: '' } as const,
      offered,
      round: 2,
    };
    expect((await converse.chooseTools(input, never)).value).toEqual([]);
  });

  it('describe a sequence of events in the order of the log, as numbered steps with evidence', async () => {
    const text = await reply('how did it fail?', [
      {
        id: 'E20',
        tool: 'view_log',
        title: 'the start',
        text: 'npm test\n> vitest',
        source: 'build.log',
        lineStart: 3,
        lineEnd: 4,
      },
      {
        id: 'E21',
        tool: 'count_consecutive_failures',
        title: 'ci: 3 in a row',
        text: 'ci failed 3 times in a row since #810.',
        source: 'history/shop',
      },
    ]);
    const lines = text.split('\n');
    expect(lines.every((line, index) => line.startsWith(`${index + 1}. `))).toBe(true);
    expect(lines[0]).toContain('3 times in a row since #810. [E21]');
    expect(text.indexOf('[E20]')).toBeLessThan(text.indexOf('[E1]'));
    expect(lines.at(-1)).toContain('The cart total is rounded twice');
  });

  it('compare this failure with an earlier one', async () => {
    const past: Evidence = {
      id: 'E30',
      tool: 'read_failure_history',
      title: 'ci #640, 2026-09-01: cart total',
      text: 'expected 9.99, got 9.98',
      source: 'history/shop/ci/640',
    };
    const text = await reply('is it the same as before?', [past]);
    expect(text).toContain(
      'The log said “expected 9.99, got 9.98” then and says “expected 10.20, got 10.21” now [E30]',
    );
  });

  it('list what they can answer if they know none of the words, and what could not be looked up', async () => {
    expect(await reply('is the moon full')).toContain('I can explain whose it is, the cause, the fix');
    const call = { tool: 'diff_with_green', args: {}, why: '' };
    const outcome = {
      call,
      status: 'unavailable',
      findings: [],
      summary: 'no archive',
      milliseconds: 1,
      attempts: 0,
    } as const;
    expect(await reply('what is new since green?', [], [{ ...outcome, findings: [] }])).toContain(
      'diff_with_green had no answer (unavailable): no archive',
    );
  });

  it('answer about the fix, confidence, category, cost and suspects from stored data', async () => {
    const text = await reply(
      'who broke it, what to do, how sure, which category, what did it cost, which test?',
    );
    for (const word of [
      'Suspect:',
      '% sure',
      'TEST_FAILURE',
      'tokens',
      topic.analysis.answer.fixRecommendation,
    ])
      expect(text).toContain(word);
  });
});

it('the rules name the origin of a failure, as its page does, before files', async () => {
  const facts = [{ name: 'Whose', text: 'Is it me? No, already red on main.', evidence: [], quotes: [] }];
  const text = await reply('who broke it?', [], [], sampleTopic({ facts: [...facts, ...topic.facts] }));
  expect(text).toMatch(
    /^- Is it me\? No, already red on main\.\n- Suspect: src\/cart\/tax\.ts:41, last changed/,
  );
});
