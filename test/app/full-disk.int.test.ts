import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { type Backends, createReadiness, listBackendChecks } from '../../src/app/health.ts';
import { createEmbeddedPreset } from '../../src/config/load.ts';
import { Config } from '../../src/config/schema.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { openEmbeddedDatabase } from '../support/pglite.ts';

it('readiness reports the full disk of a database server from the first refused upload until there is space again', async () => {
  const store = await openEmbeddedDatabase();
  const url = 'postgres://db.example.test/faultline';
  const database = { driver: 'postgres', url, readerUrl: null, ownerUrl: null, poolSize: 2 };
  const config = Config.parse({ ...createEmbeddedPreset(tmpdir(), tmpdir()), database });
  const checks = listBackendChecks({
    config,
    database: store,
    vectorIndex: { driver: 'pgvector' },
  } as unknown as Backends)
    .filter(({ name }) => name === 'disk')
    .map((backendCheck) => ({ ...backendCheck, freshMs: 0 }));
  const readiness = createReadiness(checks, { logger: silentLogger, clock: { now: Date.now } });
  const fill = `do $$ begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$`;
  expect(await readiness()).toMatchObject({ ok: true, backends: { disk: { state: 'ok' } } });

  // What PostgreSQL answers where it cannot make a file longer, here for every new table.
  await store.query(`create function no_room() returns event_trigger language plpgsql as $body$
    begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $body$`);
  await store.query(
    "create event trigger no_room on ddl_command_start when tag in ('CREATE TABLE AS') execute function no_room()",
  );
  expect(await readiness()).toMatchObject({ ok: true });
  await expect(store.query(fill)).rejects.toMatchObject({
    code: 'storage-failed',
    details: { state: '53100' },
  });
  const full = await readiness();
  expect(full).toMatchObject({ ok: false, degraded: ['disk'], backends: { disk: { state: 'down' } } });
  expect(full.backends.disk?.says).toContain('The disk of the database server is full');

  await store.query('drop event trigger no_room');
  expect(await readiness()).toMatchObject({ ok: true, degraded: [] });
  await store.dispose();
});
