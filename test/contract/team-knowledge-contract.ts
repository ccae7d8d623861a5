import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Passage, TeamDocument, TeamKnowledgeStore } from '../../src/ports/knowledge.ts';

export interface TeamKnowledgeUnderTest {
  readonly store: TeamKnowledgeStore;
  dispose(): Promise<void>;
}

const DOCUMENT: TeamDocument = {
  id: 'doc_1',
  source: 'runbooks/disk.md',
  title: 'When the agents run full',
  format: 'markdown',
  category: 'INFRA_ERROR',
  hash: 'a',
  bytes: 100,
  passages: 2,
  notes: ['a picture is left out'],
  importedBy: 'mara',
  importedAt: '2026-01-02T03:04:05.000Z',
};
const PASSAGES: Passage[] = [
  {
    position: 1,
    place: 'Symptoms',
    text: 'The agent says "no space left on device" while the layer cache is written.',
  },
  {
    position: 2,
    place: 'Fix',
    text: "Drain the agent and run docker system prune, then undrain it. It's owned by Platform & Tools.",
  },
];

/** What every store of a team's documents promises. */
export function testTeamKnowledgeContract(name: string, open: () => Promise<TeamKnowledgeUnderTest>): void {
  describe(`team knowledge: ${name}`, () => {
    let under: TeamKnowledgeUnderTest;
    let store: TeamKnowledgeStore;
    beforeAll(async () => {
      under = await open();
      store = under.store;
    });
    afterAll(async () => under.dispose());
    beforeEach(async () => {
      for (const { id } of await store.list()) await store.remove(id);
      await store.put(DOCUMENT, PASSAGES);
      const other = {
        ...DOCUMENT,
        id: 'doc_2',
        source: 'runbooks/vpn.md',
        title: 'The tunnel',
        category: null,
        passages: 1,
      };
      await store.put(other, [
        { position: 1, place: 'page 1', text: 'When the tunnel drops, restart openvpn on the gateway host.' },
      ]);
    });

    it('returns what was stored, by id, by source and in the order of sources', async () => {
      expect(await store.find('doc_1')).toEqual(DOCUMENT);
      expect(await store.find('runbooks/disk.md')).toEqual(DOCUMENT);
      expect(await store.find('absent')).toBeNull();
      expect(await store.passages('doc_1')).toEqual(PASSAGES);
      expect((await store.list()).map(({ id }) => id)).toEqual(['doc_1', 'doc_2']);
      expect((await store.all()).map(({ document, position }) => [document.id, position])).toEqual([
        ['doc_1', 1],
        ['doc_1', 2],
        ['doc_2', 1],
      ]);
    });

    it('replaces a document with the same source, with all passages, under the same id', async () => {
      const id = await store.put({ ...DOCUMENT, id: 'doc_9', hash: 'b', passages: 1 }, [
        { position: 1, place: 'Whole', text: 'Buy disks.' },
      ]);

      expect(id).toBe('doc_1');
      expect(await store.find('runbooks/disk.md')).toMatchObject({ id: 'doc_1', hash: 'b' });
      expect(await store.passages('doc_1')).toEqual([{ position: 1, place: 'Whole', text: 'Buy disks.' }]);
      expect(await store.search({ text: 'no space left on device', limit: 5 })).toEqual([]);
    });

    it('removes a document with its passages, once', async () => {
      expect(await store.remove('doc_1')).toBe(true);
      expect(await store.remove('doc_1')).toBe(false);
      expect(await store.passages('doc_1')).toEqual([]);
      expect((await store.all()).map(({ document }) => document.id)).toEqual(['doc_2']);
    });

    it('finds a passage by a line that it quotes, with a score near one and its document', async () => {
      const [best] = await store.search({ text: 'no space left on device', limit: 3 });

      expect(best).toMatchObject({
        ...PASSAGES[0],
        document: { id: 'doc_1', source: 'runbooks/disk.md', title: DOCUMENT.title },
      });
      expect(best?.score).toBeGreaterThan(0.9);
    });

    it('gives a low score for few common words, and finds nothing without a common word', async () => {
      const scores = (
        await store.search({
          text: 'NullPointerException in CheckoutService while the agent greets',
          limit: 5,
        })
      ).map(({ score }) => score);

      for (const score of scores) expect(score).toBeLessThan(0.4);
      expect(await store.search({ text: 'quetzalcoatl', limit: 5 })).toEqual([]);
      expect(await store.search({ text: '', limit: 5 })).toEqual([]);
      expect(await store.search({ text: "'; drop table -- \\ & | ! ( ) <-> :*", limit: 5 })).toEqual([]);
    });

    it('finds documents of the requested category, and those without one', async () => {
      const find = async (text: string, category: 'INFRA_ERROR' | 'CODE_ERROR') =>
        (await store.search({ text, limit: 5, category })).map(({ document }) => document.id);

      expect(await find('no space left on device', 'INFRA_ERROR')).toEqual(['doc_1']);
      expect(await find('no space left on device', 'CODE_ERROR')).toEqual([]);
      expect(await find('restart openvpn on the gateway', 'CODE_ERROR')).toEqual(['doc_2']);
    });

    it('returns at most the limit, best first', async () => {
      const matches = await store.search({
        text: 'the agent ran out of space on device: docker layer cache',
        limit: 1,
      });

      expect(matches).toHaveLength(1);
      const scores = (await store.search({ text: 'agent cache docker gateway', limit: 9 })).map(
        ({ score }) => score,
      );
      expect(scores).toEqual(scores.toSorted((left, right) => right - left));
    });
  });
}
