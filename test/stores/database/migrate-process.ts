import { openPostgres } from '../../../src/stores/database/postgres.ts';

/** `node migrate-process.ts URL FOLDER`: a process of its own that migrates, for tests that start two or kill one. */
const [url = '', migrationsFolder = ''] = process.argv.slice(2);
const database = await openPostgres({ url, poolSize: 2, migrationsFolder });
const { applied } = await database.migrate();
await database.close();
process.stdout.write(JSON.stringify(applied));
