import { describe, expect, it } from 'vitest';
import type { Thread, Turn } from '../../../src/domain/conversation.ts';
import { createId } from '../../../src/domain/ids.ts';
import type { StoresWorld } from './world.ts';

export function testConversationsContract(world: StoresWorld): void {
  describe('conversations', () => {
    it('store a thread with its first turn, and every turn completely and in order', async () => {
      const { thread } = await createThread(world);
      const { conversations } = world.stores;
      expect(await conversations.find(thread.id)).toBeNull();
      const turns = [1, 2, 3].map((position) => createTurn(thread, position));
      for (const turn of turns) await conversations.append(thread, turn);
      expect(await conversations.find(thread.id)).toEqual({
        ...thread,
        turns: 3,
        lastAskedAt: turns[2]?.askedAt,
      });
      expect(await conversations.turns(thread.id, 10)).toEqual(turns);
      expect((await conversations.turns(thread.id, 2)).map(({ position }) => position)).toEqual([2, 3]);
    });

    it('give each position to one question only', async () => {
      const { thread } = await createThread(world);
      const { conversations } = world.stores;
      await conversations.append(thread, createTurn(thread, 1));
      const both = await Promise.allSettled(
        [2, 2].map((position) => conversations.append(thread, createTurn(thread, position))),
      );
      expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(
        both.find((promiseSettledResult) => promiseSettledResult.status === 'rejected')?.reason,
      ).toMatchObject({
        code: 'conflict',
        retryable: true,
      });
      expect(await conversations.turns(thread.id, 10)).toHaveLength(2);
    });

    it('list threads of an analysis and of a build, newest question first', async () => {
      const { thread, buildId } = await createThread(world);
      const other = { ...thread, id: createId('thr') };
      const { conversations } = world.stores;
      await conversations.append(thread, createTurn(thread, 1));
      await conversations.append(other, createTurn(other, 1));
      await conversations.append(thread, createTurn(thread, 2));
      for (const filter of [{ analysisId: thread.analysisId }, { buildId }])
        expect((await conversations.list(filter, { limit: 10, offset: 0 })).map(({ id }) => id)).toEqual([
          thread.id,
          other.id,
        ]);
      expect(
        await conversations.list({ analysisId: thread.analysisId }, { limit: 1, offset: 1 }),
      ).toHaveLength(1);
      expect(await conversations.list({ analysisId: 'ana_none' }, { limit: 10, offset: 0 })).toEqual([]);
    });

    it('delete a thread with its turns, and do not restore it for an answer in progress', async () => {
      const { thread } = await createThread(world);
      const { conversations } = world.stores;
      await conversations.append(thread, createTurn(thread, 1));
      expect(await conversations.remove(thread.id)).toBe(true);
      expect(await conversations.remove(thread.id)).toBe(false);
      expect(await conversations.turns(thread.id, 10)).toEqual([]);
      await expect(conversations.append(thread, createTurn(thread, 2))).rejects.toMatchObject({
        code: 'conflict',
      });
      expect(await conversations.find(thread.id)).toBeNull();
    });
  });
}

async function createThread(world: StoresWorld): Promise<{ thread: Thread; buildId: string }> {
  const build = await world.build({ number: createId('bld') });
  const analysis = await world.storeAnalysis(build, createId('fal'));
  const at = '2026-01-02T03:04:05.678Z';
  const thread = {
    id: createId('thr'),
    analysisId: analysis.id,
    buildId: build.id,
    title: 'why?',
    startedBy: 'ada',
    startedAt: at,
    lastAskedAt: at,
    turns: 0,
  };
  return { thread, buildId: build.id };
}

function createTurn({ id }: Thread, position: number): Turn {
  return {
    threadId: id,
    position,
    question: `why ${position}?`,
    askedBy: 'ada',
    askedAt: `2026-01-02T03:04:${10 + position}.000Z`,
    shape: 'explanation',
    about: 'the cause',
    text: 'So.',
    milliseconds: 3,
    statements: [
      {
        lead: '',
        text: 'So [E1].',
        evidence: ['E1'],
        quotes: [{ source: 'log', line: 3, text: 'found 2' }],
        basis: 'evidence',
      },
    ],
    citations: [{ id: 'E1', title: 'Failure', tool: 'log', source: 'log', lineStart: 3, lineEnd: 3 }],
    leftOut: [{ text: 'No.', reason: 'it cites nothing' }],
    evidence: [],
    steps: [],
    usage: { inputTokens: 1, outputTokens: 2, costUsd: 0.5, modelCalls: 1, toolCalls: 0, iterations: 1 },
    analyst: 'rules',
    model: null,
    promptHashes: {},
    notes: [],
  };
}
