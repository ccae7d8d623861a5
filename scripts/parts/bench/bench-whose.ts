import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { buildHttp } from '../../../src/api/server.ts';
import { createApp } from '../../../src/app.ts';
import { createEmbeddedPreset } from '../../../src/config/load.ts';
import { parseConfig } from '../../../src/config/schema.ts';
import { isExcused } from '../../../src/domain/whose.ts';
import { computeProportion } from '../../../src/lib/statistics.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { ShownWhose } from '../../../src/service/answers/whose.ts';
import { type History, makeHistories, type Step } from './whose/histories.ts';
import { type Lab, openLabs } from './whose/lab.ts';

/**
 * Sends histories of builds from real small repositories to an embedded service and asks it whose each
 * failure is. `--repositories N` makes only the first N repositories, `--only WORDS` takes the histories whose names or groups hold the words, `--list` prints each
 * verdict that is not right. Ends with 1 if less than 0.95 are right, or if more than 0.005 of the failures
 * that the change caused are excused.
 */
const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    repositories: { type: 'string', default: '6' },
    list: { type: 'boolean', default: false },
  },
});
const [MIN_RIGHT, MAX_EXCUSED] = [0.95, 0.005];
const KNOWLEDGE = join(import.meta.dirname, '../../../knowledge');
const TOKEN = 'the-token-of-the-bench-of-verdicts';
const HEADERS = { authorization: `Bearer ${TOKEN}` };
const HOUR_MS = 3_600_000;
const BEGIN_MS = Date.now() - 20 * 24 * HOUR_MS;
const [TRIES, WAIT_MS] = [6_000, 50];

const Found = z.object({
  analyses: z.array(z.object({ whose: ShownWhose.nullable() })),
});

/** Ctrl-C prints what was measured so far. */
const stopping = new AbortController();
const stop = stopping.signal;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());

const folder = mkdtempSync(join(tmpdir(), 'faultline-bench-whose-'));
try {
  const labs = openLabs(folder, Number(options.repositories));
  const histories = makeHistories(labs).filter(({ name, group }) =>
    `${group} ${name}`.includes(options.only),
  );
  process.exitCode = await measure(histories, labs);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

interface Judged {
  readonly history: History;
  readonly said: readonly ShownWhose[];
}

async function measure(histories: readonly History[], labs: readonly Lab[]): Promise<number> {
  const service = await openService(histories);
  try {
    const judged: Judged[] = [];
    for (const [at, history] of histories.entries()) {
      if (stop.aborted) break;
      judged.push({ history, said: await service.play(history, `bench/history-${at}`) });
      if (options.list) listWrong(judged.at(-1));
      if (judged.length % 20 === 0) console.error(`${judged.length} of ${histories.length} histories`);
    }
    return printFigures(judged, labs);
  } finally {
    await service.close();
  }
}

async function openService(histories: readonly History[]) {
  const preset = createEmbeddedPreset(join(folder, 'service'), KNOWLEDGE);
  const clones = histories.map(({ lab }, at) => [`bench/history-${at}`, lab.folder]);
  const config = parseConfig({
    ...preset,
    // Passing logs do not influence the verdict on whose a failure is.
    triage: { ...preset.triage, greenBuilds: 0 },
    auth: { tokens: [{ name: 'bench', token: TOKEN, roles: ['admin'] }] },
    http: { ...preset.http, rateLimit: 1_000_000, tokenRateLimit: 1_000_000 },
    codeHost: { driver: 'local-git', clones: Object.fromEntries(clones) },
  });
  const clock = { value: BEGIN_MS, now: () => clock.value };
  const app = await createApp(config, silentLogger, clock);
  const http = await buildHttp(app);
  await app.work();
  const request = async (method: 'GET' | 'POST', url: string, payload?: object) => {
    const response = await http.inject({ method, url, headers: HEADERS, ...(payload && { payload }) });
    if (response.statusCode >= 300) throw new Error(`${url}: ${response.body}`);
    return response.json();
  };
  return {
    /**
     * Sends the builds of a history in order. Returns the verdicts on the failures of the build in question.
     */
    async play({ steps, asked }: History, repository: string): Promise<ShownWhose[]> {
      clock.value = BEGIN_MS;
      const [ids, red]: [string[], string[]] = [[], []];
      let [number, attempt] = [0, 1];
      for (const [at, step] of steps.entries()) {
        // Earlier builds must be answered before the build in question is sent.
        if (at === asked) await waitFor(red.splice(0), app.stores.triages);
        [number, attempt] = step.again === true ? [number, attempt + 1] : [number + 1, 1];
        clock.value += (step.hours ?? 1) * HOUR_MS;
        const upload = toUpload(step, repository, number, attempt);
        ids.push(
          z.object({ buildId: z.string() }).parse(await request('POST', '/api/builds', upload)).buildId,
        );
        if (step.run.status === 'failed') red.push(ids.at(-1) ?? '');
      }
      await waitFor(red.splice(0), app.stores.triages);
      const { analyses } = Found.parse(await request('GET', `/api/builds/${ids[asked]}/analyses`));
      return analyses.flatMap(({ whose }) => whose ?? []);
    },
    async close() {
      await http.close();
      await app.close({ drainMs: 1_000 });
    },
  };
}

function toUpload({ run, pullRequest, author }: Step, repository: string, number: number, attempt: number) {
  const branch = pullRequest === null ? 'main' : `change-${pullRequest}`;
  const { commit, status, log, report } = run;
  const metadata = {
    repository,
    pipeline: 'ci',
    number,
    attempt,
    branch,
    commit,
    author,
    pullRequest,
    status,
  };
  const reports = report === null ? [] : [{ name: 'junit.xml', text: report }];
  return { metadata, logs: [{ name: 'log.txt', text: log }], reports };
}

type Triages = Awaited<ReturnType<typeof createApp>>['stores']['triages'];

/** Waits until the triages of these builds have ended. */
async function waitFor(buildIds: readonly string[], triages: Pick<Triages, 'findByBuild'>): Promise<void> {
  for (const buildId of buildIds) {
    for (let tries = 0; ; tries++) {
      const job = await triages.findByBuild(buildId);
      if (job?.state === 'done') break;
      if (job?.state === 'failed' || tries > TRIES)
        throw new Error(`${buildId}: ${job?.error ?? 'was never answered'}`);
      await sleep(WAIT_MS);
    }
  }
}

function isRight({ history, said }: Judged): boolean {
  const fits = ({ verdict }: ShownWhose) =>
    verdict === history.truth || (verdict === 'unknown' && !history.provable);
  return said.length > 0 && said.every(fits);
}

function isSilent({ said }: Judged): boolean {
  return said.length === 0 || said.every(({ verdict }) => verdict === 'unknown');
}

function isWronglyExcused({ history, said }: Judged): boolean {
  return history.truth === 'change' && said.some(isExcused);
}

function listWrong(judged: Judged | undefined): void {
  if (judged === undefined || (isRight(judged) && !isWronglyExcused(judged))) return;
  const { history, said } = judged;
  console.log(`${history.name}: ${history.truth}, told ${said.map(({ sentence }) => sentence).join(' | ')}`);
}

function printFigures(judged: readonly Judged[], labs: readonly Lab[]): number {
  const groups = Map.groupBy(judged, ({ history }) => history.group);
  console.log(`${judged.length} histories of ${labs.length} repositories\n`);
  console.log(
    '| what broke it | histories | right | not known yet | nothing tells | told wrongly not yours |',
  );
  console.log('|---|---|---|---|---|---|');
  for (const [group, own] of [...groups, ['all', judged] as const]) {
    const told = own.filter((other) => other.history.truth === 'change');
    const excused = told.length === 0 ? '–' : `${own.filter(isWronglyExcused).length} of ${told.length}`;
    const unproven = own.filter(({ history }) => !history.provable).length;
    const right = computeProportion(own.filter(isRight).length, own.length);
    const interval = `${right.share.toFixed(3)} [${right.low.toFixed(3)}, ${right.high.toFixed(3)}]`;
    console.log(
      `| ${group} | ${own.length} | ${interval} | ${own.filter(isSilent).length} | ${unproven} | ${excused} |`,
    );
  }
  const broken = judged.filter(({ history }) => history.truth === 'change');
  const share = judged.filter(isRight).length / Math.max(1, judged.length);
  const excused = judged.filter(isWronglyExcused).length / Math.max(1, broken.length);
  return share < MIN_RIGHT || excused > MAX_EXCUSED ? 1 : 0;
}
