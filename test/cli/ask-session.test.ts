import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { showWordByWord } from '../../src/cli/ask/answer-text.ts';
import type { Answered, AskClient } from '../../src/cli/ask/ask-clients.ts';
import { runSession } from '../../src/cli/ask/session.ts';
import type { Thread, Turn } from '../../src/domain/conversation.ts';
import { TriageError } from '../../src/domain/errors.ts';
import type { AskWatcher } from '../../src/service/ask/answer-question.ts';

const USAGE = { inputTokens: 0, outputTokens: 0, costUsd: 0, modelCalls: 0, toolCalls: 0, iterations: 1 };
const step = {
  node: 'understand',
  round: 0,
  startedAt: '2026-01-02T03:04:05.678Z',
  milliseconds: 3,
  summary: 'explanation: the cause',
  by: 'rules',
};

function createAnswered(question: string, threadId = 'thr_1'): Answered {
  return {
    threadId,
    position: 1,
    question,
    askedBy: 'ada',
    askedAt: '2026-01-02T03:04:05.678Z',
    shape: 'explanation',
    about: 'it',
    text: `about ${question}`,
    statements: [],
    leftOut: [{ text: 'Invented.', reason: 'it cites E77, which does not exist' }],
    evidence: [],
    citations: [
      { id: 'E1', title: 'failed test', tool: 'log', source: 'build.log', lineStart: 12, lineEnd: 13 },
    ],
    usage: USAGE,
    analyst: 'rules',
    model: null,
    promptHashes: {},
    notes: [],
    milliseconds: 5,
  };
}

type Asking = (
  question: string,
  thread: string | undefined,
  watcher: AskWatcher,
  signal: AbortSignal,
) => Promise<Answered>;

function createAskClient(ask: Asking): AskClient {
  const thread: Thread = {
    id: 'thr_1',
    analysisId: 'ana_1',
    buildId: 'bld_1',
    title: 'why?',
    startedBy: 'ada',
    startedAt: step.startedAt,
    lastAskedAt: step.startedAt,
    turns: 1,
  };
  const turns: Turn[] = [{ ...createAnswered('why?'), steps: [step] }];
  return {
    target: 'ana_1',
    kept: true,
    ask,
    threads: async () => [thread],
    turns: async () => turns,
    close: async () => undefined,
  };
}

/** Types each line once the prompt stands; returns what was shown and the thread that was left. */
async function talkToSession(
  client: AskClient,
  lines: readonly string[],
  thread?: string,
  onShown?: (shown: string, type: (text: string) => void) => void,
) {
  const input = new PassThrough();
  const output = new PassThrough();
  const waiting = [...lines];
  let shown = '';
  output.on('data', (chunk) => {
    shown += String(chunk);
    onShown?.(shown, (text) => input.write(text));
    if (!String(chunk).endsWith('ask> ')) return;
    const next = waiting.shift();
    if (next === undefined) input.end();
    else input.write(`${next}\n`);
  });
  const last = await runSession(client, thread, { input, output, terminal: false });
  return { shown, last };
}

it('asks in one thread, shows citations and unsupported statements, and traces the last answer', async () => {
  const heard: (string | undefined)[] = [];
  const client = createAskClient(async (question, thread, watcher) => {
    heard.push(thread);
    watcher.onStep?.(step);
    watcher.onText?.({ text: `about ${question}` });
    return createAnswered(question);
  });
  const { shown, last } = await talkToSession(client, [
    '/trace',
    'why?',
    'who?',
    '/trace',
    '/threads',
    '/help',
    '/new',
    'again?',
    '/quit',
    'never asked',
  ]);
  expect(heard).toEqual([undefined, 'thr_1', undefined]);
  expect(last).toBe('thr_1');
  expect(shown).toContain('[E1] build.log:12-13 failed test');
  expect(shown).toContain('“Invented.”: it cites E77, which does not exist');
  expect(shown).toMatch(/understand +3 ms {2}rules {2}explanation: the cause/);
  expect(shown).toContain('thr_1  2026-01-02 03:04  1 question  why?');
  expect(shown).toContain('/quit');
});

it('continues an earlier thread, and exits at the end of the input', async () => {
  const { shown, last } = await talkToSession(
    createAskClient(async (question) => createAnswered(question)),
    [],
    'thr_1',
  );
  expect(shown).toContain('> why?');
  expect(shown).toContain('Continuing thr_1 (1 question so far).');
  expect(last).toBe('thr_1');
});

it('continues after an answer that failed', async () => {
  const client = createAskClient(async (question) => {
    if (question === 'stop') throw new TriageError('cancelled', 'The answer was stopped.');
    throw new TriageError('rate-limited', '8 questions are already being answered \u001b[2Jalready.');
  });
  const { shown } = await talkToSession(client, ['why?', 'stop']);
  expect(shown).toContain('error: 8 questions are already being answered ');
  expect(shown).not.toContain('\u001b[2J');
  expect(shown).toContain('Stopped. This question is not stored.');
});

it('prints whole words without terminal escapes, wherever the stream is cut, and marks retracted text', () => {
  let shown = '';
  const words = showWordByWord((text) => {
    shown += text;
  });
  for (const text of ['Half a\u001b', '[2J line', ' and\nmore']) words.onText({ text });
  words.onText({ text: 'Anew.', restart: true });
  words.end();
  expect(shown).toMatch(/^Half a⟦U\+001B⟧\[2J line and\nmore\n\[the answer stopped there.*\]\nAnew\.$/);
});
