import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Environment, loadConfig } from '../config/load.ts';
import { presetOf } from '../config/presets.ts';
import type { Config } from '../config/schema.ts';
import { prepareDataDirectory } from './data-directory.ts';
import { keptSecrets, type Secrets } from './secrets.ts';

/** The folder of this installation's own files: knowledge, migrations, prompts. */
const HOME = resolve(import.meta.dirname, '../..');

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

/** A served installation: its configuration, and what of it was made rather than configured. */
export interface ServedConfig {
  readonly config: Config;
  /** The token that was made; null where the operator configured tokens. */
  readonly madeToken: string | null;
}

/** On an embedded database, tokens and webhook secrets that nobody configured are made and kept (0600), so that nothing is ever open to everybody. */
export function readServedConfig(dataDir: string): ServedConfig {
  const config = readStoreConfig(dataDir);
  const { githubSecrets, jenkinsSecrets } = config.webhooks;
  // Processes that share a database must know the same secrets, so none is made in any of them.
  if (config.database.driver !== 'pglite') return { config, madeToken: null };
  if (config.auth.tokens.length > 0 && githubSecrets.length > 0 && jenkinsSecrets.length > 0) return { config, madeToken: null };
  const made = keptSecrets(dataDir);
  return {
    madeToken: config.auth.tokens.length > 0 ? null : made.token,
    config: {
      ...config,
      auth: config.auth.tokens.length > 0 ? config.auth : { ...config.auth, tokens: localToken(made) },
      webhooks: {
        githubSecrets: githubSecrets.length > 0 ? githubSecrets : [made.githubWebhookSecret],
        jenkinsSecrets: jenkinsSecrets.length > 0 ? jenkinsSecrets : [made.jenkinsWebhookSecret],
      },
    },
  };
}

function localToken(made: Secrets): Config['auth']['tokens'] {
  return [{ name: 'local', token: made.token, roles: ['admin'] }];
}
