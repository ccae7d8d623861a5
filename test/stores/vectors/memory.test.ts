import { createHashingEmbedder } from '../../../src/models/embedder/hashing.ts';
import { createMemoryIndex } from '../../../src/stores/vectors/memory.ts';
import { vectorIndexContract } from '../../contract/vector-index-contract.ts';

vectorIndexContract('memory', async () => ({
  index: createMemoryIndex(createHashingEmbedder()),
  dispose: async () => undefined,
}));
