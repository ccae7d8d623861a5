/**
 * Sends reports of 200,000 tests, of which all or one fail, and CODEOWNERS files of 1 MB that take long to
 * match. During this, the readiness probe must be answered in time.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { createGitRepository } from '../../../test/support/git-repository.ts';
import { createHostileOwners, HOSTILE_OWNERS, listLongPaths } from '../../../test/support/hostile-owners.ts';
import { LOG, readAcceptedId, upload, waitForAnswers } from './shared/builds.ts';
import { reportService, startService } from './shared/service.ts';
import { report } from './shared/tools.ts';
import { findHighest } from './shared/usage.ts';

const TESTS = 200_000;
/** The default time limit of a Kubernetes probe, in milliseconds. */
const WANTED_MS = 1_000;
const MEMORY_MB = 3_072;
const OWNERS_BYTES = 1_000_000;
const OWNED_FILES = 8;
/** The log lines of the service about a file that it did not read completely, or not in time. */
const LEFT_OUT = /"msg":"(?:lines of CODEOWNERS were left out|CODEOWNERS was not used)/;

const owned = HOSTILE_OWNERS.map((hostile) => ({ ...hostile, repository: createGitRepository() }));
const clones = owned.map(({ provider, repository }) => `owned/${provider}=${repository.folder}`).join(',');
const service = await startService({ settings: { FAULTLINE_CLONES: clones, FAULTLINE_LOG_LEVEL: 'warn' } });
try {
  const fine: boolean[] = [];
  await readAcceptedId(await upload(service, { number: 'first', log: LOG }));
  for (const failures of [TESTS, 1]) fine.push(await attackReport(failures));
  for (const repository of owned) fine.push(await attackOwners(repository));
  fine.push(reportService(service));
  process.exitCode = fine.every(Boolean) ? 0 : 1;
} finally {
  await service.stop();
  for (const { repository } of owned) repository.remove();
}

/** Sends a report of many tests, of which `failures` fail. */
async function attackReport(failures: number): Promise<boolean> {
  const xml = writeReport(failures);
  const packed = gzipSync(xml);
  const build = { repository: 'shop/api', pipeline: 'ci', branch: 'main', status: 'failed' };
  const { result, slowest, memory } = await probeWhile(async () => {
    const form = new FormData();
    form.set('metadata', JSON.stringify({ ...build, number: `huge-${failures}` }));
    form.set('report', new Blob([new Uint8Array(packed)]), 'report.xml.gz');
    const headers = { authorization: `Bearer ${service.token}` };
    const sent = await fetch(`${service.url}/api/builds`, { method: 'POST', headers, body: form });
    return await waitForAnswers(service, await readAcceptedId(sent), 5);
  });
  const size = `${(packed.length / 1e6).toFixed(1)} MB (${(xml.length / 1e6).toFixed(0)} MB)`;
  const cost = `slowest probe ${slowest.toFixed(0)} ms, at most ${memory.toFixed(0)} MB in one process`;
  const isGood = slowest <= WANTED_MS && memory <= MEMORY_MB && result.analyses.length > 0;
  return report(
    'report',
    `${failures} of ${TESTS} tests failed, ${size}, ${result.analyses.length} answers, ${cost}`,
    isGood ? 0 : 1,
    `wanted ${WANTED_MS} ms, ${MEMORY_MB} MB`,
  );
}

/**
 * Sends a failure in several files of a repository with such a CODEOWNERS. The service must say what it left
 * out.
 */
async function attackOwners({ kind, provider, rule, repository }: (typeof owned)[number]): Promise<boolean> {
  const paths = listLongPaths(OWNED_FILES);
  const file = createHostileOwners(rule, OWNERS_BYTES);
  const files = Object.fromEntries(paths.map((path) => [path, 'one\ntwo\n']));
  const commit = repository.commit({ ...files, [`.${provider}/CODEOWNERS`]: file }, 'All');
  const log = LOG.replace(/\n {4}at .*/, paths.map((path) => `\n    at total (${path}:2:1)`).join(''));
  const [before, from] = [service.warnings.length, performance.now()];
  const { result, slowest } = await probeWhile(async () => {
    const sent = await upload(service, { repository: `owned/${provider}`, number: provider, log, commit });
    return await waitForAnswers(service, await readAcceptedId(sent));
  });
  const seconds = ((performance.now() - from) / 1_000).toFixed(1);
  const said = service.warnings.slice(before).filter((line) => LEFT_OUT.test(line));
  const what = `${(file.length / 1e6).toFixed(1)} MB of ${kind}, ${OWNED_FILES} files, ${result.analyses.length} answers in ${seconds} s`;
  const isGood = slowest <= WANTED_MS && result.analyses.length === 1 && said.length > 0;
  const counts = `${what}, slowest probe ${slowest.toFixed(0)} ms, warnings of it: ${said.length}`;
  return report(
    `CODEOWNERS, ${provider}`,
    counts,
    isGood ? 0 : 1,
    `wanted ${WANTED_MS} ms, 1 answer, a warning`,
  );
}

/** Writes a report of tests, of which the first ones fail, each with its own message. */
function writeReport(failures: number): string {
  const cases = Array.from({ length: TESTS }, (_, at) => {
    const test = `<testcase classname="shop.Suite${at % 1_000}" name="case ${at}" time="0.1"`;
    if (at >= failures) return `${test}/>`;
    const place = `src/file${at % 5_000}.js:${(at % 90) + 1}:3`;
    const message = `AssertionError: expected ${at}\n    at check (${place})`;
    return `${test}><failure message="expected ${at} but was ${at * 7}">${message}</failure></testcase>`;
  });
  return `<testsuite name="all" tests="${TESTS}" failures="${failures}">${cases.join('\n')}</testsuite>`;
}

async function probeWhile<Result>(
  work: () => Promise<Result>,
): Promise<{ result: Result; slowest: number; memory: number }> {
  const state = { over: false, slowest: 0, memory: 0 };
  const probing = (async () => {
    while (!state.over) {
      const from = performance.now();
      await fetch(`${service.url}/healthz`, { signal: AbortSignal.timeout(60_000) })
        .then((response) => response.arrayBuffer())
        .catch(() => undefined);
      state.slowest = Math.max(state.slowest, performance.now() - from);
      await sleep(50);
    }
  })();
  const measuring = (async () => {
    while (!state.over) {
      const held = Object.entries(await service.usage()).filter(([name]) =>
        /^(?:serve|worker.*), MB$/.test(name),
      );
      state.memory = Math.max(state.memory, findHighest(held.map(([, megabytes]) => megabytes)));
      await sleep(500);
    }
  })();
  try {
    return { result: await work(), slowest: state.slowest, memory: state.memory };
  } finally {
    state.over = true;
    await Promise.all([probing, measuring]);
  }
}
