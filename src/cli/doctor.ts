import { execFile } from 'node:child_process';
import { stat, statfs } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Environment } from '../config/load.ts';
import { maskingOf } from '../config/masking.ts';
import type { Config } from '../config/schema.ts';
import { messageOf } from '../domain/errors.ts';
import { createMasker } from '../log/mask/mask.ts';
import { type Examination, examine, type Finding, note, ok, wrong } from '../ports/examination.ts';
import { providersOf } from '../providers/registry.ts';
import { examineOutside } from './doctor-outside.ts';
import { examineStores } from './doctor-stores.ts';
import { type DataOptions, dataDirectory, findSecrets, prepareDataDirectory, readConfig } from './settings.ts';
import { EXIT, print } from './terminal.ts';

const NAME_WIDTH = 16;

/** `faultline doctor`: asks every configured backend one cheap question and says what to do. Exit 4 where something is wrong. */
export async function runDoctor(options: DataOptions): Promise<void> {
  const findings = await diagnose(dataDirectory(options.data));
  const isWell = findings.every(({ state }) => state !== 'wrong');
  if (!isWell) process.exitCode = EXIT.refused;
  await print(options.json ? JSON.stringify({ ok: isWell, findings }) : findings.map(renderFinding).join('\n'));
}

/** All findings, in a fixed order; the questions are asked side by side, each within its limit. Secrets are masked. Never throws. */
export async function diagnose(dataDir: string, given: Environment = {}): Promise<readonly Finding[]> {
  const read = tryConfig(dataDir, given);
  if ('state' in read) return [nodeFinding(), read];
  const { config } = read;
  const examinations: Examination[] = [...examineHere(config, dataDir), ...examineOutside(config), ...examineStores(config)];
  const found = (await Promise.all(examinations.map(examine))).flat();
  return maskFindings([nodeFinding(), ok('configuration', `data directory ${dataDir}`), ...found], config);
}

function tryConfig(dataDir: string, given: Environment): { readonly config: Config } | Finding {
  try {
    return { config: readConfig(dataDir, given) };
  } catch (error) {
    return wrong('configuration', messageOf(error), 'correct the variables named above');
  }
}

/** What a driver says may name a whole address, with its password. */
async function maskFindings(findings: readonly Finding[], config: Config): Promise<readonly Finding[]> {
  const masker = createMasker(maskingOf(config));
  const says = await masker.maskAll(findings.map((finding) => finding.says));
  return findings.map((finding, index) => ({ ...finding, says: says[index]?.text ?? '***' }));
}

/** A finding as people read it: what it is, and below it what to do. */
export function renderFinding({ state, name, says, mend }: Finding): string {
  const indent = ' '.repeat(NAME_WIDTH + 9);
  return `${state.padEnd(5)}  ${name.padEnd(NAME_WIDTH)}  ${says}${mend === undefined ? '' : `\n${indent}→ ${mend}`}`;
}

const run = promisify(execFile);
const MEGABYTE = 1024 * 1024;
/** Less room than that is used up by the logs of a bad morning. */
const LITTLE_ROOM_MB = 1024;
const OTHERS = 0o077;
/** What GitHub and Jenkins advise is random and long; shorter ones can be guessed. */
const SHORT_SECRET = 16;
const PLACEHOLDER = /^(?:change[-_ ]?me|secret|password|example|todo|your[-_].{0,40}|x{8,40}|12345678.{0,20})$/i;
const LOOPBACK = /^(?:localhost|127\.[\d.]{1,15}|\[?::1\]?)$/i;

/** Whose webhook secret is made where none is set. */
const MADE: readonly string[] = ['github', 'jenkins'];

/** What can be seen on this machine, without asking anybody. */
function examineHere(config: Config, dataDir: string): Examination[] {
  return [
    {
      name: 'git',
      mend: 'install git; without it, there are no suspects from code',
      ask: async () => ok('git', (await git(['--version'])).trim()),
    },
    ...Object.entries(config.codeHost.clones).map(([repository, folder]) => cloneExamination(repository, folder)),
    { name: 'code', mend: 'see FAULTLINE_CLONES', ask: async () => codeFindings(config) },
    {
      name: 'data directory',
      mend: 'make the data directory writable for the user that runs Faultline, or choose another with --data',
      ask: () => dataFinding(dataDir),
    },
    { name: 'access', mend: 'correct the tokens and secrets', ask: async () => accessFindings(config, dataDir) },
    { name: 'public address', mend: 'set FAULTLINE_PUBLIC_URL', ask: async () => addressFinding(config) },
  ];
}

function nodeFinding(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 18)) return ok('node', process.version);
  return wrong('node', `${process.version} cannot run TypeScript`, 'use scripts/faultline, which includes Node 24');
}

async function git(args: readonly string[]): Promise<string> {
  return (await run('git', args, { timeout: 4_000 })).stdout;
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
        await git(['-C', folder, 'rev-parse', '--git-dir']);
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
  const asked = providersOf(providers).flatMap(({ name, code }) =>
    code !== null && (driver === name || (driver === 'auto' && code.configured)) ? [hostOf(code.baseUrl)] : [],
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
    ...providersOf(config.providers).map(({ name, webhook: { secrets } }) =>
      secretFinding(
        `${name} webhook`,
        secrets,
        MADE.includes(name) && config.database.driver === 'pglite' ? `secret ${made}` : 'off: no secret is set',
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

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
