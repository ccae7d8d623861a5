/**
 * Sends a day's traffic within minutes with autocannon, while slow clients hold connections open. Measures
 * what the service holds during and after that.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import { MAX_STREAMS } from '../../../src/api/limits.ts';
import { createGithubJob, startGithubApi } from '../../../test/support/github-api.ts';
import {
  createAuthorization,
  createDelivery,
  createUpload,
  LOG,
  listBuilds,
  listWronglyAnswered,
  tell,
  Uploaded,
} from './shared/builds.ts';
import { reportService, startService } from './shared/service.ts';
import { report } from './shared/tools.ts';
import { drawSeries, findHighest, watchUsage } from './shared/usage.ts';

const PROBING_SECONDS = 10;
/**
 * The traffic of a hundred developers in a day: the webhooks of GitHub about their runs and jobs, and the
 * builds that fail.
 */
const DAY = { webhooks: 10_000, uploads: 300 };
const DAY_SECONDS = 24 * 60 * 60;
/**
 * The number of slow clients of each kind: idle, headers, bodies and event streams. One holder may have fewer
 * event streams open.
 */
const SLOW_CLIENTS = 250;
const BYTE_EVERY_MS = 500;
/**
 * The limit for memory in addition to that at the start of a process, in megabytes. It leaves room for many
 * concurrent requests, but not for a leak.
 */
const MEMORY_BOUND = 1024;
const WANTED_MEDIAN_MS = 100;

/** The number of builds that were sent. The first is the build that is watched. */
let sent = 1;
/** It does not answer until it is released, so that a build is always being processed. */
const github = await startGithubApi();
github.state.intercept = () => true;
github.state.jobs = [createGithubJob({ id: 1, name: 'test' })];
github.state.stored.set('/jobs/1/logs', LOG);
const service = await startService({
  settings: { FAULTLINE_GITHUB_URL: github.url, FAULTLINE_GITHUB_TOKEN: 'attack' },
});
/** The results of probes. */
interface Probed {
  readonly milliseconds: number[];
  readonly refused: string[];
}
const { hostname, port } = new URL(service.url);
const slow: Socket[] = [];
const streams = new Set<Socket>();
try {
  const usage = await watchUsage(service);
  openSlowClients(await createWatchedBuild());
  const [probed, loaded] = await probeWhile(attackAll);
  const held = slow.filter(({ destroyed }) => !destroyed).length;
  const open = [...streams].filter(({ destroyed }) => !destroyed).length;
  github.state.intercept = null;
  const wrong = await listWronglyAnswered(service, loaded.accepted, 15);
  for (const socket of slow) socket.destroy();
  const { series, growing } = await usage.end();
  const tooMuch = [...series].filter(
    ([name, values]) => name.endsWith(', MB') && findHighest(values) - (values[0] ?? 0) > MEMORY_BOUND,
  );
  const wanted = Math.min(SLOW_CLIENTS, MAX_STREAMS);
  const median =
    probed.milliseconds.toSorted((a, b) => a - b)[Math.floor(probed.milliseconds.length / 2)] ?? 0;
  const beyond = median > WANTED_MEDIAN_MS ? `, more than the ${WANTED_MEDIAN_MS} wanted` : '';
  const fine = [
    ...loaded.reports,
    report(
      'slow clients',
      `${slow.length} opened, ${held} held to the end, ${open} of them event streams`,
      open === wanted ? 0 : 1,
      `a holder may watch ${MAX_STREAMS} event streams`,
    ),
    report(
      'probes meanwhile',
      `${probed.milliseconds.length}, median ${median.toFixed(0)} ms${beyond}`,
      probed.refused.length,
      probed.refused.join('\n'),
    ),
    report('memory', `${tooMuch.length} processes grew by more than ${MEMORY_BOUND} MB`, tooMuch.length, ''),
    report('afterwards', `${growing.length} still growing or left open`, growing.length, growing.join('\n')),
    report(
      'answers',
      `${loaded.accepted.size} uploads accepted, ${wrong.length} not answered once`,
      wrong.length,
      wrong.join('\n'),
    ),
    reportService(service, /Fetching the logs of run 1 took longer/),
  ];
  console.info(drawSeries(series));
  process.exitCode = fine.every(Boolean) ? 0 : 1;
} finally {
  for (const socket of slow) socket.destroy();
  await service.stop();
  await github.close();
}

/** Runs the probes, webhooks and uploads, one after the other. */
async function attackAll(): Promise<{ reports: boolean[]; accepted: Set<string> }> {
  const accepted = new Set<string>();
  const reports: boolean[] = [];
  let seconds = 0;
  const volleys: Readonly<Record<string, autocannon.Options>> = {
    probes: {
      url: service.url,
      duration: PROBING_SECONDS,
      requests: [{ path: '/healthz' }, { path: '/readyz' }],
    },
    webhooks: {
      url: service.url,
      amount: DAY.webhooks,
      requests: [{ method: 'POST', path: '/webhooks/github', setupRequest: signDelivery }],
    },
    uploads: {
      url: service.url,
      amount: DAY.uploads,
      connections: 5,
      timeout: 120,
      requests: [createFreshUpload(accepted)],
    },
  };
  for (const [name, options] of Object.entries(volleys)) {
    const result = await autocannon(options);
    if (options.amount !== undefined) seconds += result.duration;
    const failed = result.non2xx + result.errors + result.timeouts;
    const counts = `${result['2xx']} answered 2xx, ${result['4xx']} 4xx, ${result['5xx']} 5xx, ${result.errors} broken`;
    reports.push(
      report(
        name,
        `${counts}, median ${result.latency.p50} ms, p99 ${result.latency.p99} ms`,
        failed,
        JSON.stringify(result.statusCodeStats),
      ),
    );
  }
  const traffic = `${DAY.webhooks} webhooks and ${DAY.uploads} uploads in ${seconds.toFixed(0)} s`;
  reports.push(report('a day', `${traffic}, ${(DAY_SECONDS / seconds).toFixed(0)} times as fast`, 0, ''));
  return { reports, accepted };
}

/**
 * Creates the signed delivery of a run that passed. The run is kept for the history, and nothing is fetched
 * for it.
 */
function signDelivery(request: autocannon.Request): autocannon.Request {
  sent += 1;
  return { ...request, ...createDelivery(service, { id: sent, conclusion: 'success' }) };
}

function createFreshUpload(accepted: Set<string>): autocannon.Request {
  return {
    method: 'POST',
    path: '/api/builds',
    headers: createAuthorization(service),
    setupRequest: (request) => {
      sent += 1;
      return { ...request, body: createUpload({ number: sent, log: LOG }) };
    },
    onResponse: (status, body) => {
      if (status === 202) accepted.add(Uploaded.parse(JSON.parse(body)).buildId);
    },
  };
}

/** Runs the work while both probes are sent repeatedly, each on a separate connection. */
async function probeWhile<Result>(work: () => Promise<Result>): Promise<[Probed, Result]> {
  const probed: Probed = { milliseconds: [], refused: [] };
  const state = { over: false };
  const probing = (async () => {
    while (!state.over) {
      for (const path of ['/healthz', '/readyz']) await probe(path, probed);
      await sleep(100);
    }
  })();
  try {
    return [probed, await work()];
  } finally {
    state.over = true;
    await probing;
  }
}

async function probe(path: string, { milliseconds, refused }: Probed): Promise<void> {
  const from = performance.now();
  try {
    const response = await fetch(service.url + path, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(30_000),
    });
    if (response.status !== 200) refused.push(`${path}: ${response.status} ${await response.text()}`);
    else await response.arrayBuffer();
  } catch (error) {
    refused.push(`${path}: ${String(error)}`);
  }
  milliseconds.push(performance.now() - from);
}

/** Creates a build that waits for its log. */
async function createWatchedBuild(): Promise<string> {
  await tell(service, { id: 1, conclusion: 'failure' });
  for (;;) {
    const [build] = await listBuilds(service);
    if (build !== undefined) return build.id;
    await sleep(100);
  }
}

/**
 * Opens connections on which nothing is sent, connections on which headers or a body arrive one byte at a
 * time, and event streams that are not read to their end.
 */
function openSlowClients(buildId: string): void {
  const bearer = `authorization: Bearer ${service.token}\r\n`;
  const rest = [
    '',
    `GET /healthz HTTP/1.1\r\nhost: x\r\nx-long: ${'x'.repeat(10_000)}`,
    'x'.repeat(10_000),
    '',
  ];
  const heads = [
    '',
    '',
    `POST /api/builds HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 10000\r\n${bearer}\r\n`,
    `GET /runs/${buildId}/events HTTP/1.1\r\nhost: x\r\n${bearer}\r\n`,
  ];
  for (const [kind, head] of heads.entries()) {
    for (let client = 0; client < SLOW_CLIENTS; client++) slow.push(openSlowClient(head, rest[kind] ?? ''));
  }
}

function openSlowClient(head: string, rest: string): Socket {
  const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(head));
  let at = 0;
  const timer = setInterval(() => at < rest.length && socket.write(rest.charAt(at++)), BYTE_EVERY_MS);
  socket
    .on('close', () => clearInterval(timer))
    .on('error', () => undefined)
    .on('data', (said: Buffer) => said.includes('text/event-stream') && streams.add(socket));
  return socket;
}
