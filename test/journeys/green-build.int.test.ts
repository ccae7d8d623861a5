import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Analysis } from '../../src/domain/analysis.ts';
import type { ToolOutcome } from '../../src/domain/evidence.ts';
import { systemClock } from '../../src/lib/time.ts';
import { readSources } from '../../src/log/read-sources.ts';
import { renderPlain } from '../../src/service/answers/render.ts';
import { createStoredGreens } from '../../src/service/triage/passing-builds.ts';
import { createPostgresArchive } from '../../src/stores/archive/postgres.ts';
import { openPglite } from '../../src/stores/database/pglite.ts';
import { createStores } from '../../src/stores/stores.ts';
import { diffWithGreen } from '../../src/tools/diff-with-green.ts';
import { createToolbox } from '../../src/tools/toolbox.ts';
import { createGithubJob, type GithubApi, startGithubApi } from '../support/github-api.ts';
import { makeZip } from '../support/make-zip.ts';
import { copyTestDatabase } from '../support/pglite.ts';
import { readRecordedBuild } from '../support/recorded-build.ts';
import { type Service, startService, TOKEN } from '../support/service.ts';
import { withSettings } from '../support/settings.ts';
import { sampleSubject } from '../support/subject.ts';
import { createGithubExample, signForGithub } from '../support/webhook-senders.ts';

const BUDGET = 300;
const SECRET = 'a-webhook-secret-for-the-journey';
const Found = z.object({ triage: z.object({ state: z.string() }), analyses: z.array(Analysis) });
/** Assembled, so that no scanner takes this file for a leak. */
const LEAKED = ['ghp', 'q7W6e5R4t3Y2u1I0o9P8a7S6d5F4g3H2j1K0'].join('_');

/** What every run of the job says: errors among it that hinder nothing, and more than an answer has room for. */
function printNoise(seconds: number): string[] {
  return [
    'Run make check',
    `fetched 214 packages in ${seconds}s`,
    'ERROR: could not load the optional plug-in telemetry (ignored)',
    'error: the metrics endpoint refused the connection, going on without',
    ...Array.from(
      { length: 600 },
      (_, i) => `compiling src/module_${i}.c to build/module_${i}.o with debug symbols`,
    ),
    `compiled 600 files in ${seconds + 3}s`,
  ];
}
const GREEN = [`cloning with ${LEAKED}`, ...printNoise(4), 'all 96 checks passed'].join('\n');
const FLAKY = [
  ...printNoise(5),
  'WARNING: retrying the upload, error 503 from the mirror',
  'all 96 checks passed',
].join('\n');
const RED = [
  'WARNING: retrying the upload, error 503 from the mirror',
  ...printNoise(6),
  "ledger.c:41:9: error: 'rounding_mode' undeclared (first use in this function)",
  'make: *** [Makefile:12: ledger.o] Error 1',
  '##[error]Process completed with exit code 2.',
].join('\n');

let folder = '';
let github: GithubApi;
let service: Service;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-green-'));
  await copyTestDatabase(join(folder, 'database'));
  github = await startGithubApi();
  service = await start();
});
afterAll(async () => {
  service.process.kill('SIGKILL');
  await github.close();
  await rm(folder, { recursive: true, force: true });
});

function start(): Promise<Service> {
  return startService(folder, {
    FAULTLINE_GITHUB_WEBHOOK_SECRET: SECRET,
    FAULTLINE_GITHUB_URL: github.url,
    FAULTLINE_GITHUB_TOKEN: 'ghs_of-the-journey',
    // What is known fills what room is left.
    ...withSettings({ triage: { budgetTokens: BUDGET } }),
  });
}

/** A run ends with one job `check`: its log lies at GitHub, and GitHub tells us so. */
async function endRun(number: number, conclusion: 'success' | 'failure', log: string): Promise<string> {
  const id = 5000 + number;
  github.state.jobs = [createGithubJob({ id: number, name: 'check', conclusion })];
  github.state.stored.set(`/jobs/${number}/logs`, log);
  github.state.stored.set(`/runs/${id}/attempts/1/logs`, makeZip([{ name: '0_check.txt', content: log }]));
  const run = { conclusion, status: 'completed', run_number: number, id, head_branch: 'master' };
  const body = JSON.stringify(createGithubExample('workflow_run', 'completed', { workflow_run: run }, 1));
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'workflow_run',
    'x-github-delivery': `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
    'x-hub-signature-256': signForGithub(body, SECRET),
  };
  const response = await fetch(`${service.address}/webhooks/github`, { method: 'POST', headers, body });
  expect(response.status).toBe(202);
  return await readRecordedBuild(service.address, TOKEN, {
    source: 'github',
    id: headers['x-github-delivery'],
  });
}

async function waitUntil(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    if (await holds()) return;
    await sleep(100);
  }
  throw new Error(`it never came to that: ${service.errors()}`);
}

/** Waits until the log of a green run was requested, and a little more, so that its templates are stored. */
async function waitForTemplates(number: number): Promise<void> {
  await waitUntil(() =>
    github.api.requests.some(({ path }) => path.includes(`/runs/${5000 + number}/attempts/1/logs`)),
  );
  await sleep(1_000);
}

async function getAnswer(buildId: string): Promise<Analysis> {
  let found: z.infer<typeof Found> | undefined;
  await waitUntil(async () => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    found = Found.parse(
      await (await fetch(`${service.address}/api/builds/${buildId}/analyses`, { headers })).json(),
    );
    return found.triage.state === 'done' || found.triage.state === 'failed';
  });
  expect(found?.analyses, service.errors()).toHaveLength(1);
  const [analysis] = found?.analyses ?? [];
  if (analysis === undefined) throw new Error('no analysis');
  return analysis;
}

/** What the tool answers over what the service left behind. */
async function createDiff(buildId: string): Promise<ToolOutcome> {
  const database = await openPglite({ dataDir: join(folder, 'database') });
  try {
    const stores = createStores(database, systemClock);
    const tool = diffWithGreen(
      createPostgresArchive(database),
      createStoredGreens({ passingBuilds: stores.passingBuilds, greenBuilds: 3 }),
    );
    const build = await stores.builds.find(buildId);
    if (build === null) throw new Error('the build is stored');
    const toolbox = createToolbox([tool], { mask: (text) => text });
    const call = { tool: 'diff_with_green', args: {}, why: 'test' };
    return await toolbox.run(call, sampleSubject({ build }), 'CODE_ERROR', new AbortController().signal);
  } finally {
    await database.close();
  }
}

async function queryDatabase<Row extends object>(sql: string): Promise<Row[]> {
  const database = await openPglite({ dataDir: join(folder, 'database') });
  try {
    return await database.query<Row>(sql);
  } finally {
    await database.close();
  }
}

describe('a failed build after passed ones', () => {
  let greenId = '';
  let redId = '';

  it('follows a first one, whose lines are learned', async () => {
    await endRun(1233, 'success', GREEN);
    await waitForTemplates(1233);
  });

  it('follows a second one, which is still pending when the process is killed', async () => {
    // GitHub does not answer any more: what is fetched when the process dies is lost.
    github.state.intercept = () => true;
    greenId = await endRun(1234, 'success', FLAKY);
    const asked = github.api.requests.length;
    await waitUntil(
      () =>
        github.api.requests.length > asked ||
        github.api.requests.some(({ path }) => path.includes('/runs/6234/')),
    );
    await service.kill('SIGKILL');
    github.state.intercept = null;

    expect(
      await queryDatabase(
        `select outcome, held, count(*)::int as count from work where topic = 'passing-build' group by 1, 2 order by 1, 2`,
      ),
    ).toEqual([
      { outcome: 'done', held: false, count: 1 },
      { outcome: null, held: true, count: 1 },
    ]);
    service = await start();
    await waitForTemplates(1234);
  });

  it('is answered with the lines that are new since the last of them, without lines that any of them contains', async () => {
    redId = await endRun(1235, 'failure', RED);
    const analysis = await getAnswer(redId);

    expect(analysis.green).toEqual({
      buildId: greenId,
      number: '1234',
      url: expect.stringMatching(/^https:/),
    });
    const excerpts = analysis.evidence.filter(({ tool }) => tool === 'log');
    expect(excerpts.map(({ title }) => title).join('; ')).toContain('new since build 1234');
    const told = renderPlain(analysis);
    expect(told).toContain('New\tsince build 1234\n');
    expect(told).toContain('rounding_mode');
    const known = new RegExp(['telemetry', 'metrics endpoint', 'from the mirror'].join('|'));
    // What little room is left is filled, but no excerpt is there for what is known.
    expect(
      excerpts.filter(({ title }) => title.includes('new since')).some(({ text }) => known.test(text)),
    ).toBe(false);
    const alone = readSources([{ name: 'check.log', kind: 'log', text: RED, notes: [] }], {
      budgetTokens: BUDGET,
    });
    expect(alone.excerpts.some(({ text }) => known.test(text))).toBe(true);
    expect(JSON.stringify(analysis.answer)).not.toMatch(known);
  });

  it('is answered with the new lines when a tool requests them', async () => {
    expect(await service.kill('SIGTERM')).toBe(0);
    const { status, findings } = await createDiff(redId);

    expect(status).toBe('ok');
    expect(findings.map(({ text }) => text).join('\n')).toContain('rounding_mode');
    expect(findings.map(({ text }) => text).join('\n')).not.toMatch(/telemetry|from the mirror/);
    expect(findings[0]).toMatchObject({
      title: expect.stringContaining('New since build 1234'),
      data: { greenBuildId: greenId, greenNumber: '1234' },
    });
  });

  it('leaves templates of both, without logs and without secrets', async () => {
    const kept = await queryDatabase<{ number: string; body: unknown }>(
      'select b.number, t.body from green_templates t join builds b on b.id = t.build_id order by b.number',
    );
    expect(kept.map(({ number }) => number)).toEqual(['1233', '1234']);
    expect(JSON.stringify(kept)).toContain('telemetry');
    expect(JSON.stringify(kept)).not.toContain(LEAKED.slice(4, 20));
    expect(
      await queryDatabase(
        `select 1 from build_sources s join builds b on b.id = s.build_id where b.status = 'passed'`,
      ),
    ).toEqual([]);
  });
});
