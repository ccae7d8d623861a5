import { expect, it } from 'vitest';
import { createPostgresArchive } from '../../../src/stores/archive/postgres.ts';
import { buildArchiveContract } from '../../contract/build-archive-contract.ts';
import { openEmbeddedDatabase } from '../../support/pglite.ts';

buildArchiveContract('postgres on pglite', async () => {
  const db = await openEmbeddedDatabase();
  return { archive: createPostgresArchive(db), dispose: db.dispose };
});

it('T68: if the disk is full in the middle of a text, the old text stays complete, and the error is retryable', async () => {
  const db = await openEmbeddedDatabase();
  const archive = createPostgresArchive(db);
  const log = (text: string) => ({ name: 'build.log', kind: 'log' as const, text, notes: [] });
  await archive.put('bld', log('old'));
  // What PostgreSQL answers where it cannot make a file longer.
  await db.query(`
    create function no_room() returns trigger language plpgsql as $$
    begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$`);
  await db.query(
    `create trigger no_room before insert on build_source_chunks for each row when (new.chunk = 50) execute function no_room()`,
  );

  const big = Array.from({ length: 60_000 }, (_, line) => `line ${line}`).join('\n');
  await expect(archive.put('bld', log(big))).rejects.toMatchObject({
    code: 'storage-failed',
    retryable: true,
    details: { state: '53100' },
  });
  await expect(archive.put('new', log(big))).rejects.toMatchObject({ code: 'storage-failed' });

  expect(await archive.read('bld', 'build.log')).toBe('old');
  expect(await archive.list('new')).toEqual([]);
  await db.query('drop trigger no_room on build_source_chunks');
  await archive.put('bld', log(big));
  expect(await archive.read('bld', 'build.log')).toBe(big);
  await db.dispose();
});
