import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/time.ts';
import { createStores } from '../../src/stores/stores.ts';
import { openMigrated, startPostgres, type TestServer, withoutPostgres } from '../support/postgres.ts';
import { sampleBuild, sampleGroup } from './samples.ts';

const MESSAGE = 'The walrus enclosure could not be reached';

const COPY = `
  insert into failures (id, build_id, repository, group_number, position, fingerprint_algorithm, fingerprint_version, fingerprint, generic,
    test_name, message, body, seen_at)
  select 'fail_copy', $2, repository, group_number, position, fingerprint_algorithm, fingerprint_version, fingerprint, generic,
    test_name, message, body, seen_at
  from failures where build_id = $1`;

describe.skipIf(withoutPostgres)('the texts of failures', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => server?.dispose());

  it('are kept if one process stores a text again while another deletes its last failure', async () => {
    const db = await openMigrated(server);
    const stores = createStores(db, systemClock);
    const [old, fresh] = [
      (await stores.builds.upsert(sampleBuild({ number: '1' }))).build.id,
      (await stores.builds.upsert(sampleBuild({ number: '2' }))).build.id,
    ];
    await stores.failures.saveGroups(old, [sampleGroup(old, 'a', { message: MESSAGE })]);
    const said = Promise.withResolvers<void>();
    const saying = db.transaction(async (sql) => {
      await sql.query(COPY, [old, fresh]);
      said.resolve();
      await delay(300);
    });
    await said.promise;

    await Promise.all([saying, db.query('delete from builds where id = $1', [old])]);

    expect(await db.query('select message from failure_messages')).toEqual([{ message: MESSAGE }]);
    expect(await db.query('select build_id as build from failures')).toEqual([{ build: fresh }]);
    await db.dispose();
  });
});
