import { writeSync } from 'node:fs';
import { TriageError } from '../../../src/domain/errors.ts';
import { openPglite } from '../../../src/stores/database/pglite.ts';

/**
 * The victim of the crash test: opens the directory, says "ready", and inserts rows for ever, naming each on its standard
 * output once it is committed. Where the directory is locked it says "locked" and the holder's PID.
 */
async function write(dataDir: string): Promise<void> {
  const db = await openPglite({ dataDir });
  await db.migrate();
  writeSync(1, 'ready\n');
  for (let row = 0; ; row += 1) {
    const id = `${process.pid}-${row}`;
    await db.transaction(async (sql) => {
      await sql.query(
        `insert into deliveries (source, delivery_id, event, body_sha256) values ('crash', $1, 'e', $2)`,
        [id, 'x'.repeat(500)],
      );
    });
    writeSync(1, `${id}\n`);
  }
}

write(process.argv[2] ?? '').catch((error: unknown) => {
  if (!(error instanceof TriageError) || error.code !== 'locked') throw error;
  writeSync(1, `locked ${String(error.details.pid)}\n`);
});
