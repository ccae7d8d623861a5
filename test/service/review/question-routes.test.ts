import { describe, expect, it } from 'vitest';
import { buildHttp } from '../../../src/api/server.ts';
import type { ReviewerQuestion } from '../../../src/domain/review.ts';
import type { QuestionStore } from '../../../src/stores/conversations.ts';
import { createEmptyHttpDeps } from '../../support/http-deps.ts';

const TOKEN = 'a-token-of-the-reviewer-grace';
const WAITING: ReviewerQuestion = {
  id: 'rev_1',
  kind: 'question',
  triageId: 'tri_1',
  buildId: 'bld_1',
  repository: 'shop/api',
  title: 'it failed',
  category: 'CODE_ERROR',
  question: 'Was it meant to be empty?',
  state: 'waiting',
  answer: null,
  answeredBy: null,
  answeredAt: null,
  openedAt: '2026-10-12T14:00:00.000Z',
  expiresAt: '2026-10-13T14:00:00.000Z',
};

/** The same with other answers to some questions; a spread would lose the others, which a proxy gives. */
function withChanges<Kind extends object>(original: Kind, changes: Partial<Kind>): Kind {
  return Object.assign(Object.create(original), changes);
}

async function openRoutes() {
  const empty = createEmptyHttpDeps();
  const enqueued: string[] = [];
  let stored = WAITING;
  const questions: QuestionStore = {
    ask: async () => stored,
    find: async (id) => (id === stored.id ? stored : null),
    findByTriage: async () => stored,
    list: async ({ state }) => (stored.state === state ? [stored] : []),
    answer: async (id, answer, by) => {
      if (id !== stored.id || stored.state !== 'waiting') return null;
      stored = {
        ...stored,
        state: 'answered',
        answer,
        answeredBy: by,
        answeredAt: '2026-10-12T15:00:00.000Z',
      };
      return stored;
    },
    expire: async () => [],
  };
  const app = await buildHttp({
    ...empty,
    config: { ...empty.config, auth: { tokens: [{ name: 'grace', token: TOKEN, roles: ['review'] }] } },
    stores: withChanges(empty.stores, {
      questions,
      reviews: withChanges(empty.stores.reviews, { list: async () => [] }),
    }),
    notifier: { notify: (_topic, key) => void enqueued.push(key), settle: async () => undefined },
  });
  const ask = (method: 'GET' | 'POST', url: string, payload?: object) =>
    app.inject({
      method,
      url,
      headers: { authorization: `Bearer ${TOKEN}` },
      ...(payload === undefined ? {} : { payload }),
    });
  return { ask, enqueued };
}

describe('a question in the review queue', () => {
  it('is shown, answered once under the name of the token, and triggers a notification of the build', async () => {
    const { ask, enqueued } = await openRoutes();
    expect((await ask('GET', '/api/reviews')).json()).toMatchObject({
      items: [],
      questions: [{ id: 'rev_1', kind: 'question' }],
    });
    const answered = await ask('POST', '/api/reviews/rev_1/answer', { answer: ' It was not. ' });
    expect(answered.json()).toMatchObject({ state: 'answered', answer: 'It was not.', answeredBy: 'grace' });
    expect(enqueued).toEqual([WAITING.buildId]);
    expect((await ask('POST', '/api/reviews/rev_1/answer', { answer: 'No.' })).statusCode).toBe(409);
    expect((await ask('GET', '/api/reviews')).json()).toMatchObject({ questions: [] });
  });

  it('refuses an empty answer, and is not found if it does not exist', async () => {
    const { ask } = await openRoutes();
    expect((await ask('POST', '/api/reviews/rev_1/answer', { answer: '  ' })).statusCode).toBe(400);
    expect((await ask('POST', '/api/reviews/rev_9/answer', { answer: 'No.' })).statusCode).toBe(404);
  });
});
