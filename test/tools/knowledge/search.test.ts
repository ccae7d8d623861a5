import { beforeAll, describe, expect, it } from 'vitest';
import { TriageError } from '../../../src/domain/errors.ts';
import { createHashingEmbedder } from '../../../src/models/embedder/hashing.ts';
import { loadKnowledge, readKnowledge, toKnowledgeItems } from '../../../src/tools/knowledge-base.ts';
import { fuse } from '../../../src/tools/search-knowledge.ts';
import { makePdf } from '../../support/documents.ts';
import { createContext } from '../sources.ts';
import { createServiceWorld } from './world.ts';

const FOLDER = new URL('../../../knowledge', import.meta.url).pathname;

describe("search_knowledge in a team's documents", () => {
  const world = createServiceWorld();
  beforeAll(async () => {
    await loadKnowledge(world.words, await readKnowledge(FOLDER));
    const runbook =
      '# Gateway\n\n## Symptoms\n\nThe job says "tunnel zephyr-7 refused our handshake" and stops.\n\n## Fix\n\nRestart zephyr-7.\n';
    await world.add('ops/gateway.md', runbook, { category: 'INFRA_ERROR' });
    await world.add('ops/pm.pdf', makePdf([['Post-mortem'], ['quota of ledger shard quokka exceeded']]));
  });
  const search = (query: string, more: object = {}) =>
    createContext({ vectorIndex: world.words, knowledge: { team: world.store } })(
      'INFRA_ERROR',
      'search_knowledge',
      { query, ...more },
    );

  it('finds the passage with a line of the failure, cited by document and heading', async () => {
    const { findings } = await search('10:01 ERROR tunnel zephyr-7 refused our handshake');

    expect(findings[0]).toMatchObject({
      title: 'Gateway (Gateway › Symptoms)',
      source: 'team-knowledge/ops/gateway.md#Gateway › Symptoms',
      data: { document: 'ops/gateway.md', place: 'Gateway › Symptoms', category: 'INFRA_ERROR' },
    });
    expect(findings[0]?.score).toBeGreaterThan(0.75);
    expect((await search('quota of ledger shard quokka exceeded')).findings[0]).toMatchObject({
      data: { place: 'page 2' },
    });
  });

  it('returns the fix of a passage that has one', async () => {
    const { findings } = await search('Restart zephyr-7 please now');

    expect(findings[0]?.data).toMatchObject({ place: 'Gateway › Fix', fix: 'Restart zephyr-7.' });
  });

  it('finds curated documents first for their own phrases, whether or not the team has documents', async () => {
    const { findings } = await search('write failed: No space left on device');

    expect(findings[0]?.data).toMatchObject({ kind: 'disk_full' });
    expect(findings.some(({ source }) => source.startsWith('team-knowledge/'))).toBe(false);
  });
});

describe('search_knowledge with an embedding model', () => {
  it('combines words and meaning, and finds passages without a common word', async () => {
    // A model that knows that a gateway and a tunnel are one thing.
    const hashing = createHashingEmbedder();
    const knowing = {
      ...hashing,
      name: 'knowing',
      embed: (texts: readonly string[]) =>
        hashing.embed(texts.map((text) => text.replace(/wormhole trouble/g, 'zephyr tunnel handshake'))),
    };
    const world = createServiceWorld({
      embedder: knowing,
      curated: toKnowledgeItems(await readKnowledge(FOLDER)).slice(0, 60),
    });
    await loadKnowledge(world.words, await readKnowledge(FOLDER));
    await world.add('ops/gateway.md', 'zephyr tunnel handshake');
    const ask = (knowledge: object) =>
      createContext({ vectorIndex: world.words, knowledge })('INFRA_ERROR', 'search_knowledge', {
        query: 'wormhole trouble',
        limit: 2,
      });

    const found = (await ask({ team: world.store, semantic: world.semantic })).findings;
    expect(found.map(({ source }) => source)).toContain('team-knowledge/ops/gateway.md#beginning');
    expect((await ask({ team: world.store })).findings.map(({ source }) => source)).not.toContain(
      'team-knowledge/ops/gateway.md#beginning',
    );
  });

  it('searches by words alone with a note if the model fails', async () => {
    const hashing = createHashingEmbedder();
    let down = false;
    const embed: typeof hashing.embed = async (texts) => {
      if (down)
        throw new TriageError('upstream-failed', 'The embedding server failed (HTTP 500)', {
          retryable: true,
        });
      return hashing.embed(texts);
    };
    const world = createServiceWorld({ embedder: { ...hashing, embed } });
    await world.add('ops/gateway.md', 'tunnel zephyr-7 refused our handshake');
    down = true;
    const outcome = await createContext({
      vectorIndex: world.words,
      knowledge: { team: world.store, semantic: world.semantic },
    })('INFRA_ERROR', 'search_knowledge', { query: 'tunnel zephyr-7 refused our handshake' });

    expect(outcome.status).toBe('ok');
    expect(outcome.findings[0]?.data).toMatchObject({
      document: 'ops/gateway.md',
      note: 'Found by words only: The embedding server failed (HTTP 500)',
    });
  });
});

describe('combining ranked lists', () => {
  const list = (...keys: string[]) => keys.map((key, index) => ({ key, score: 1 - index / 10 }));

  it('puts first what both lists contain, and keeps the better score', () => {
    const [first] = fuse([list('a', 'b'), [{ key: 'b', score: 0.99 }]]);

    expect(first).toEqual({ key: 'b', score: 0.99 });
  });

  it('does not change a single list', () => {
    expect(fuse([list('a', 'b', 'c')]).map(({ key }) => key)).toEqual(['a', 'b', 'c']);
  });
});
