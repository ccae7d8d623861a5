import { describe } from 'vitest';
import { createMongodbArchive } from '../../../src/stores/archive/mongodb.ts';
import { buildArchiveContract } from '../../contract/build-archive-contract.ts';
import { startMongodb, withoutMongodb } from '../../support/mongodb.ts';

describe.skipIf(withoutMongodb)('on a server', () => {
  buildArchiveContract('mongodb', async () => {
    const server = await startMongodb();
    const archive = createMongodbArchive({ url: server.url, database: server.database() });
    const dispose = async () => {
      await archive.close();
      await server.stop();
    };
    return { archive, dispose };
  });
});
