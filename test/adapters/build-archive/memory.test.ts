import { createMemoryArchive } from '../../../src/adapters/build-archive/memory.ts';
import { buildArchiveContract } from '../../contract/build-archive-contract.ts';

buildArchiveContract('memory', async () => ({ archive: createMemoryArchive(), dispose: async () => undefined }));
