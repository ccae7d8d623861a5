import { stat, statfs } from 'node:fs/promises';
import { checkVectorIndex } from '../app/open-adapters.ts';
import { shippedBound, shippedShare } from '../app/publish-bound.ts';
import { probeDatabase, probeMongodb, probeRedis } from '../app/readiness.ts';
import { createApp } from '../app.ts';
import type { Environment } from '../config/load.ts';
import { createMaskingOptions, listOwnSecrets } from '../config/masking.ts';
import type { Config } from '../config/schema.ts';
import { digestOfToken } from '../domain/access.ts';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import { ROUTE_WORDS } from '../domain/publish-bound.ts';
import { createGit, succeeded, trustedPath } from '../git/command.ts';
import { counted, isOlder } from '../lib/text.ts';
import { createMasker } from '../log/mask/mask.ts';
import { visibleLine } from '../notifications/visible-text.ts';
import { clockFindings, type Examination, examine, type Finding, note, ok, wrong } from '../ports/examination.ts';
import { silentLogger } from '../ports/telemetry.ts';
import { createProviders } from '../providers/registry.ts';
import type { ShownSecret } from '../stores/builds.ts';
import { examineOutside } from './doctor-outside.ts';
import {
  addMadeSecrets,
  type DataOptions,
  dataDirectory,
  findSecrets,
  MADE_SECRETS,
  prepareDataDirectory,
  readConfig,
} from './settings.ts';
import { EXIT, jsonText, print } from './terminal.ts';

const NAME_WIDTH = 16;

/**
 * Runs `faultline doctor`: asks every configured backend one cheap question and says what to do. Exits with 4
 * if something is wrong.
 */
export async function runDoctor(options: DataOptions): Promise<void> {
  const findings = await diagnose(dataDirectory(options.data));
  const isWell = findings.every(({ state }) => state !== 'wrong');
  if (!isWell) process.exitCode = EXIT.refused;
  await print(options.json ? jsonText({ ok: isWell, findings }) : findings.map(renderFinding).join('\n'));
}

/**
 * Returns all findings in a fixed order. The checks run concurrently, each with a time limit, and secrets are
 * masked. Never throws.
 */
export async function diagnose(dataDir: string, given: Environment = {}): Promise<readonly Finding[]> {
  const read = tryConfig(dataDir, given);
  if ('state' in read) return [nodeFinding(), read];
  const { config } = read;
  const examinations: Examination[] = [...examineHere(config, dataDir), ...examineOutside(config), ...examineStores(config, dataDir)];
  const found = (await Promise.all(examinations.map(examine))).flat();
  return maskFindings([nodeFinding(), ok('configuration', `data directory ${dataDir}`), ...found], config);
}

function tryConfig(dataDir: string, given: Environment): { readonly config: Config } | Finding {
  try {
    return { config: readConfig(dataDir, given) };
  } catch (error) {
    return wrong('configuration', getErrorMessage(error), 'correct the variables named above');
  }
}

/** Masks the findings. The message of a driver may contain a whole URL with its password. */
async function maskFindings(findings: readonly Finding[], config: Config): Promise<readonly Finding[]> {
  const masker = createMasker(createMaskingOptions(config));
  const says = await masker.maskAll(findings.map((finding) => finding.says));
  return findings.map((finding, index) => ({ ...finding, says: says[index]?.text ?? '***' }));
}

/** Formats a finding as people read it: what it is, and below it what to do. What a server says is shown, never obeyed. */
export function renderFinding({ state, name, says, mend }: Finding): string {
  const indent = ' '.repeat(NAME_WIDTH + 9);
  const advice = mend === undefined ? '' : `\n${indent}→ ${visibleLine(mend)}`;
  return `${state.padEnd(5)}  ${visibleLine(name).padEnd(NAME_WIDTH)}  ${visibleLine(says)}${advice}`;
}

const MEGABYTE = 1024 * 1024;
/** Less room than that is used up by the logs of a bad morning. */
const LITTLE_ROOM_MB = 1024;
const OTHERS = 0o077;
/**
 * The minimum length of a secret. GitHub and Jenkins recommend long random ones; shorter ones can be guessed.
 */
const SHORT_SECRET = 16;
const PLACEHOLDER = /^(?:change[-_ ]?me|secret|password|example|todo|your[-_].{0,40}|x{8,40}|12345678.{0,20})$/i;
const LOOPBACK = /^(?:localhost|127\.[\d.]{1,15}|\[?::1\]?)$/i;

/** Lists which answers are published by the shipped outcomes, and how many right ones the others lack. Decisions in the store can change it. */
function publishingFinding({ triage }: Config): Finding {
  const bound = shippedBound({ triage });
  if (bound === null)
    return note('publishing', 'no bound: FAULTLINE_MAX_WRONG is 1', 'set it to the share of wrong answers that you accept');
  const { all, published, wrong } = shippedShare(bound, triage.thresholds.autoNotify);
  const share = `${((100 * published) / all).toFixed(0)} % of ${all} known answers published, ${wrong} wrong`;
  const missing = bound.routes.filter((one) => !one.published).map((one) => `${ROUTE_WORDS[one.route]}: ${one.missing}`);
  const says = `at most ${100 * bound.maxWrong} % wrong with ${100 * bound.confidence} % confidence: ${share}`;
  return ok('publishing', `${says}. More right outcomes needed for answers ${missing.join('; ')}`);
}

/** Checks what is visible on this machine without any network request. */
function examineHere(config: Config, dataDir: string): Examination[] {
  return [
    {
      name: 'git',
      mend: 'install git; without it, there are no suspects from code',
      ask: async () => ok('git', (await git(process.cwd(), ['--version'])).trim()),
    },
    ...Object.entries(config.codeHost.clones).map(([repository, folder]) => cloneExamination(repository, folder)),
    { name: 'code', mend: 'see FAULTLINE_CLONES', ask: async () => codeFindings(config) },
    {
      name: 'data directory',
      mend: 'make the data directory writable for the user that runs Faultline, or choose another with --data',
      ask: () => dataFinding(dataDir),
    },
    { name: 'access', mend: 'correct the tokens and secrets', ask: async () => accessFindings(config, dataDir) },
    { name: 'publishing', mend: 'see docs/how-to/thresholds.md', ask: async () => publishingFinding(config) },
    { name: 'public address', mend: 'set FAULTLINE_PUBLIC_URL', ask: async () => addressFinding(config) },
  ];
}

function nodeFinding(): Finding {
  if (!isOlder(process.versions.node, [22, 18])) return ok('node', process.version);
  return wrong('node', `${process.version} cannot run TypeScript`, 'use scripts/faultline, which includes Node 24');
}

async function git(folder: string, args: readonly string[]): Promise<string> {
  const ask = createGit({ path: trustedPath(process.env.PATH, folder), timeoutMs: 4_000 });
  const answer = await ask(folder, args, new AbortController().signal);
  if (!succeeded(answer)) throw new TriageError('upstream-failed', answer.complaint.trim());
  return answer.output;
}

function cloneExamination(repository: string, folder: string): Examination {
  const name = `clone ${repository}`;
  const mend = `clone the repository to ${folder}, or correct FAULTLINE_CLONES`;
  return {
    name,
    mend,
    ask: async () => {
      if (!(await isFolder(folder))) return wrong(name, `${folder} does not exist`, mend);
      try {
        await git(folder, ['rev-parse', '--git-dir']);
        return ok(name, folder);
      } catch {
        return wrong(name, `${folder} is not a git repository that this user can read`, mend);
      }
    },
  };
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

function codeFindings({ codeHost: { driver, clones }, providers }: Config): Finding[] {
  if (driver === 'none') return [ok('code', 'off, as configured')];
  const asked = createProviders(providers).flatMap(({ name, code }) =>
    code !== null && (driver === name || (driver === 'auto' && code.configured)) ? [getHost(code.baseUrl)] : [],
  );
  if (asked.length > 0) return [ok('code', `read over ${asked.join(', ')}`)];
  if (Object.keys(clones).length > 0) return [];
  return [
    note('code', 'no local clone is configured', 'set FAULTLINE_CLONES=owner/name=folder or FAULTLINE_GITHUB_TOKEN for blame and suspects'),
  ];
}

async function dataFinding(dataDir: string): Promise<Finding> {
  const name = 'data directory';
  prepareDataDirectory(dataDir);
  const { bavail, bsize } = await statfs(dataDir);
  const room = Math.floor((bavail * bsize) / MEGABYTE);
  if (room < LITTLE_ROOM_MB)
    return wrong(name, `only ${room} MB are free in ${dataDir}`, 'free some space, or name another directory with --data');
  const { mode } = await stat(dataDir);
  if ((mode & OTHERS) !== 0) return note(name, `${dataDir} can be read by other users`, `chmod 700 ${dataDir}`);
  return ok(name, `${dataDir}, ${room.toLocaleString('en')} MB free`);
}

function accessFindings(config: Config, dataDir: string): Finding[] {
  const made = findSecrets(dataDir) === null ? 'will be created on first start' : 'created for this data directory';
  const { tokens } = config.auth;
  return [
    secretFinding(
      'tokens',
      tokens.map(({ token }) => token),
      `one, ${made}`,
      'FAULTLINE_TOKENS',
    ),
    ...createProviders(config.providers).map(({ name, webhook: { secrets } }) =>
      secretFinding(
        `${name} webhook`,
        secrets,
        MADE_SECRETS.includes(name) && config.database.driver === 'pglite' ? `secret ${made}` : 'off: no secret is set',
        `FAULTLINE_${name.toUpperCase()}_WEBHOOK_SECRET`,
      ),
    ),
  ];
}

function secretFinding(name: string, secrets: readonly string[], unset: string, variable: string): Finding {
  if (secrets.length === 0) return ok(name, unset);
  const mend = `create one with "openssl rand -hex 32" and set it in ${variable} and at the sender`;
  if (secrets.some((secret) => PLACEHOLDER.test(secret))) return wrong(name, 'one of them is a placeholder that anyone can guess', mend);
  if (secrets.some((secret) => secret.length < SHORT_SECRET))
    return wrong(name, `one of them is shorter than ${SHORT_SECRET} characters`, mend);
  if (new Set(secrets).size < secrets.length) return wrong(name, 'the same one is configured twice', `keep it once in ${variable}`);
  return ok(name, `${secrets.length} configured`);
}

function addressFinding({ http }: Config): Finding {
  const name = 'public address';
  const mend = 'set FAULTLINE_PUBLIC_URL to the URL at which people and CI servers reach the service, https://…';
  const isLocal = LOOPBACK.test(http.host);
  if (http.publicUrl === null)
    return isLocal ? ok(name, 'none; the service listens on this machine only') : note(name, 'not set: answers have no links', mend);
  const { hostname, protocol } = new URL(http.publicUrl);
  if (LOOPBACK.test(hostname) && !isLocal) return wrong(name, `${http.publicUrl} points readers to their own machine`, mend);
  if (protocol === 'http:' && !LOOPBACK.test(hostname))
    return note(name, `${http.publicUrl} is not encrypted: tokens can be read in transit`, mend);
  return ok(name, http.publicUrl);
}

function getHost(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

const EMBEDDED_MS = 30_000;
const MEND_SCHEMA = 'restore the file if it was changed here; otherwise back up, then run "faultline migrate --repair"';
const MIN_POSTGRES = 13;
const MIN_REDIS = [6, 2] as const;

/** Checks the configured services that store Faultline's data. */
export function examineStores(config: Config, dataDir: string): Examination[] {
  return [databaseExamination(config, dataDir), ...queueExaminations(config), ...archiveExaminations(config), ...indexExaminations(config)];
}

function databaseExamination(config: Config, dataDir: string): Examination {
  const { database } = config;
  if (database.driver === 'pglite') {
    const mend = 'make the data directory writable, or choose another with --data';
    return { name: 'database', mend, limitMs: EMBEDDED_MS, ask: () => embeddedFindings(config, dataDir) };
  }
  return {
    name: 'database',
    mend: 'check FAULTLINE_DATABASE_URL: is the server running there, can this machine reach it, and are the user, password and database correct?',
    ask: async () => {
      const { version, aheadMs, pending, refused, newer, changed, megabytes, shown } = await probeDatabase(database.url, database.ownerUrl);
      const findings: Finding[] = [];
      const major = Number.parseInt(version, 10);
      if (major < MIN_POSTGRES)
        findings.push(wrong('database', `PostgreSQL ${version} is too old`, `use PostgreSQL ${MIN_POSTGRES} or newer`));
      if (newer.length > 0)
        findings.push(
          wrong('database', `a newer Faultline has changed the schema (${newer.join(', ')})`, 'run that version or a newer one'),
        );
      if (changed !== null) findings.push(wrong('database', changed, MEND_SCHEMA));
      if (refused !== null) findings.push(wrong('database', 'the schema cannot be brought up to date', refused));
      else if (pending.length > 0)
        findings.push(
          note(
            'database',
            `${counted(pending.length, 'schema change is', 'schema changes are')} pending`,
            'run "faultline migrate", or let the next start apply them',
          ),
        );
      const all = [...findings, ...clockFindings('database clock', aheadMs)];
      const well = ok('database', `PostgreSQL ${version}, ${Math.round(megabytes)} MB, schema up to date`);
      return [...(all.length > 0 ? all : [well]), ...findShownSecrets(shown, listOwnSecrets(config))];
    },
  };
}

/**
 * Opens the installation as the service does. A running service holds the directory, which is not an error.
 */
async function embeddedFindings(config: Config, dataDir: string): Promise<Finding[]> {
  try {
    const app = await createApp(config, silentLogger);
    try {
      await app.loadKnowledge();
      const { backends } = await app.readiness();
      const made = findSecrets(dataDir);
      const served = made === null ? config : addMadeSecrets(config, made);
      const shown = findShownSecrets(await app.stores.builds.shownSecrets(), listOwnSecrets(served));
      const findings = ['database', 'jobQueue', 'archive', 'vectorIndex'].flatMap((name) => {
        const health = backends[name];
        if (health === undefined) return [];
        return health.state === 'ok'
          ? ok(name, health.says)
          : wrong(name, health.says, 'the data directory may be damaged: restore it from a backup');
      });
      return [...findings, ...shown];
    } finally {
      await app.close({ drainMs: 1_000 });
    }
  } catch (error) {
    if (error instanceof TriageError && error.code === 'invalid-config')
      return [wrong('database', error.message, 'see docs/how-to/upgrade.md; nothing was changed')];
    if (error instanceof TriageError && error.code === 'locked') return [ok('database', `in use: ${error.message}`)];
    throw error;
  }
}

/**
 * Finds our own secrets that are still valid and that a log has exposed. Every reader of that log at its CI
 * can use them.
 */
export function findShownSecrets(shown: readonly ShownSecret[], own: ReturnType<typeof listOwnSecrets>): Finding[] {
  const settings = new Map(own.map(({ setting, secret }) => [digestOfToken(secret), setting]));
  return shown.flatMap(({ digest, token, repository, pipeline, number, builds }) => {
    const setting = settings.get(digest);
    if (setting === undefined && token === null) return [];
    const what = setting === undefined ? `the token ${token}` : `a value of ${setting}`;
    const more = builds > 1 ? ` (and of ${counted(builds - 1, 'other build')})` : '';
    const says = `the log of ${repository} ${pipeline} #${number}${more} shows ${what} at its CI: rotate it`;
    return [wrong('secrets in logs', says, adviseRotation(setting, token))];
  });
}

function adviseRotation(setting: string | undefined, token: string | null): string {
  if (setting === undefined) return `create another token, give it to the sender, and run "faultline token revoke ${token}"`;
  if (setting === 'FAULTLINE_TOKENS') return 'set another one in FAULTLINE_TOKENS, restart, and give it to those who use it';
  const plugin = setting.includes('JENKINS') ? '; docs/start/jenkins.md says how to keep the Notification plugin from printing it' : '';
  return `set NEW,OLD in ${setting} and restart, set NEW at the sender, then leave OLD out and restart${plugin}`;
}

function queueExaminations({ jobQueue }: Config): Examination[] {
  if (jobQueue.driver !== 'bullmq') return [];
  const name = 'redis';
  return [
    {
      name,
      mend: 'check FAULTLINE_REDIS_URL: is the server running there, and is the password correct? Until then, each job waits a few seconds for the sweeper',
      ask: async () => {
        const { version, maxmemoryPolicy, role } = await probeRedis(jobQueue.url);
        if (role !== 'master') return wrong(name, 'this is a replica, which accepts no writes', 'set FAULTLINE_REDIS_URL to the primary');
        if (maxmemoryPolicy !== 'noeviction')
          return wrong(
            name,
            `maxmemory-policy is ${maxmemoryPolicy}: jobs may be evicted`,
            'set "maxmemory-policy noeviction" in redis.conf, and immediately with CONFIG SET',
          );
        if (isOlder(version, MIN_REDIS)) return wrong(name, `version ${version} is too old`, `use Redis ${MIN_REDIS.join('.')} or newer`);
        return ok(name, `Redis ${version}, ${maxmemoryPolicy}`);
      },
    },
  ];
}

function archiveExaminations({ buildArchive }: Config): Examination[] {
  if (buildArchive.driver !== 'mongodb') return [];
  const name = 'mongodb';
  return [
    {
      name,
      mend: 'check FAULTLINE_MONGODB_URL: is the server running there, and are the user and password correct? Until then, new logs are stored in PostgreSQL and stay there',
      ask: async () => {
        const { version, writable } = await probeMongodb(buildArchive.url, buildArchive.database);
        if (!writable) return wrong(name, 'this member accepts no writes', 'list the whole replica set in FAULTLINE_MONGODB_URL');
        return ok(name, `MongoDB ${version}`);
      },
    },
  ];
}

function indexExaminations(config: Config): Examination[] {
  if (config.vectorIndex.driver !== 'pinecone') return [];
  const mend =
    'check PINECONE_API_KEY and FAULTLINE_PINECONE_INDEX: the index needs the cosine metric and as many dimensions as the embedder produces. Until then, there is no semantic search';
  return [{ name: 'pinecone', mend, ask: async (signal) => ok('pinecone', await checkVectorIndex(config, signal)) }];
}
