/**
 * Uploads logs, and lets logs be fetched, that contain the secrets with which gitleaks tests its rules, and
 * values that a log declares to be secret. The declared values are also in a report and an artifact. Every
 * output is searched for them.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMasker } from '../../../src/log/mask/mask.ts';
import { createFakeGithub } from '../../../test/support/fake-github.ts';
import { createGithubJob, startGithubApi } from '../../../test/support/github-api.ts';
import { startLoopback } from '../../../test/support/loopback-server.ts';
import { readGitleaksSamples } from '../../../test/support/masking-gates.ts';
import {
  createAuthorization,
  listBuilds,
  readAcceptedId,
  type SentBuild,
  tell,
  upload,
  waitForAnswers,
} from './shared/builds.ts';
import { reportService, startService } from './shared/service.ts';
import { report, run } from './shared/tools.ts';

const RULES_IN_A_LOG = 10;

/** A log that is full of secrets. */
interface Planted {
  readonly log: string;
  /** The secrets that masking hides when it sees the log alone. */
  readonly secrets: readonly string[];
  /** The values that masking leaves, because it does not regard them as secrets. */
  readonly left: readonly string[];
  /** The other files of the upload. */
  readonly beside?: Pick<SentBuild, 'report' | 'artifact'>;
}

/** The commands whose only purpose is to declare a value secret. */
const DECLARATIONS: readonly ((value: string) => string)[] = [
  (value) => `::add-mask::${value}`,
  (value) => `##vso[task.setvariable variable=X;issecret=true]${value}`,
  (value) => `ConvertTo-SecureString "${value}" -AsPlainText -Force`,
];
/** The declared values, which are followed by a number. XML and JSON write the last two differently. */
const DECLARED = ['rK7vQ2pLm9Xz', 'plum-cake', 'correct horse battery', 'p@ss<w0rd>&\\q', "it's<me>"];
const FILES = ['test.log', 'junit.xml', 'server.log'];

const folder = await mkdtemp(join(tmpdir(), 'faultline-masking-'));
const dataDir = join(folder, 'data');
const client = createFakeGithub();
const github = await startGithubApi({ client });
const told: string[] = [];
const receiver = await startLoopback((request, response) => {
  request.setEncoding('utf8').on('data', (text: string) => told.push(text));
  request.on('end', () => response.writeHead(204).end());
});
const service = await startService({
  dataDir,
  settings: {
    FAULTLINE_GITHUB_URL: github.url,
    FAULTLINE_GITHUB_TOKEN: 'attack',
    FAULTLINE_GITHUB_WRITES: 'comment,status',
    // Some answers must be published although they are not confident.
    FAULTLINE_MAX_WRONG: '1',
    FAULTLINE_AUTO_NOTIFY: '0.55',
    FAULTLINE_PUBLISH_WEBHOOK_URL: receiver.url,
    FAULTLINE_PUBLISH_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
  },
});
try {
  const planted = [declare()].concat(await plant());
  const secrets = planted.flatMap((other) => other.secrets);
  const fine: boolean[] = [];
  const look = (way: string, texts: readonly string[], among = secrets) => {
    const found = among.filter((secret) =>
      [...listSpellings(secret)].some((spelling) => texts.some((text) => text.includes(spelling))),
    );
    const bytes = texts.reduce((sum, text) => sum + text.length, 0);
    // An empty output shows nothing because it has no content, so this is a finding.
    const findings = bytes === 0 ? 1 : found.length;
    fine.push(
      report(
        way,
        `${texts.length} answers, ${(bytes / 1e6).toFixed(1)} MB, ${found.length} secrets`,
        findings,
        found.slice(0, 20).join('\n'),
      ),
    );
  };
  const builds = await bringIn(planted);
  const ways = new Map<string, string[]>();
  for (const build of builds)
    for (const [way, texts] of await read(build)) ways.set(way, [...(ways.get(way) ?? []), ...texts]);
  ways.set(
    'lists',
    await Promise.all(['/api/failures?limit=200', '/api/reviews?limit=200', '/builds', '/review'].map(get)),
  );
  const left = planted.flatMap((other) => other.left);
  const seen = left.filter((text) => ways.get('log viewer')?.some((page) => page.includes(text))).length;
  const planting = `${secrets.length} secrets in ${builds.length} builds; of ${left.length} more, none to masking, ${seen} are seen`;
  // A search that does not find these values would not find a secret either.
  fine.push(report('planted', planting, seen === 0 ? 1 : 0, 'what is not masked is not found'));
  for (const [way, texts] of ways) look(way, texts);
  const isOwed = () => client.comments.length < planted.length || told.length === 0;
  for (let tries = 0; tries < 60 && isOwed(); tries++) await sleep(1_000);
  look(
    'comments',
    client.comments.map(({ body }) => body),
  );
  look(
    'statuses',
    client.statuses.map((status) => JSON.stringify(status)),
  );
  look('webhooks', [told.join('')]);
  fine.push(reportService(service));
  await service.end();
  look('export', await readExported());
  process.exitCode = fine.every(Boolean) ? 0 : 1;
} finally {
  await service.stop();
  await Promise.all([github.close(), receiver.close(), rm(folder, { recursive: true, force: true })]);
}

/**
 * Creates a log that declares values to be secret, and a failure, a report and an artifact that show them.
 */
function declare(): Planted {
  const secrets = DECLARATIONS.flatMap((_, way) => DECLARED.map((value) => `${value}${way}`));
  const declared = secrets.map((secret, at) => DECLARATIONS[Math.floor(at / DECLARED.length)]?.(secret));
  const failures = secrets.map(
    (secret, at) => `Error: cannot log in: ${secret}\n    at logIn (/srv/src/log-in-${at}.js:7:15)`,
  );
  const cases = secrets.map(
    (secret, at) =>
      `<testcase name="log in ${at}"><failure message="${toHtml(secret)}">${toHtml(secret)}</failure></testcase>`,
  );
  const report = `<testsuite name="log in" tests="${cases.length}">${cases.join('\n')}</testsuite>`;
  const log = declared.concat(failures, 'npm ERR! code ELIFECYCLE').join('\n');
  return { log, secrets, left: [], beside: { report, artifact: failures.join('\n') } };
}

/**
 * Creates a log for every few rules. It has their samples, followed by a failure whose message shows the
 * first sample of each.
 */
async function plant(): Promise<Planted[]> {
  const rules = readGitleaksSamples().samples.filter(({ secret }) => secret.length > 0);
  const masker = createMasker();
  const logs: Planted[] = [];
  for (let at = 0; at < rules.length; at += RULES_IN_A_LOG) {
    const samples = rules.slice(at, at + RULES_IN_A_LOG).flatMap(({ secret }) => secret);
    const shown = rules
      .slice(at, at + RULES_IN_A_LOG)
      .map(({ secret }) => secret[0]?.text.split('\n', 1)[0] ?? '');
    const failure = shown.map(
      (text) => `Error: cannot deploy: ${text}\n    at deploy (/srv/shop/src/deploy-${at}.js:7:15)`,
    );
    const log = [...samples.map(({ text }) => text), ...failure, 'npm ERR! code ELIFECYCLE'].join('\n');
    const masked = (await masker.mask(log)).text;
    const all = [...new Set(samples.flatMap(({ secrets: own }) => own))];
    const hidden = all.filter((secret) => !masked.includes(secret));
    logs.push({ log, secrets: hidden, left: all.filter((secret) => masked.includes(secret)) });
  }
  return logs;
}

/**
 * Uploads each log, and lets it be fetched for a run of GitHub. Returns the ids of all builds, once they are
 * answered.
 */
async function bringIn(logs: readonly Planted[]): Promise<string[]> {
  github.state.intercept = ({ url = '' }) => {
    const id = /\/runs\/(\d+)\//.exec(url)?.[1];
    if (id !== undefined) github.state.jobs = [createGithubJob({ id: Number(id), name: 'deploy' })];
    return false;
  };
  for (const [at, { log, beside }] of logs.entries()) {
    github.state.stored.set(`/jobs/${at + 1}/logs`, log);
    await readAcceptedId(await upload(service, { number: `uploaded-${at + 1}`, log, ...beside }));
    await tell(service, { id: at + 1, conclusion: 'failure' });
  }
  for (let tries = 0; tries < 60 && (await listBuilds(service)).length < 2 * logs.length; tries++)
    await sleep(1_000);
  const ids = (await listBuilds(service)).map(({ id }) => id);
  for (const id of ids) await waitForAnswers(service, id, 5);
  return ids;
}

async function get(path: string): Promise<string> {
  const response = await fetch(service.url + path, { headers: { authorization: `Bearer ${service.token}` } });
  if (!response.ok) throw new Error(`${path} was answered with ${response.status}: ${await response.text()}`);
  return await response.text();
}

/** Returns the texts that every output shows about a build, by the name of the output. */
async function read(build: string): Promise<[string, string[]][]> {
  const { analyses } = await waitForAnswers(service, build);
  const ids = analyses.map(({ id }) => id);
  const viewer = await get(`/logs/${build}`);
  const api = ['', '/analyses', '/sarif', '/ctrf'].map((end) => `/api/builds/${build}${end}`);
  const apiOfAnalyses = ids.flatMap((id) => [`/api/analyses/${id}`, `/api/analyses/${id}/trace`]);
  const pages = [
    `/builds/${build}`,
    ...ids.flatMap((id) => [`/analyses/${id}`, `/runs/${id}`, `/runs/${id}/json`]),
  ];
  const files = FILES.filter((file) => viewer.includes(file));
  const raw = files.map((file) => `/logs/${build}/raw?file=${file}`);
  const calls = [
    ['tools/call', { name: 'get_failure', arguments: { id: build } }],
    ['tools/call', { name: 'get_evidence', arguments: { id: build } }],
    ['resources/read', { uri: `faultline://builds/${build}` }],
    ...ids.map((id) => ['resources/read', { uri: `faultline://analyses/${id}` }] as const),
  ] as const;
  return [
    ['API', await Promise.all([...api, ...apiOfAnalyses].map(get))],
    ['pages', await Promise.all(pages.map(get))],
    ['log viewer', [viewer].concat(await Promise.all([`/logs/${build}/raw`].concat(raw).map(get)))],
    ['MCP', await Promise.all(calls.map(([method, params]) => callMcp(method, params)))],
  ];
}

async function callMcp(method: string, params: object): Promise<string> {
  const headers = { ...createAuthorization(service), accept: 'application/json, text/event-stream' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const answer = await (await fetch(`${service.url}/mcp`, { method: 'POST', headers, body })).text();
  if (!answer.includes('"result"') || answer.includes('"isError":true'))
    throw new Error(`${body} was answered with ${answer}`);
  return answer;
}

/** Returns all files of the cases that the command line writes. */
async function readExported(): Promise<string[]> {
  const out = join(folder, 'cases');
  const args = ['src/cli/main.ts', 'cases', 'export', '--stored', '--out', out];
  const { code, stdout, stderr } = await run(process.execPath, args, { env: service.stores });
  if (code !== 0) throw new Error(`The export ended with ${code}: ${stderr}`);
  const files = await readdir(out, { recursive: true, withFileTypes: true });
  const texts = files
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8'));
  return [stdout, ...(await Promise.all(texts))];
}

/** Returns the secret as it is, in JSON and in HTML. */
function listSpellings(secret: string): Set<string> {
  return new Set([secret, JSON.stringify(secret).slice(1, -1), toHtml(secret)]);
}

function toHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
