import { describe, expect, it } from 'vitest';
import type { FailureRow } from '../../src/domain/failure.ts';
import { createHashingEmbedder } from '../../src/models/embedder/hashing.ts';
import { createEmptyHistory } from '../../src/stores/memory.ts';
import { createMemoryIndex } from '../../src/stores/vectors/memory.ts';
import { createReaderScope } from '../../src/tools/tool.ts';
import { sampleFailure } from '../stores/samples.ts';
import { sampleSubject } from '../support/subject.ts';
import { createContext } from './sources.ts';

const MESSAGE = 'the ledger of the vault does not add up: 41 differs from 42';
const scopeFor = (...scopes: string[][]) => createReaderScope({ scopes: async () => scopes });

describe('the other repositories that tools may read', () => {
  it('are all without a scope', async () => {
    expect((await scopeFor()('shop/api'))('vault/ledger')).toBe(true);
    // A token for other repositories does not read this build.
    expect((await scopeFor(['vault/*'])('shop/api'))('vault/ledger')).toBe(true);
  });

  it("are those that every reader may see, and always the build's own", async () => {
    const sees = await scopeFor(['shop/*'], ['shop/api', 'shop/web'])('shop/api');
    expect(['shop/api', 'shop/web', 'shop/admin', 'vault/ledger'].filter(sees)).toEqual([
      'shop/api',
      'shop/web',
    ]);
  });

  it.each(['shop/web', 'vault/ledger'])('are the same for failures and decisions: %s', async (repository) => {
    const vectorIndex = createMemoryIndex(createHashingEmbedder());
    await vectorIndex.upsert('error_library', [
      {
        id: 'lib_1',
        text: MESSAGE,
        metadata: { title: 'Vault', category: 'CODE_ERROR', kind: 'unknown', repository, confirmedBy: 'ada' },
      },
    ]);
    const failure = sampleFailure('bld_1', 'aa', { message: MESSAGE });
    const row: FailureRow & { score: number } = {
      failure,
      repository,
      pipeline: 'ci',
      number: '7',
      branch: 'main',
      commit: null,
      category: null,
      analysisId: null,
      seenAt: '2026-01-01T00:00:00.000Z',
      score: 1,
    };
    const history = { ...createEmptyHistory(), kept: true, similarFailures: async () => [row] };
    const ask = createContext(
      { vectorIndex, history, scope: scopeFor(['shop/*']) },
      sampleSubject({ failures: [failure] }),
    );
    const isSeen = repository === 'shop/web';
    expect((await ask('CODE_ERROR', 'search_error_library')).findings).toHaveLength(isSeen ? 1 : 0);
    expect((await ask('CODE_ERROR', 'find_similar_failures')).findings).toHaveLength(isSeen ? 1 : 0);
  });
});
