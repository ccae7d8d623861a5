import { expect, it } from 'vitest';
import { createHashingEmbedder } from '../../../src/models/embedder/hashing.ts';
import { createMemoryIndex } from '../../../src/stores/vectors/memory.ts';
import { createHashedItem, synchronizeItems } from '../../../src/tools/knowledge-base.ts';

it('synchronizing keeps what is added while the index is read, and removes what is gone', async () => {
  const [stays, gone, added] = ['stays', 'gone', 'added'].map((id) =>
    createHashedItem(id, `text of ${id}`, {}),
  );
  if (stays === undefined || gone === undefined || added === undefined) throw new Error('three items');
  const index = createMemoryIndex(createHashingEmbedder());
  await index.upsert('team_knowledge', [stays, gone]);
  const stored = [stays];
  const slow = {
    ...index,
    list: async (namespace: 'team_knowledge' | 'knowledge' | 'error_library') => {
      // Stored and embedded by another process.
      stored.push(added);
      await index.upsert(namespace, [added]);
      return index.list(namespace);
    },
  };

  await synchronizeItems(slow, 'team_knowledge', async () => [...stored]);

  expect((await index.list('team_knowledge')).map(({ id }) => id).toSorted()).toEqual(['added', 'stays']);
});
