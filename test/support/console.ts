import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { buildHttp, type HttpDeps } from '../../src/api/server.ts';
import { systemClock } from '../../src/lib/time.ts';
import type { BuildArchive } from '../../src/ports/build-archive.ts';
import { createPostgresArchive } from '../../src/stores/archive/postgres.ts';
import { createStores, type Stores } from '../../src/stores/stores.ts';
import { createEmptyHttpDeps, TOKENS } from './http-deps.ts';
import { openTestDatabase, type TestDatabase } from './postgres.ts';
import { createStoredAsk, createStoredRepositoryAsk } from './stored-ask.ts';

export { TOKENS };

/** The console over an empty embedded database. */
export interface TestConsole {
  readonly app: FastifyInstance;
  readonly stores: Stores;
  readonly database: TestDatabase;
  readonly archive: BuildArchive;
  close(): Promise<void>;
}

export async function openConsole(changes: Partial<HttpDeps> = {}): Promise<TestConsole> {
  const database = await openTestDatabase();
  const stores = createStores(database, systemClock);
  const archive = createPostgresArchive(database);
  const app = await buildHttp({
    ...createEmptyHttpDeps(),
    stores,
    database,
    archive,
    ask: createStoredAsk(stores),
    repositoryAsk: createStoredRepositoryAsk(stores),
    ...changes,
  });
  const close = async () => {
    await app.close();
    await database.dispose();
  };
  return { app, stores, database, archive, close };
}

/** Requests a page with a token, which needs no cookie. */
export async function getPage(
  app: FastifyInstance,
  url: string,
  token: string = TOKENS.admin,
): Promise<LightMyRequestResponse> {
  return await app.inject({ url, headers: { authorization: `Bearer ${token}` } });
}

/** Posts a form with a token. A list becomes several values of one field. */
export async function postForm(
  app: FastifyInstance,
  url: string,
  fields: Readonly<Record<string, string | number | readonly string[]>>,
  token: string = TOKENS.admin,
): Promise<LightMyRequestResponse> {
  const body = new URLSearchParams();
  for (const [name, values] of Object.entries(fields))
    for (const value of [values].flat()) body.append(name, String(value));
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-www-form-urlencoded' };
  return await app.inject({ method: 'POST', url, headers, payload: body.toString() });
}
