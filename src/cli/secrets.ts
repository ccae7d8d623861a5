import { randomBytes } from 'node:crypto';
import { chmodSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { messageOf, TriageError } from '../domain/errors.ts';
import { say } from './terminal.ts';

/** Made once for a data directory where the environment gives none, so that nothing is ever open to everybody. */
const Secrets = z.object({ token: z.string().min(16), githubWebhookSecret: z.string().min(8), jenkinsWebhookSecret: z.string().min(8) });
export type Secrets = z.infer<typeof Secrets>;

const OTHERS = 0o077;

/**
 * The secrets kept in a data directory, or null where it was never served. A file that others could read is closed to them,
 * with a warning. Throws `invalid-config` where the file cannot be read or understood.
 */
export function findSecrets(dataDir: string): Secrets | null {
  const file = secretsFile(dataDir);
  const text = textOf(file);
  if (text === null) return null;
  closeToOthers(file);
  try {
    return Secrets.parse(JSON.parse(text));
  } catch (cause) {
    throw new TriageError('invalid-config', `${file} is damaged. Delete it to create new secrets.`, { cause });
  }
}

/** The secrets kept in a data directory; made where there are none. Of several processes that make them, all get the same. */
export function keptSecrets(dataDir: string): Secrets {
  const known = findSecrets(dataDir);
  if (known !== null) return known;
  const secret = (prefix: string) => `${prefix}_${randomBytes(24).toString('base64url')}`;
  const made: Secrets = { token: secret('flt'), githubWebhookSecret: secret('whs'), jenkinsWebhookSecret: secret('whs') };
  writeOnce(secretsFile(dataDir), `${JSON.stringify(made, null, 2)}\n`);
  return findSecrets(dataDir) ?? made;
}

export function secretsFile(dataDir: string): string {
  return join(dataDir, 'secrets.json');
}

/** A link appears with its whole content and, unlike a rename, never replaces what another process has just made. */
function writeOnce(file: string, text: string): void {
  const draft = `${file}.${randomBytes(8).toString('hex')}.draft`;
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true });
    linkSync(draft, file);
  } catch (cause) {
    if (hasCode(cause, 'EEXIST')) return;
    throw new TriageError('storage-failed', `Cannot write the secrets to ${file}: ${messageOf(cause)}`, { cause });
  } finally {
    rmSync(draft, { force: true });
  }
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    if (hasCode(cause, 'ENOENT') || hasCode(cause, 'ENOTDIR')) return null;
    throw new TriageError('invalid-config', `${file} cannot be read: ${messageOf(cause)}`, { cause });
  }
}

function closeToOthers(file: string): void {
  // Windows keeps no such bits: every file looks open to others there.
  if (process.platform === 'win32' || (statSync(file).mode & OTHERS) === 0) return;
  const advice = 'If anyone else may have read it, delete it and start again to create new secrets.';
  try {
    chmodSync(file, 0o600);
    say(`warning: ${file} was readable by other users of this machine; now only its owner can read it. ${advice}`);
  } catch (error) {
    say(`warning: ${file} is readable by other users of this machine, and changing that failed: ${messageOf(error)}. ${advice}`);
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
