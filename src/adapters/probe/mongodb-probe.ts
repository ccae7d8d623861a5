import { MongoClient } from 'mongodb';
import { z } from 'zod';

const SELECT_MS = 3_000;

const BuildInfo = z.object({ version: z.string() });
const Hello = z.object({ isWritablePrimary: z.boolean().optional() });

/** Asks a MongoDB server what it is, over a connection of its own. Throws what the driver throws. */
export async function probeMongodb(url: string, database: string) {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: SELECT_MS, connectTimeoutMS: SELECT_MS, socketTimeoutMS: SELECT_MS });
  try {
    const db = client.db(database);
    const hello = Hello.parse(await db.command({ hello: 1 }));
    const { version } = BuildInfo.parse(await db.command({ buildInfo: 1 }));
    return { version, writable: hello.isWritablePrimary !== false };
  } finally {
    await client.close();
  }
}
