import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { createPreset, type Environment, isVariableSet, loadConfig } from '../config/load.ts';
import { describeIgnoredVariables } from '../config/removed-variables.ts';
import type { Config } from '../config/schema.ts';
import { getErrorMessage, getErrorReason, getSystemCode, TriageError } from '../domain/errors.ts';
import { say } from './terminal.ts';

/** The folder of this installation's own files: knowledge, migrations, prompts. */
const HOME = resolve(import.meta.dirname, '../..');

/** The default URL of a service on this machine. */
export const LOCAL_SERVICE = 'http://127.0.0.1:4600';

/** Options of commands that work on a data directory. */
export interface DataOptions {
  readonly data?: string;
  readonly json?: boolean;
}

/**
 * Returns the data directory: `--data`, otherwise FAULTLINE_DATA_DIR, otherwise `.faultline` in the working
 * directory.
 */
export function getDataDirectory(option: string | undefined): string {
  return resolve(option ?? process.env.FAULTLINE_DATA_DIR ?? '.faultline');
}

/**
 * Reads and checks the preset and the environment. `given` overrides the environment, which overrides the
 * settings that the console created on an embedded database. Opens no database.
 */
export function readConfig(dataDir: string, given: Environment = {}): Config {
  const set = { ...process.env, ...given };
  const isEmbedded = !isVariableSet(set, 'FAULTLINE_DATABASE_URL');
  const environment = isEmbedded ? addKeptSettings(set, findSecrets(dataDir)?.settings ?? {}) : set;
  return loadConfig(createPreset(environment, dataDir, join(HOME, 'knowledge')), environment, (path) =>
    readFileSync(path, 'utf8'),
  );
}

/** Settings that the console created, by variable. */
export type KeptSettings = Readonly<Record<string, string>>;

/** The secret of a GitHub App's own webhook, which is valid in addition to those of other webhooks. */
const WEBHOOK_SECRET = 'FAULTLINE_GITHUB_WEBHOOK_SECRET';

/**
 * The settings that the console keeps. A data directory that came with a clone must not say where tokens are
 * sent.
 */
const KEPT = /^FAULTLINE_(?:GITHUB_APP_(?:ID|KEY)|GITHUB_WEBHOOK_SECRET|OIDC_[A-Z_]+)$/;

function addKeptSettings(environment: Environment, kept: KeptSettings): Environment {
  const added = Object.entries(kept).flatMap(([name, value]): [string, string][] => {
    if (!KEPT.test(name)) return [];
    if (!isVariableSet(environment, name)) return [[name, value]];
    const set = environment[name];
    return name === WEBHOOK_SECRET && set !== undefined ? [[name, `${set},${value}`]] : [];
  });
  return { ...environment, ...Object.fromEntries(added) };
}

/** Keeps settings in the data directory, from the next start on. The made webhook secret stays valid. */
export function keepSettings(dataDir: string, settings: KeptSettings): void {
  const made = readOrCreateSecrets(dataDir);
  const secret = settings[WEBHOOK_SECRET];
  const both = secret === undefined ? {} : { [WEBHOOK_SECRET]: `${secret},${made.githubWebhookSecret}` };
  const kept: Secrets = { ...made, settings: { ...made.settings, ...settings, ...both } };
  const file = getSecretsFile(dataDir);
  const draft = writeDraft(file, kept);
  try {
    renameSync(draft, file);
  } catch (cause) {
    rmSync(draft, { force: true });
    throw createWriteError(file, cause);
  }
}

/**
 * Reads the configuration of a command that opens the stores. If they are in the data directory, it is
 * created and checked for write access.
 */
export function readStoreConfig(dataDir: string): Config {
  const config = readConfig(dataDir);
  for (const sentence of describeIgnoredVariables(process.env)) say(`warning: ${sentence}`);
  if (config.database.driver === 'pglite') prepareDataDirectory(dataDir);
  return config;
}

export type ServedConfig = ReturnType<typeof readServedConfig>;

/**
 * Reads the configuration of a service. On an embedded database, missing tokens and webhook secrets are
 * created and stored (0600), so that nothing is open to everyone. `madeToken` is null if the operator
 * configured tokens.
 */
export function readServedConfig(dataDir: string): {
  readonly config: Config;
  readonly madeToken: string | null;
} {
  const config = readStoreConfig(dataDir);
  const { github, jenkins } = config.providers;
  // Processes that share a database must have the same secrets, so none are created.
  if (config.database.driver !== 'pglite') return { config, madeToken: null };
  if (config.auth.tokens.length > 0 && github.webhookSecrets.length > 0 && jenkins.webhookSecrets.length > 0)
    return { config, madeToken: null };
  const made = readOrCreateSecrets(dataDir);
  return {
    madeToken: config.auth.tokens.length > 0 ? null : made.token,
    config: addMadeSecrets(config, made),
  };
}

/** Adds the secrets that were created for a data directory, wherever none is configured. */
export function addMadeSecrets(config: Config, made: Secrets): Config {
  const { github, jenkins } = config.providers;
  return {
    ...config,
    auth:
      config.auth.tokens.length > 0
        ? config.auth
        : { ...config.auth, tokens: [{ name: 'local', token: made.token, roles: ['admin'] }] },
    providers: {
      ...config.providers,
      github: {
        ...github,
        webhookSecrets: github.webhookSecrets.length > 0 ? github.webhookSecrets : [made.githubWebhookSecret],
      },
      jenkins: {
        ...jenkins,
        webhookSecrets:
          jenkins.webhookSecrets.length > 0 ? jenkins.webhookSecrets : [made.jenkinsWebhookSecret],
      },
    },
  };
}

/**
 * Creates the data directory if it is missing, readable only by its owner, and checks that it is writable.
 * Throws `invalid-config` immediately, with a clear message. An existing directory keeps its mode, because it
 * may be a user's home directory.
 */
export function prepareDataDirectory(directory: string): void {
  try {
    makeFolders(directory);
    rmdirSync(mkdtempSync(join(directory, '.writable-')));
  } catch (cause) {
    // Under /proc, a folder that cannot be created is reported as "not found".
    const why =
      getSystemCode(cause) === 'ENOENT' ? 'a folder cannot be created there' : getErrorReason(cause);
    const sentence = `The data directory ${directory} cannot be used: ${why}.`;
    throw new TriageError('invalid-config', `${sentence} Choose another with --data or FAULTLINE_DATA_DIR.`, {
      cause,
    });
  }
}

/**
 * Creates folders one by one instead of with `mkdir` and `recursive`: if a folder rejects new ones with "not
 * found", as those under /proc do, Node retries forever and cannot be interrupted.
 */
function makeFolders(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  if (dirname(path) !== path) makeFolders(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it in the meantime.
    if (getSystemCode(error) !== 'EEXIST' || !statSync(path).isDirectory()) throw error;
  }
}

/**
 * The secrets that are created once for a data directory if the environment sets none, so that nothing is
 * open to everyone.
 */
const Secrets = z.object({
  token: z.string().min(16),
  githubWebhookSecret: z.string().min(8),
  jenkinsWebhookSecret: z.string().min(8),
  settings: z.record(z.string(), z.string()).optional(),
});
type Secrets = z.infer<typeof Secrets>;

const OTHERS = 0o077;

/**
 * Reads the secrets in a data directory. Returns null if it was never served. If other users could read the
 * file, its mode is corrected with a warning. Throws `invalid-config` if the file cannot be read or parsed.
 */
export function findSecrets(dataDir: string): Secrets | null {
  const file = getSecretsFile(dataDir);
  const text = readText(file);
  if (text === null) return null;
  closeToOthers(file);
  try {
    return Secrets.parse(JSON.parse(text));
  } catch (cause) {
    throw new TriageError('invalid-config', `${file} is damaged. Delete it to create new secrets.`, {
      cause,
    });
  }
}

/**
 * Returns the given token, otherwise the one in the data directory. Throws `invalid-config` if there is none.
 */
export function resolveToken(given: string | undefined, dataDir: string): string {
  const token = given ?? findSecrets(dataDir)?.token;
  if (token !== undefined) return token;
  throw new TriageError(
    'invalid-config',
    'No token: pass --token, set FAULTLINE_TOKEN, or run on the machine with the data directory',
  );
}

/**
 * Returns the secrets in a data directory and creates them if there are none. If several processes create
 * them concurrently, all get the same secrets.
 */
export function readOrCreateSecrets(dataDir: string): Secrets {
  const known = findSecrets(dataDir);
  if (known !== null) return known;
  const secret = (prefix: string) => `${prefix}_${randomBytes(24).toString('base64url')}`;
  const made: Secrets = {
    token: secret('flt'),
    githubWebhookSecret: secret('whs'),
    jenkinsWebhookSecret: secret('whs'),
  };
  writeOnce(getSecretsFile(dataDir), made);
  return findSecrets(dataDir) ?? made;
}

export function getSecretsFile(dataDir: string): string {
  return join(dataDir, 'secrets.json');
}

/**
 * Writes a file by linking a complete draft to its name. A link appears with its whole content and, unlike a
 * rename, never replaces the file of another process.
 */
function writeOnce(file: string, secrets: Secrets): void {
  const draft = writeDraft(file, secrets);
  try {
    linkSync(draft, file);
  } catch (cause) {
    if (getSystemCode(cause) !== 'EEXIST') throw createWriteError(file, cause);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Writes secrets to a new file in their folder, readable only by its owner, and returns its name. */
function writeDraft(file: string, secrets: Secrets): string {
  const draft = `${file}.${randomBytes(8).toString('hex')}.draft`;
  try {
    const text = `${JSON.stringify(secrets, null, 2)}\n`;
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true });
    return draft;
  } catch (cause) {
    rmSync(draft, { force: true });
    throw createWriteError(file, cause);
  }
}

function createWriteError(file: string, cause: unknown): TriageError {
  const sentence = `Cannot write the secrets to ${file}: ${getErrorMessage(cause)}`;
  return new TriageError('storage-failed', sentence, { cause });
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    if (getSystemCode(cause) === 'ENOENT' || getSystemCode(cause) === 'ENOTDIR') return null;
    throw new TriageError('invalid-config', `${file} cannot be read: ${getErrorMessage(cause)}`, { cause });
  }
}

function closeToOthers(file: string): void {
  // Windows has no such permissions; every file seems to be open to others.
  if (process.platform === 'win32' || (statSync(file).mode & OTHERS) === 0) return;
  const advice = 'If anyone else may have read it, delete it and start again to create new secrets.';
  try {
    chmodSync(file, 0o600);
    say(
      `warning: ${file} was readable by other users of this machine; ` +
        `now only its owner can read it. ${advice}`,
    );
  } catch (error) {
    say(
      `warning: ${file} is readable by other users of this machine, and changing that ` +
        `failed: ${getErrorMessage(error)}. ${advice}`,
    );
  }
}

/**
 * Returns the name of the current user, for audit records. In containers a user may have a number but no
 * name: "uid 12345".
 */
export function getOperatorName(read: () => { readonly username: string } = userInfo): string {
  try {
    return read().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
