import { accessSync, constants } from 'node:fs';
import { messageOf, TriageError } from '../../domain/errors.ts';

const FILES = ['sslrootcert', 'sslcert', 'sslkey'];

/**
 * The address as pg is to read it: `sslmode` means what it means to PostgreSQL's own clients (require encrypts and believes any
 * certificate unless `sslrootcert` is given; verify-full also checks the name). Throws `invalid-config` where a file it names cannot be
 * read; the message holds no password.
 */
export function serverAddress(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch (error) {
    throw new TriageError('invalid-config', 'The database URL is invalid; use postgres://user:password@host:port/database', {
      cause: error,
    });
  }
  for (const name of FILES) {
    const file = url.searchParams.get(name);
    if (file !== null) checkReadable(name, file);
  }
  if (url.searchParams.get('sslmode') === 'verify-ca' && !url.searchParams.has('sslrootcert')) {
    throw new TriageError('invalid-config', 'sslmode=verify-ca in the database URL needs sslrootcert, a CA file');
  }
  if (url.searchParams.has('sslmode') && !url.searchParams.has('uselibpqcompat')) url.searchParams.set('uselibpqcompat', 'true');
  return url.href;
}

function checkReadable(name: string, file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    throw new TriageError('invalid-config', `${name} in the database URL: ${messageOf(error)}`, { cause: error });
  }
}
