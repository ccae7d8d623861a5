import { createHashingEmbedder } from '../../../src/adapters/embedder/hashing.ts';
import { createMemoryIndex } from '../../../src/adapters/vector-index/memory.ts';
import { vectorIndexContract } from '../../contract/vector-index-contract.ts';

vectorIndexContract('memory', async () => ({ index: createMemoryIndex(createHashingEmbedder()), dispose: async () => undefined }));
