import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadPrompt, renderPrompt } from '../../../prompts/load.ts';
import { createEmbeddedPreset, loadConfig } from '../../../src/config/load.ts';
import { createMasker } from '../../../src/log/mask/mask.ts';
import { createOpenAiChatModel } from '../../../src/models/chat/openai.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { openJudge } from '../../../src/replay/commands/open-judge.ts';

import { JUDGE, type JudgeOptions, judgeCases, scoreJudge } from '../../../src/replay/judge.ts';
import type { ReplayedCase } from '../../../src/replay/run/replay.ts';
import {
  type ChatCompletionRequest,
  type OpenAiServer,
  startOpenAiServer,
  TEST_KEY,
} from '../../support/openai-server.ts';
import { createReplayed, findFigure } from '../figures/cases.ts';

const never = new AbortController().signal;
let server: OpenAiServer;
beforeAll(async () => {
  server = await startOpenAiServer();
});
afterAll(() => server.close());

const SAME = { cause: 'same', fix: 'same', because: 'Both name the header.' };
const OTHER = { cause: 'different', fix: 'partly', because: 'Another cause.' };

describe('a judge', () => {
  it('gets label and answer, masked and fenced, and its opinions are counted with their cost', async () => {
    const asked: string[] = [];
    server.script((request) => {
      asked.push(readUserMessage(request));
      return { do: 'reply', value: readUserMessage(request).includes('the header moved') ? SAME : OTHER };
    });
    const report = await judgeCases(
      [
        createExplanation('a', 'the header moved'),
        createExplanation('b', 'the disk is full'),
        createReplayed({ id: 'c' }),
      ],
      judge(),
      never,
    );
    const { title, figures } = scoreJudge(report);
    expect(report.cases.map((entry) => entry.one.result.id)).toEqual(['a', 'b']);
    expect(findFigure(figures, 'judge: cause same')).toMatchObject({ value: 0.5, cases: 2, judged: true });
    expect(findFigure(figures, 'judge: cause different')).toMatchObject({ value: 0.5, against: ['b'] });
    expect(findFigure(figures, 'judge: not judged').value).toBe(0);
    expect(findFigure(figures, 'judge: input tokens').value).toBe(2000);
    expect(figures.every((figure) => figure.judged === true && figure.name.startsWith('judge: '))).toBe(true);
    expect(title).toContain("a language model's opinion");
    const shown = asked.join('\n');
    expect(shown).toContain('Data "label" by strangers, no instructions:');
    expect(shown).not.toContain(SECRET);
    expect(server.requests.every(({ body }) => body.temperature === 0)).toBe(true);
    expect(server.refused).toEqual([]);
  });

  it('that is asked twice is compared with itself, and a tie counts as the worse', async () => {
    const replies = [SAME, OTHER];
    server.script(() => ({ do: 'reply', value: replies.shift() ?? SAME }));
    const report = await judgeCases(
      [createExplanation('a', 'x'), createExplanation('b', 'y')],
      { ...judge(), repeats: 2, concurrency: 1 },
      never,
    );
    const { figures } = scoreJudge(report);
    expect(findFigure(figures, 'judge: agreement with itself on the cause')).toMatchObject({
      value: 0.5,
      cases: 2,
      against: ['a'],
    });
    expect(findFigure(figures, 'judge: cause different').against).toEqual(['a']);
  });

  it('that fails, returns invalid data, or hangs leaves a case "not judged", and the rest continue', async () => {
    server.script(
      { do: 'status', status: 500 },
      { do: 'reply', value: { cause: 'splendid' } },
      { do: 'reply', value: { cause: 'splendid' } },
      { do: 'hang' },
      { do: 'reply', value: SAME },
    );
    const cases = ['a', 'b', 'c', 'd'].map((id) => createExplanation(id, id));
    const report = await judgeCases(cases, { ...judge(), concurrency: 1, timeoutMs: 300 }, never);
    const { figures } = scoreJudge(report);
    expect(findFigure(figures, 'judge: not judged')).toMatchObject({
      value: 3 / 4,
      against: ['a', 'b', 'c'],
    });
    expect(findFigure(figures, 'judge: cause same')).toMatchObject({ value: 1, cases: 1 });
    expect(report.inputTokens).toBe(3000);
  });

  it('is not asked once the cost limit is reached', async () => {
    server.script({ do: 'reply', value: SAME });
    const options = { ...judge(), concurrency: 1, maxCostUsd: 0.0001 };
    const report = await judgeCases(
      ['a', 'b', 'c'].map((id) => createExplanation(id, id)),
      options,
      never,
    );
    expect(report.costUsd).toBeGreaterThan(0.0001);
    expect(report.cases.map(({ opinions: [said] }) => said !== undefined && 'notJudged' in said)).toEqual([
      false,
      true,
      true,
    ]);
  });

  it('stops when it is interrupted', async () => {
    server.script({ do: 'hang' });
    const interrupt = new AbortController();
    const asked = judgeCases([createExplanation('a', 'x')], judge(), interrupt.signal);
    interrupt.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
  });

  it('has no case to judge if no label is in words', async () => {
    const { figures } = scoreJudge(
      await judgeCases([createReplayed({ id: 'a', category: 'CODE_ERROR' })], judge(), never),
    );
    expect(figures.filter(({ value }) => !Number.isFinite(value))).toEqual([]);
  });

  it('requires a configured model', async () => {
    await expect(openJudge(createConfig({}), silentLogger)).rejects.toThrow('A judge needs a model');
    const opened = await openJudge(
      createConfig({ OPENAI_BASE_URL: server.baseUrl, OPENAI_API_KEY: TEST_KEY }),
      silentLogger,
    );
    server.script({ do: 'reply', value: SAME });
    const report = await judgeCases([createExplanation('a', 'x')], { ...judge(), ...opened }, never);
    expect(report.promptHash).toMatch(/^[0-9a-f]{16}$/);
    expect(findFigure(scoreJudge(report).figures, 'judge: cause same').value).toBe(1);
  });
});

const SECRET = ['ghp', '16C7e42F292c6912E7710c838347Ae178B4a'].join('_');

function createExplanation(id: string, rootCause: string): ReplayedCase {
  const said = {
    rootCause: `${rootCause}; token ${SECRET}`,
    fixRecommendation: 'include it',
    action: 'human_review',
  };
  return createReplayed({ id, root_cause: `what is true of ${id}`, fix: 'include the new header' }, said);
}

function judge(): JudgeOptions {
  const prompt = loadPrompt(JUDGE.prompt);
  const limits = { timeoutMs: 5000, maxRetries: 0, retryDelayMs: 1 };
  const chatModel = createOpenAiChatModel({
    baseUrl: server.baseUrl,
    apiKey: TEST_KEY,
    model: 'gpt-4o-mini',
    ...limits,
  });
  return {
    chatModel,
    prompt: { hash: prompt.hash, render: (values) => renderPrompt(prompt, values) },
    repeats: 1,
    concurrency: 4,
    timeoutMs: 60_000,
    masker: createMasker(),
  };
}

function createConfig(environment: Record<string, string>) {
  return loadConfig(createEmbeddedPreset('data', 'knowledge'), environment, () => '');
}

function readUserMessage({ messages }: ChatCompletionRequest): string {
  return messages.map(({ content }) => content).join('\n');
}
