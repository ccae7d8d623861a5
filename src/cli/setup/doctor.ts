import { stat, statfs } from 'node:fs/promises';
import { listExternalChecks } from '../../app/external-checks.ts';
import { choosePublishBound, countShippedShare } from '../../app/publish-bound.ts';
import { findShownSecrets, listServerChecks, REMEDY_DIRECTORY } from '../../app/store-checks.ts';
import { createApp } from '../../app.ts';
import type { Environment } from '../../config/load.ts';
import { createMaskingOptions, listOwnSecrets } from '../../config/masking.ts';
import type { Config } from '../../config/schema.ts';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { ROUTE_WORDS } from '../../domain/publish-bound.ts';
import { createGit, getTrustedPath, isSuccess } from '../../git/command.ts';
import { isOlder } from '../../lib/text.ts';
import { createMasker } from '../../log/mask/mask.ts';
import { toVisibleLine } from '../../notifications/visible-text.ts';
import { type Check, type Finding, note, ok, runCheck, wrong } from '../../ports/health.ts';
import { silentLogger } from '../../ports/telemetry.ts';
import { createProviders } from '../../providers/registry.ts';
import { MADE_SECRETS } from '../../service/connect.ts';
import {
  addMadeSecrets,
  type DataOptions,
  findSecrets,
  getDataDirectory,
  prepareDataDirectory,
  readConfig,
} from '../settings.ts';
import { EXIT, formatJson, print } from '../terminal.ts';

const NAME_WIDTH = 16;

/**
 * Runs `faultline doctor`: checks every configured backend with one cheap request and says what to do. Exits
 * with 4 if something is wrong.
 */
export async function runDoctor(options: DataOptions): Promise<void> {
  const findings = await diagnose(getDataDirectory(options.data));
  const isWell = findings.every(({ state }) => state !== 'wrong');
  if (!isWell) process.exitCode = EXIT.refused;
  await print(
    options.json
      ? formatJson({ ok: isWell, findings: findings.map(toFindingJson) })
      : findings.map(renderFinding).join('\n'),
  );
}

/**
 * Returns all findings in a fixed order. The checks run concurrently, each with a time limit, and secrets are
 * masked. Never throws.
 */
export async function diagnose(dataDir: string, given: Environment = {}): Promise<readonly Finding[]> {
  const read = tryConfig(dataDir, given);
  if ('state' in read) return [createNodeFinding(), read];
  const { config } = read;
  const embedded = config.database.driver === 'pglite' ? [createEmbeddedCheck(config, dataDir)] : [];
  const checks = [
    ...listLocalChecks(config, dataDir),
    ...listExternalChecks(config),
    ...embedded,
    ...listServerChecks(config),
  ];
  const found = (await Promise.all(checks.map(runCheck))).flat();
  return maskFindings(
    [createNodeFinding(), ok('configuration', `data directory ${dataDir}`), ...found],
    config,
  );
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

/** Returns a finding as `--json` prints it. The remedy is called `mend` there. */
export function toFindingJson({ remedy, ...finding }: Finding) {
  return remedy === undefined ? finding : { ...finding, mend: remedy };
}

/**
 * Formats a finding for people: the state, and below it the fix. Text from a server is shown, never obeyed.
 */
export function renderFinding({ state, name, says, remedy }: Finding): string {
  const indent = ' '.repeat(NAME_WIDTH + 9);
  const advice = remedy === undefined ? '' : `\n${indent}→ ${toVisibleLine(remedy)}`;
  return `${state.padEnd(5)}  ${toVisibleLine(name).padEnd(NAME_WIDTH)}  ${toVisibleLine(says)}${advice}`;
}

const MEGABYTE = 1024 * 1024;
/**
 * The free space, in megabytes, below which a warning is given. The logs of one bad morning can use up that
 * much.
 */
const LITTLE_ROOM_MB = 1024;
const OTHERS = 0o077;
/**
 * The minimum length of a secret. GitHub and Jenkins recommend long random ones; shorter ones can be guessed.
 */
const SHORT_SECRET = 16;
const PLACEHOLDER =
  /^(?:change[-_ ]?me|secret|password|example|todo|your[-_].{0,40}|x{8,40}|12345678.{0,20})$/i;
const LOOPBACK = /^(?:localhost|127\.[\d.]{1,15}|\[?::1\]?)$/i;

/**
 * Lists which answers are published according to the shipped outcomes, and how many right ones the others
 * lack. Decisions in the store may change it.
 */
function createPublishingFinding({ triage }: Config): Finding {
  const bound = choosePublishBound({ triage });
  if (bound === null)
    return note(
      'publishing',
      'no bound: FAULTLINE_MAX_WRONG is 1',
      'set it to the share of wrong answers that you accept',
    );
  const { all, published, wrong } = countShippedShare(bound, triage.thresholds.autoNotify);
  const share = `${((100 * published) / all).toFixed(0)} % of ${all} known answers published, ${wrong} wrong`;
  const missing = bound.routes
    .filter((route) => !route.published)
    .map((route) => `${ROUTE_WORDS[route.route]}: ${route.missing}`);
  const says = `at most ${100 * bound.maxWrong} % wrong with ${100 * bound.confidence} % confidence: ${share}`;
  return ok('publishing', `${says}. More right outcomes needed for answers ${missing.join('; ')}`);
}

/** Lists the checks that need no network request. */
function listLocalChecks(config: Config, dataDir: string): Check[] {
  return [
    {
      name: 'git',
      remedy: 'install git; without it, there are no suspects from code',
      ask: async () => ok('git', (await runGit(process.cwd(), ['--version'])).trim()),
    },
    ...Object.entries(config.codeHost.clones).map(([repository, folder]) =>
      createCloneCheck(repository, folder),
    ),
    { name: 'code', remedy: 'see FAULTLINE_CLONES', ask: async () => listCodeFindings(config) },
    {
      name: 'data directory',
      remedy:
        'make the data directory writable for the user that runs Faultline, or choose another ' +
        'with --data',
      ask: () => createDataFinding(dataDir),
    },
    {
      name: 'access',
      remedy: 'correct the tokens and secrets',
      ask: async () => listAccessFindings(config, dataDir),
    },
    {
      name: 'publishing',
      remedy: 'see docs/how-to/thresholds.md',
      ask: async () => createPublishingFinding(config),
    },
    {
      name: 'public address',
      remedy: 'set FAULTLINE_PUBLIC_URL',
      ask: async () => createAddressFinding(config),
    },
  ];
}

function createNodeFinding(): Finding {
  if (!isOlder(process.versions.node, [22, 18])) return ok('node', process.version);
  return wrong(
    'node',
    `${process.version} cannot run TypeScript`,
    'use scripts/faultline, which includes Node 24',
  );
}

async function runGit(folder: string, args: readonly string[]): Promise<string> {
  const ask = createGit({ path: getTrustedPath(process.env.PATH, folder), timeoutMs: 4_000 });
  const answer = await ask(folder, args, new AbortController().signal);
  if (!isSuccess(answer)) throw new TriageError('upstream-failed', answer.complaint.trim());
  return answer.output;
}

function createCloneCheck(repository: string, folder: string): Check {
  const name = `clone ${repository}`;
  const remedy = `clone the repository to ${folder}, or correct FAULTLINE_CLONES`;
  return {
    name,
    remedy,
    ask: async () => {
      if (!(await isFolder(folder))) return wrong(name, `${folder} does not exist`, remedy);
      try {
        await runGit(folder, ['rev-parse', '--git-dir']);
        return ok(name, folder);
      } catch {
        return wrong(name, `${folder} is not a git repository that this user can read`, remedy);
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

function listCodeFindings({ codeHost: { driver, clones }, providers }: Config): Finding[] {
  if (driver === 'none') return [ok('code', 'off, as configured')];
  const asked = createProviders(providers).flatMap(({ name, code }) =>
    code !== null && (driver === name || (driver === 'auto' && code.configured))
      ? [getHost(code.baseUrl)]
      : [],
  );
  if (asked.length > 0) return [ok('code', `read over ${asked.join(', ')}`)];
  if (Object.keys(clones).length > 0) return [];
  return [
    note(
      'code',
      'no local clone is configured',
      'set FAULTLINE_CLONES=owner/name=folder or FAULTLINE_GITHUB_TOKEN for blame and suspects',
    ),
  ];
}

async function createDataFinding(dataDir: string): Promise<Finding> {
  const name = 'data directory';
  prepareDataDirectory(dataDir);
  const { bavail, bsize } = await statfs(dataDir);
  const room = Math.floor((bavail * bsize) / MEGABYTE);
  if (room < LITTLE_ROOM_MB)
    return wrong(
      name,
      `only ${room} MB are free in ${dataDir}`,
      'free some space, or name another directory with --data',
    );
  const { mode } = await stat(dataDir);
  if ((mode & OTHERS) !== 0)
    return note(name, `${dataDir} can be read by other users`, `chmod 700 ${dataDir}`);
  return ok(name, `${dataDir}, ${room.toLocaleString('en')} MB free`);
}

function listAccessFindings(config: Config, dataDir: string): Finding[] {
  const made =
    findSecrets(dataDir) === null ? 'will be created on first start' : 'created for this data directory';
  const { tokens } = config.auth;
  return [
    createSecretFinding(
      'tokens',
      tokens.map(({ token }) => token),
      `one, ${made}`,
      'FAULTLINE_TOKENS',
    ),
    ...createProviders(config.providers).map(({ name, webhook: { secrets } }) =>
      createSecretFinding(
        `${name} webhook`,
        secrets,
        MADE_SECRETS.includes(name) && config.database.driver === 'pglite'
          ? `secret ${made}`
          : 'off: no secret is set',
        `FAULTLINE_${name.toUpperCase()}_WEBHOOK_SECRET`,
      ),
    ),
  ];
}

function createSecretFinding(
  name: string,
  secrets: readonly string[],
  unset: string,
  variable: string,
): Finding {
  if (secrets.length === 0) return ok(name, unset);
  const remedy = `create one with "openssl rand -hex 32" and set it in ${variable} and at the sender`;
  if (secrets.some((secret) => PLACEHOLDER.test(secret)))
    return wrong(name, 'one of them is a placeholder that anyone can guess', remedy);
  if (secrets.some((secret) => secret.length < SHORT_SECRET))
    return wrong(name, `one of them is shorter than ${SHORT_SECRET} characters`, remedy);
  if (new Set(secrets).size < secrets.length)
    return wrong(name, 'the same one is configured twice', `keep it once in ${variable}`);
  return ok(name, `${secrets.length} configured`);
}

function createAddressFinding({ http }: Config): Finding {
  const name = 'public address';
  const remedy =
    'set FAULTLINE_PUBLIC_URL to the URL at which people and CI servers reach the service, https://…';
  const isLocal = LOOPBACK.test(http.host);
  if (http.publicUrl === null)
    return isLocal
      ? ok(name, 'none; the service listens on this machine only')
      : note(name, 'not set: answers have no links', remedy);
  const { hostname, protocol } = new URL(http.publicUrl);
  if (LOOPBACK.test(hostname) && !isLocal)
    return wrong(name, `${http.publicUrl} points readers to their own machine`, remedy);
  if (protocol === 'http:' && !LOOPBACK.test(hostname))
    return note(name, `${http.publicUrl} is not encrypted: tokens can be read in transit`, remedy);
  return ok(name, http.publicUrl);
}

function getHost(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

const EMBEDDED_MS = 30_000;

/** Creates the check of the embedded database and its contents. */
function createEmbeddedCheck(config: Config, dataDir: string): Check {
  const remedy = 'make the data directory writable, or choose another with --data';
  return { name: 'database', remedy, limitMs: EMBEDDED_MS, ask: () => readEmbeddedFindings(config, dataDir) };
}

/**
 * Opens the installation as the service does. A running service has locked the directory, which is not an
 * error.
 */
async function readEmbeddedFindings(config: Config, dataDir: string): Promise<Finding[]> {
  try {
    const app = await createApp(config, silentLogger);
    try {
      await app.loadKnowledge();
      const { backends } = await app.readiness();
      const made = findSecrets(dataDir);
      const served = made === null ? config : addMadeSecrets(config, made);
      const exposed = findShownSecrets(await app.stores.builds.shownSecrets(), listOwnSecrets(served));
      const findings = ['database', 'jobQueue', 'archive', 'vectorIndex'].flatMap((name) => {
        const health = backends[name];
        if (health === undefined) return [];
        return health.state === 'ok'
          ? ok(name, health.says)
          : wrong(name, health.says, health.remedy ?? REMEDY_DIRECTORY);
      });
      return [...findings, ...exposed];
    } finally {
      await app.close({ drainMs: 1_000 });
    }
  } catch (error) {
    if (error instanceof TriageError && error.code === 'invalid-config')
      return [wrong('database', error.message, 'see docs/how-to/upgrade.md; nothing was changed')];
    if (error instanceof TriageError && error.code === 'locked')
      return [ok('database', `in use: ${error.message}`)];
    throw error;
  }
}
