import { join } from 'node:path';
import type { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import { withNamedModels } from './model-providers.ts';
import { findProfile } from './profiles.ts';
import { refuseRemovedVariables } from './removed-variables.ts';
import { COMMON, type Config, parseConfig, VARIABLES } from './schema.ts';
import type { Variable } from './variable.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Applies the profile and then the environment to a preset, and checks the result. `readFile` reads the files
 * that variables name: NAME_FILE for secrets, and files of JSON. Throws TriageError `invalid-config`, which
 * names each wrong setting and its variable.
 */
export function loadConfig(
  preset: object,
  environment: Environment,
  readFile: (path: string) => string,
): Config {
  const merged: Tree = { ...structuredClone(preset) };
  const profile = findProfile(environment.FAULTLINE_PROFILE?.trim() ?? '');
  if (profile !== undefined && isTree(merged.triage))
    merged.triage = { ...merged.triage, ...structuredClone(profile) };
  const wrong: TriageError[] = [];
  for (const variable of VARIABLES) {
    try {
      const text = readText(variable, environment, readFile);
      if (text === undefined || text === '') continue;
      assign(merged, variable.path.split('.'), parseValue(variable, text, readFile));
      // A limit that the user set is enforced: without the price of the model the start fails. That of a
      // profile is not.
      if (variable.name === 'FAULTLINE_MAX_RUN_USD') assign(merged, ['triage', 'budget', 'isCostSet'], true);
    } catch (error) {
      if (!(error instanceof TriageError)) throw error;
      wrong.push(error);
    }
  }
  return deriveSettings(parseConfig(merged, wrong.concat(refuseRemovedVariables(environment))));
}

/**
 * Derives what depends on several settings: limits, thresholds, names of databases, and the addresses of
 * named models.
 */
function deriveSettings(config: Config): Config {
  const { http, database, jobQueue, buildArchive } = config;
  const { autoNotify, humanReview, selfCorrect } = config.triage.thresholds;
  const thresholds = {
    autoNotify,
    humanReview: Math.min(humanReview, autoNotify),
    selfCorrect: Math.min(selfCorrect, autoNotify),
  };
  return {
    ...config,
    http: {
      ...http,
      maxBodyBytes: Math.ceil(http.maxLogBytes / 4),
      tokenRateLimit: 5 * http.rateLimit,
      sourceRateLimit: 10 * http.rateLimit,
    },
    triage: { ...config.triage, thresholds },
    database:
      database.driver === 'postgres'
        ? { ...database, poolSize: Math.max(database.poolSize, jobQueue.concurrency + 6) }
        : database,
    buildArchive:
      buildArchive.driver === 'mongodb'
        ? { ...buildArchive, database: findDatabaseName(buildArchive.url) ?? buildArchive.database }
        : buildArchive,
    analyst: { ...config.analyst, llm: withNamedModels(config.analyst.llm) },
  };
}

/** Finds the name of the database in the URL of a MongoDB server. */
function findDatabaseName(url: string): string | undefined {
  return /^[^/]+:\/\/[^/]+\/([^?]+)/.exec(url)?.[1];
}

interface Tree {
  [key: string]: unknown;
}

function readText(
  variable: Variable,
  environment: Environment,
  readFile: (path: string) => string,
): string | undefined {
  const file = environment[`${variable.name}_FILE`];
  const text = environment[variable.name];
  if (variable.secret !== true || file === undefined || file === '') return text;
  if (text !== undefined && text !== '') {
    throw new TriageError(
      'invalid-config',
      `${variable.name} and ${variable.name}_FILE are both set; keep only one`,
    );
  }
  try {
    return readFile(file).trim();
  } catch (cause) {
    throw new TriageError('invalid-config', `${variable.name}_FILE names ${file}, which cannot be read`, {
      cause,
    });
  }
}

function assign(tree: Tree, path: readonly string[], value: unknown): void {
  const [head, ...rest] = path;
  if (head === undefined) return;
  if (rest.length === 0) {
    tree[head] = value;
    return;
  }
  const next = tree[head];
  const branch: Tree = isTree(next) ? next : {};
  tree[head] = branch;
  assign(branch, rest, value);
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseValue(variable: Variable, text: string, readFile: (path: string) => string): unknown {
  switch (variable.type) {
    case 'text':
      return text;
    case 'number':
      return parseNumber(variable, text);
    case 'flag':
      return parseFlag(variable, text);
    case 'list':
      return split(text);
    case 'pairs':
      return Object.fromEntries(split(text).map((pair) => parsePair(variable, pair)));
    case 'tokens':
      return split(text).map((entry) => parseToken(variable, entry));
    case 'proxies':
      return /^\d+$/.test(text.trim()) ? Number(text) : split(text);
    case 'json':
      return parseJson(variable, text, readFile);
  }
}

/** Parses an inline object, or reads it from the file at a path. */
function parseJson({ name }: Variable, text: string, readFile: (path: string) => string): unknown {
  const given = text.trim();
  const inline = given.startsWith('{');
  try {
    return JSON.parse(inline ? given : readFile(given));
  } catch (cause) {
    const what = cause instanceof SyntaxError ? `is not JSON: ${cause.message}` : 'cannot be read';
    throw new TriageError(
      'invalid-config',
      inline ? `${name} ${what}` : `${name} names ${given}, which ${what}`,
      { cause },
    );
  }
}

function split(text: string): string[] {
  return text
    .split(/[,\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function parseNumber(variable: Variable, text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && text.trim() !== '') return value;
  throw new TriageError('invalid-config', `${variable.name} must be a number, not "${text}"`);
}

function parseFlag(variable: Variable, text: string): boolean {
  const word = text.trim().toLowerCase();
  if (['true', 'yes', 'on', '1'].includes(word)) return true;
  if (['false', 'no', 'off', '0'].includes(word)) return false;
  throw new TriageError('invalid-config', `${variable.name} must be true or false, not "${text}"`);
}

function parsePair(variable: Variable, pair: string): [string, string] {
  const at = pair.indexOf('=');
  if (at > 0 && at < pair.length - 1) return [pair.slice(0, at), pair.slice(at + 1)];
  const entry = variable.secret === true ? 'an entry' : `"${pair}"`;
  throw new TriageError('invalid-config', `${variable.name}: ${entry} does not have the form name=value`);
}

function parseToken(variable: Variable, entry: string): { name: string; roles: string[]; token: string } {
  const [name, roles, ...token] = entry.split(':');
  if (name !== undefined && roles !== undefined && token.length > 0)
    return { name, roles: roles.split('+'), token: token.join(':') };
  throw new TriageError(
    'invalid-config',
    `${variable.name}: an entry does not have the form name:role+role:token`,
  );
}

/** Returns the folder of replays in a data directory. */
export function getRunsFolder(dataDir: string): string {
  return join(dataDir, 'runs');
}

/** Creates the preset `embedded`: one process, one data directory, nothing to install. */
export function createEmbeddedPreset(dataDir: string, knowledgeFolder: string) {
  return {
    ...COMMON,
    database: { driver: 'pglite', dataDir: join(dataDir, 'database') },
    jobQueue: { driver: 'database', concurrency: 2, inServe: true },
    buildArchive: { driver: 'postgres' },
    vectorIndex: { driver: 'pgvector' },
    knowledge: { folder: knowledgeFolder },
    runs: { folder: getRunsFolder(dataDir) },
  } satisfies Omit<z.input<typeof Config>, 'auth'>;
}

/** Returns true if a variable, or the one that names its file, is set. */
export function isVariableSet(environment: Environment, name: string): boolean {
  return Boolean(environment[name]?.trim() || environment[`${name}_FILE`]?.trim());
}

/**
 * Creates the preset for the servers that the environment names. Without a PostgreSQL server, the database is
 * that of the preset `embedded`. Redis replaces the database as the job queue, MongoDB as the archive of
 * builds, and Pinecone as the vector index.
 */
export function createPreset(environment: Environment, dataDir: string, knowledgeFolder: string): object {
  const isSet = (name: string) => isVariableSet(environment, name);
  const preset: Tree = { ...createEmbeddedPreset(dataDir, knowledgeFolder) };
  let work = { concurrency: 2, inServe: true };
  if (isSet('FAULTLINE_DATABASE_URL')) {
    preset.database = { driver: 'postgres', readerUrl: null, ownerUrl: null, poolSize: 10 };
    work = { concurrency: 4, inServe: false };
  }
  preset.jobQueue = { driver: isSet('FAULTLINE_REDIS_URL') ? 'bullmq' : 'database', ...work };
  if (isSet('FAULTLINE_MONGODB_URL')) preset.buildArchive = { driver: 'mongodb' };
  if (isSet('FAULTLINE_PINECONE_INDEX')) preset.vectorIndex = { driver: 'pinecone' };
  return preset;
}
