import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { loadConfig } from '../config/load.ts';
import { embedded } from '../config/presets.ts';
import type { Config } from '../config/schema.ts';
import { TriageError } from '../domain/errors.ts';

/** The folder of this installation's own files: knowledge, migrations, prompts. */
const HOME = resolve(import.meta.dirname, '../..');

/** Made once for a data directory where the environment gives none, so that no door is ever open. */
const Secrets = z.object({ token: z.string(), githubWebhookSecret: z.string(), jenkinsWebhookSecret: z.string() });
export type Secrets = z.infer<typeof Secrets>;

/** Options of commands that work on a data directory. */
export interface DataOptions {
  readonly data?: string;
  readonly json?: boolean;
}

/** The data directory: `--data`, else FAULTLINE_DATA_DIR, else `.faultline` here. */
export function dataDirectory(option: string | undefined): string {
  return resolve(option ?? process.env.FAULTLINE_DATA_DIR ?? '.faultline');
}

/** Preset and environment, checked. Opens and writes nothing. */
export function readConfig(dataDir: string): Config {
  return loadConfig(embedded(dataDir, join(HOME, 'knowledge')), process.env, (path) => readFileSync(path, 'utf8'));
}

/** Configuration of a served installation: tokens and webhook secrets that nobody configured are made and kept (0600). */
export function readServedConfig(dataDir: string): { readonly config: Config; readonly made: Secrets } {
  const config = readConfig(dataDir);
  const made = keptSecrets(dataDir);
  const tokens = config.auth.tokens.length > 0 ? config.auth.tokens : [{ name: 'local', token: made.token, roles: ['admin' as const] }];
  const { githubSecrets, jenkinsSecrets } = config.webhooks;
  return {
    made,
    config: {
      ...config,
      auth: { tokens },
      webhooks: {
        githubSecrets: githubSecrets.length > 0 ? githubSecrets : [made.githubWebhookSecret],
        jenkinsSecrets: jenkinsSecrets.length > 0 ? jenkinsSecrets : [made.jenkinsWebhookSecret],
      },
    },
  };
}

/** The secrets kept in a data directory, or null where it was never served. */
export function findSecrets(dataDir: string): Secrets | null {
  const file = join(dataDir, 'secrets.json');
  if (!existsSync(file)) return null;
  try {
    return Secrets.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (cause) {
    throw new TriageError('invalid-config', `${file} is damaged. Delete it to have new secrets made.`, { cause });
  }
}

function keptSecrets(dataDir: string): Secrets {
  const known = findSecrets(dataDir);
  if (known !== null) return known;
  const secret = (prefix: string) => `${prefix}_${randomBytes(24).toString('base64url')}`;
  const made: Secrets = { token: secret('flt'), githubWebhookSecret: secret('whs'), jenkinsWebhookSecret: secret('whs') };
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(join(dataDir, 'secrets.json'), `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 });
  return made;
}
