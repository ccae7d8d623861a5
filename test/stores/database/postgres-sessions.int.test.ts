import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/lib/time.ts';
import { createHashingEmbedder } from '../../../src/models/embedder/hashing.ts';
import { createPostgresCheckpointer } from '../../../src/stores/checkpointer.ts';
import { openPostgres } from '../../../src/stores/database/postgres.ts';
import { createStores } from '../../../src/stores/stores.ts';
import { createPgvectorIndex } from '../../../src/stores/vectors/pgvector.ts';
import { createLocalWakeUp } from '../../../src/work/drivers/local.ts';
import { openMigrated, startPostgres, type TestServer, withoutPostgres } from '../../support/postgres.ts';
import { openTlsProxy, type TlsProxy } from '../../support/postgres-tls.ts';
import { sampleBuild } from '../samples.ts';

const ROLES = fileURLToPath(new URL('../../../deploy/postgres-roles.sql', import.meta.url));

describe.skipIf(withoutPostgres)('sessions on a PostgreSQL server', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => server?.dispose());

  describe('TLS', () => {
    let proxy: TlsProxy;
    beforeAll(async () => {
      proxy = await openTlsProxy(server.url);
    });
    afterAll(async () => proxy.close());

    function createAddress(host: string, parameters: string): string {
      return `postgres://postgres@${host}:${proxy.port}/postgres?${parameters}`;
    }

    it.each([
      ['require believes any certificate', 'localhost', 'sslmode=require'],
      ['verify-full believes the given authority', 'localhost', 'sslmode=verify-full&sslrootcert=CA'],
      ['verify-ca does not ask for the name', '127.0.0.1', 'sslmode=verify-ca&sslrootcert=CA'],
    ])('connects or is refused: %s', async (_title, host, parameters) => {
      const before = proxy.seen.encrypted;
      const db = await openPostgres({
        url: createAddress(host, parameters.replace('CA', proxy.caFile)),
        poolSize: 2,
      });

      expect(await db.query('select 1 as one')).toEqual([{ one: 1 }]);
      expect(await db.reader?.query('select 2 as two')).toEqual([{ two: 2 }]);
      expect(proxy.seen.encrypted).toBeGreaterThan(before);
      await db.close();
    });

    it.each([
      ['an authority that nobody knows', 'localhost', 'sslmode=verify-full'],
      ['a name that the certificate is not for', '127.0.0.1', 'sslmode=verify-full&sslrootcert=CA'],
    ])('verify-full refuses %s', async (_title, host, parameters) => {
      const opening = openPostgres({
        url: createAddress(host, parameters.replace('CA', proxy.caFile)),
        poolSize: 2,
      });

      await expect(opening).rejects.toMatchObject({ code: 'storage-failed', retryable: false });
    });

    it('names the file that cannot be read', async () => {
      const opening = openPostgres({
        url: createAddress('localhost', 'sslmode=verify-full&sslrootcert=/no/such/ca.pem'),
        poolSize: 2,
      });

      await expect(opening).rejects.toMatchObject({
        code: 'invalid-config',
        message: expect.stringContaining('/no/such/ca.pem'),
      });
    });

    it('requires the file of an authority for verify-ca', async () => {
      await expect(
        openPostgres({ url: createAddress('localhost', 'sslmode=verify-ca'), poolSize: 2 }),
      ).rejects.toMatchObject({
        code: 'invalid-config',
      });
    });
  });

  it('refuse writes through the reader, whatever its role may do', async () => {
    const db = await openMigrated(server);
    const write = `insert into deliveries (source, delivery_id, event, body_sha256) values ('t', '1', 'e', 'h')`;

    await expect(db.reader?.query(write)).rejects.toMatchObject({ details: { state: '25006' } });
    await expect(db.reader?.transaction((sql) => sql.query(write))).rejects.toMatchObject({
      details: { state: '25006' },
    });

    expect(await db.query('select count(*) from deliveries')).toEqual([{ count: 0 }]);
    await db.dispose();
  });

  it('work with the roles of deploy/postgres-roles.sql: an owner, a writer without schema changes, a reader of history only', async () => {
    const url = await server.createDatabase();
    const as = (role: string) => {
      const own = new URL(url);
      own.username = role;
      return own.href;
    };
    await runFile(url);
    const db = await openPostgres({
      url: as('faultline_app'),
      ownerUrl: as('faultline_owner'),
      readerUrl: as('faultline_reader'),
      poolSize: 4,
    });
    await db.migrate();
    await runFile(url);
    await runFile(url);

    const stores = createStores(db, systemClock);
    const { build } = await stores.builds.upsert(sampleBuild());
    const history = {
      repository: build.repository,
      fingerprint: 'fp',
      test: null,
      beforeBuildId: build.id,
      limit: 5,
    };
    expect(await stores.history.failureHistory(history)).toEqual([]);
    expect(
      await stores.history.similarFailures({ text: 'x', excludeBuildId: '', minScore: 0.5, limit: 5 }),
    ).toEqual([]);
    await createPostgresCheckpointer(db);
    expect(await createLocalWakeUp({ database: db, work: stores.work }).depth()).toBe(0);
    const items = Array.from({ length: 20 }, (_, at) => ({ id: `i${at}`, text: `word ${at}`, metadata: {} }));
    await createPgvectorIndex(db, createHashingEmbedder(), { hnswFrom: 10 }).upsert('knowledge', items);
    expect(
      await db.query(`select count(*) from pg_indexes where indexname like 'vector_items_hnsw%'`),
    ).toEqual([{ count: 1 }]);

    const refused = { details: { state: '42501' } };
    await expect(db.query('drop table builds')).rejects.toMatchObject(refused);
    await expect(db.query('alter table builds add column extra int')).rejects.toMatchObject(refused);
    await expect(db.reader?.query('select * from access_tokens')).rejects.toMatchObject(refused);
    const reader = await openPostgres({ url: as('faultline_reader'), poolSize: 2 });
    await expect(reader.query(`delete from builds`)).rejects.toMatchObject(refused);
    expect(await db.migrate()).toEqual({ applied: [] });
    await reader.close();
    await db.close();
  });
});

async function runFile(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(await readFile(ROLES, 'utf8'));
  await client.end();
}
