import { MongoClient } from 'mongodb';
import { z } from 'zod';
import { type Finding, ok, wrong } from '../../ports/health.ts';

const NAME = 'mongodb';
const SELECT_MS = 3_000;

const BuildInfo = z.object({ version: z.string() });
const Hello = z.object({ isWritablePrimary: z.boolean().optional() });

/**
 * Checks over its own connection whether a MongoDB server accepts writes. Throws the errors of the driver.
 */
export async function checkMongodbServer(url: string, database: string): Promise<Finding> {
  const client = new MongoClient(url, {
    serverSelectionTimeoutMS: SELECT_MS,
    connectTimeoutMS: SELECT_MS,
    socketTimeoutMS: SELECT_MS,
  });
  try {
    const db = client.db(database);
    const { isWritablePrimary } = Hello.parse(await db.command({ hello: 1 }));
    const { version } = BuildInfo.parse(await db.command({ buildInfo: 1 }));
    if (isWritablePrimary === false)
      return wrong(
        NAME,
        'this member accepts no writes',
        'list the whole replica set in FAULTLINE_MONGODB_URL',
      );
    return ok(NAME, `MongoDB ${version}`);
  } finally {
    await client.close();
  }
}
