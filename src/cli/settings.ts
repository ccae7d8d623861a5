import { randomBytes } from 'node:crypto';
import { chmodSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { type Environment, loadConfig, presetOf } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { messageOf, reasonOf, systemCode, TriageError } from '../domain/errors.ts';
import { say } from './terminal.ts';

/** The folder of this installation's own files: knowledge, migrations, prompts. */
const HOME = resolve(import.meta.dirname, '../..');

/** Where a service on this machine listens by default. */
export const LOCAL_SERVICE = 'http://127.0.0.1:4600';

/** Options of commands that work on a data directory. */
export interface DataOptions {
  readonly data?: string;
  readonly json?: boolean;
}

/** The data directory: `--data`, else FAULTLINE_DATA_DIR, else `.faultline` here. */
export function dataDirectory(option: string | undefined): string {
  return resolve(option ?? process.env.FAULTLINE_DATA_DIR ?? '.faultline');
}

/** Preset and environment, checked; `given` goes before the environment. Opens and writes nothing. */
export function readConfig(dataDir: string, given: Environment = {}): Config {
  const environment = { ...process.env, ...given };
  return loadConfig(presetOf(environment, dataDir, join(HOME, 'knowledge')), environment, (path) => readFileSync(path, 'utf8'));
}

/** Configuration of a command that opens the stores; where they are in the data directory, it is there and can be written. */
export function readStoreConfig(dataDir: string): Config {
  const config = readConfig(dataDir);
  if (config.database.driver === 'pglite') prepareDataDirectory(dataDir);
  return config;
}

/** Whose webhook secret an embedded installation makes where none is set. */
export const MADE_SECRETS: readonly string[] = ['github', 'jenkins'];

export type ServedConfig = ReturnType<typeof readServedConfig>;

/**
 * The configuration of a served installation. On an embedded database, tokens and webhook secrets that nobody configured are made and kept (0600),
 * so that nothing is ever open to everybody; `madeToken` is null where the operator configured tokens.
 */
export function readServedConfig(dataDir: string): { readonly config: Config; readonly madeToken: string | null } {
  const config = readStoreConfig(dataDir);
  const { github, jenkins } = config.providers;
  // Processes that share a database must know the same secrets, so none is made in any of them.
  if (config.database.driver !== 'pglite') return { config, madeToken: null };
  if (config.auth.tokens.length > 0 && github.webhookSecrets.length > 0 && jenkins.webhookSecrets.length > 0)
    return { config, madeToken: null };
  const made = keptSecrets(dataDir);
  return { madeToken: config.auth.tokens.length > 0 ? null : made.token, config: addMadeSecrets(config, made) };
}

/** Adds the secrets that were made for a data directory where none is configured. */
export function addMadeSecrets(config: Config, made: Secrets): Config {
  const { github, jenkins } = config.providers;
  return {
    ...config,
    auth:
      config.auth.tokens.length > 0 ? config.auth : { ...config.auth, tokens: [{ name: 'local', token: made.token, roles: ['admin'] }] },
    providers: {
      ...config.providers,
      github: { ...github, webhookSecrets: github.webhookSecrets.length > 0 ? github.webhookSecrets : [made.githubWebhookSecret] },
      jenkins: { ...jenkins, webhookSecrets: jenkins.webhookSecrets.length > 0 ? jenkins.webhookSecrets : [made.jenkinsWebhookSecret] },
    },
  };
}

/**
 * Makes the data directory where it is missing, for its owner only, and sees that it can be written. Throws `invalid-config`
 * with a sentence, at once. A directory that is there keeps its mode: it may be somebody's home.
 */
export function prepareDataDirectory(directory: string): void {
  try {
    makeFolders(directory);
    rmdirSync(mkdtempSync(join(directory, '.writable-')));
  } catch (cause) {
    // Under /proc, a folder that cannot be made is "not found".
    const why = systemCode(cause) === 'ENOENT' ? 'a folder cannot be created there' : reasonOf(cause);
    const sentence = `The data directory ${directory} cannot be used: ${why}.`;
    throw new TriageError('invalid-config', `${sentence} Choose another with --data or FAULTLINE_DATA_DIR.`, { cause });
  }
}

/**
 * Not `mkdir` with `recursive`: where a folder refuses new ones with "not found", as those under /proc do, Node tries again
 * for ever and cannot be interrupted.
 */
function makeFolders(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  if (dirname(path) !== path) makeFolders(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it since.
    if (systemCode(error) !== 'EEXIST' || !statSync(path).isDirectory()) throw error;
  }
}

/** Made once for a data directory where the environment gives none, so that nothing is ever open to everybody. */
const Secrets = z.object({ token: z.string().min(16), githubWebhookSecret: z.string().min(8), jenkinsWebhookSecret: z.string().min(8) });
type Secrets = z.infer<typeof Secrets>;

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

/** The token that was given, else the one kept in the data directory. Throws `invalid-config` where there is none. */
export function tokenOf(given: string | undefined, dataDir: string): string {
  const token = given ?? findSecrets(dataDir)?.token;
  if (token !== undefined) return token;
  throw new TriageError('invalid-config', 'No token: pass --token, set FAULTLINE_TOKEN, or run on the machine with the data directory');
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
    if (systemCode(cause) === 'EEXIST') return;
    throw new TriageError('storage-failed', `Cannot write the secrets to ${file}: ${messageOf(cause)}`, { cause });
  } finally {
    rmSync(draft, { force: true });
  }
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT' || systemCode(cause) === 'ENOTDIR') return null;
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

/** Who works here, for records of who did what. In containers a user may have a number and no name: "uid 12345". */
export function operatorName(read: () => { readonly username: string } = userInfo): string {
  try {
    return read().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
