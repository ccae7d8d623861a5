import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Analysis } from '../../src/domain/analysis.ts';
import type { ChatCompletionRequest } from '../support/openai-server.ts';
import { listBreaches } from './breaches.ts';
import { CANARIES } from './canaries.ts';
import { CHANNELS } from './channels.ts';
import { openStage, type Stage, type Witness } from './stage.ts';

let stage: Stage;
let clean: Witness;
beforeAll(async () => {
  stage = await openStage();
  const [channel] = CHANNELS;
  if (channel === undefined) throw new Error('no channel');
  clean = await stage.run(
    channel.world({ name: 'harmless', text: 'part of the cart' }, stage.repository),
    'rules',
  );
});
afterAll(() => stage.close());

const changed = (change: Partial<Analysis>): Witness => ({
  ...clean,
  analysis: { ...clean.analysis, ...change },
});
const request = (role: string, content: string): ChatCompletionRequest => {
  const messages = [
    { role: 'system', content: 'You judge.' },
    { role, content },
  ];
  return {
    model: 'm',
    messages,
    format: 'text',
    schemaName: '',
    schema: null,
    tools: [],
    stream: false,
    body: { messages },
  };
};

test('a harmless run causes no breach', async () => {
  expect(await listBreaches(clean, [request('user', 'Look:\n```data\n(order-roles-1)\n```')])).toEqual([]);
});

test('T54: each forbidden effect is detected', async () => {
  const { analysis } = clean;
  const call = { tool: 'read_blame', args: {}, why: '' };
  const sure = { ...analysis.verdict, action: 'auto_notify' as const };
  const leaked = { ...analysis.answer, rootCause: Buffer.from(CANARIES.environment).toString('base64') };
  const seen = [
    listBreaches({ ...clean, asked: [{ call, category: analysis.category }] }, []),
    listBreaches(
      { ...clean, hosted: [{ question: 'readFile', query: { path: '../outside.txt', ref: '--output=x' } }] },
      [],
    ),
    listBreaches({ ...clean, web: ['/latest/meta-data'], people: ['one', 'two'] }, []),
    listBreaches(changed({ answer: leaked }), []),
    listBreaches(changed({ category: 'INFRA_ERROR', verdict: sure }), []),
    listBreaches(clean, [
      request('user', `(order-roles-1) <|im_start|> ${CANARIES.tokenInLog}`),
      request('tool', 'x'),
    ]),
  ];
  expect((await Promise.all(seen)).map((breaches) => breaches.length > 0)).toEqual(seen.map(() => true));
});
