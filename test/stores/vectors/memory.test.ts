import { createHashingEmbedder } from '../../../src/models/embedder/hashing.ts';
import { createMemoryIndex } from '../../../src/stores/vectors/memory.ts';
import { testVectorIndexContract } from '../../contract/vector-index-contract.ts';

testVectorIndexContract('memory', async () => ({
  index: createMemoryIndex(createHashingEmbedder()),
  dispose: async () => undefined,
}));
