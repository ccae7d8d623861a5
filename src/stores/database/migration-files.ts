import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The numbered SQL files that ship with Faultline. */
export const MIGRATIONS_FOLDER = fileURLToPath(new URL('../../../migrations', import.meta.url));

export interface MigrationFile {
  /** The file's name without `.sql`. */
  readonly name: string;
  readonly text: string;
  /** SHA-256 in hexadecimal digits. */
  readonly checksum: string;
}

/** Reads the SQL files of a folder in the order in which they are applied. */
export async function readMigrationFiles(folder: string): Promise<readonly MigrationFile[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).toSorted();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(folder, name), 'utf8');
      return { name: name.slice(0, -'.sql'.length), text, checksum: checksumMigration(text) };
    }),
  );
}

/** Hashes the whole text, including comments. Line ends are normalized, because git may convert them. */
function checksumMigration(text: string): string {
  return createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex');
}
