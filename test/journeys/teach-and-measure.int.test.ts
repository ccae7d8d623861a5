import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { buildHttp } from '../../src/api/server.ts';
import { createApp } from '../../src/app.ts';
import { createEmbeddedPreset } from '../../src/config/load.ts';
import { type Config, parseConfig } from '../../src/config/schema.ts';
import { Analysis } from '../../src/domain/analysis.ts';
import { Review } from '../../src/domain/review.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { runFaultline } from '../cli/faultline.ts';
import { readCapturedFailure } from '../support/captured-failures.ts';
import { copyTestDatabase } from '../support/pglite.ts';

const TOKEN = 'the-token-of-a-reviewer-of-this-journey';
const HEADERS = { authorization: `Bearer ${TOKEN}` };
/** What each is decided to be; the last is corrected into something else than it is. */
const TAUGHT = [
  'profile-none-attribute',
  'checkout-type-error',
  'library-late-fee',
  'package-json-malformed',
];
const CORRECTED = 'package-json-malformed';
const LATER = 'invoice-unused-import';

type Http = Awaited<ReturnType<typeof buildHttp>>;

let folder = '';
let config: Config;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-measure-'));
  await copyTestDatabase(join(folder, 'database'));
  const preset = createEmbeddedPreset(folder, join(import.meta.dirname, '../../knowledge'));
  config = parseConfig({
    ...preset,
    auth: { tokens: [{ name: 'ada', token: TOKEN, roles: ['admin'] }] },
    // Nothing is sure enough to go out without a person.
    triage: { ...preset.triage, thresholds: { ...preset.triage.thresholds, autoNotify: 1 } },
  });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the decisions of people', () => {
  let figures: unknown;

  it('are exported as a set of cases, whose replay is scored', async () => {
    await withServer(async (http) => {
      for (const slug of TAUGHT) await triageLog(http, slug);
      await decideAll(http);
    });
    const set = join(folder, 'set');
    const exported = await run(['cases', 'export', '--reviewed', '--out', set, '--data', folder]);
    expect(exported).toMatchObject({ cases: TAUGHT.length, leftOut: 0, notCases: {} });

    const replayed = Replayed.parse(await run(['replay', '--dataset', set]));
    expect(findFigure(replayed, 'category accuracy')).toBe(1 - 1 / TAUGHT.length);
    figures = readMeasured(replayed);
  });

  it('give the same figures when they are replayed from the database', async () => {
    const out = join(folder, 'results.jsonl');
    const replayed = Replayed.parse(await run(['replay', '--reviewed', '--data', folder, '--out', out]));
    expect(replayed.dataset).toBe('reviewed');
    expect(readMeasured(replayed)).toEqual(figures);
    const manifest = JSON.parse(await readFile(`${out}.run.json`, 'utf8'));
    expect(manifest.sources).toEqual([
      { name: 'reviewed cases', sha256: expect.any(String), cases: TAUGHT.length },
    ]);
  });

  it('are too few for a calibration, which is reported; if it is applied, it only lowers the next confidence', async () => {
    const applied = await runFaultline([
      'calibrate',
      '--reviewed',
      '--apply',
      '--replaces',
      'none',
      '--data',
      folder,
    ]);
    expect(applied).toMatchObject({ code: 0 });
    expect(applied.stdout).toMatch(/^CODE_ERROR: too few cases \(\d < \d+\)/m);
    expect(applied.stderr).toContain('Version 1 is in force for rules');

    const analysis = await withServer((http) => triageLog(http, LATER));
    const { confidence, calibration } = analysis.verdict;
    expect(calibration).toEqual({ version: 1, raw: expect.any(Number) });
    expect(confidence).toBeLessThan(calibration?.raw ?? 0);
  });

  it('belong to stored runs that give identical results when they run again', async () => {
    const out = join(folder, 'recordings.jsonl');
    expect(await run(['recordings', 'export', '--out', out, '--data', folder])).toMatchObject({
      written: TAUGHT.length + 1,
      unreadable: 0,
    });
    const frozen = await run(['replay', '--frozen', out]);
    expect(frozen).toMatchObject({
      identical: TAUGHT.length + 1,
      sameAnswer: 0,
      otherAnswer: 0,
      stopped: 0,
      incomplete: 0,
      runs: [],
    });
  });
});

/** A command's answer as JSON; it must succeed. */
async function run(args: readonly string[]): Promise<unknown> {
  const ended = await runFaultline([...args, '--json']);
  if (ended.code !== 0)
    throw new Error(`faultline ${args.join(' ')} ended with ${ended.code}: ${ended.stderr}`);
  return JSON.parse(ended.stdout);
}

const Replayed = z.object({
  dataset: z.string(),
  figures: z.array(z.object({ section: z.string(), name: z.string(), value: z.number() }).loose()),
});

function findFigure({ figures }: z.infer<typeof Replayed>, name: string): number | undefined {
  return figures.find((figure) => figure.name === name)?.value;
}

/** Without what a clock says. */
function readMeasured({ figures }: z.infer<typeof Replayed>): unknown {
  return figures.filter(({ section, name }) => section !== 'speed' && !/second|latency/.test(name));
}

/** The service of this installation, at work for as long as `act` takes. */
async function withServer<Result>(act: (http: Http) => Promise<Result>): Promise<Result> {
  const app = await createApp(config, silentLogger);
  const http = await buildHttp(app);
  try {
    await app.work();
    return await act(http);
  } finally {
    await http.close();
    await app.close({ drainMs: 1_000 });
  }
}

const Found = z.object({ triage: z.object({ state: z.string() }).nullable(), analyses: z.array(Analysis) });

async function triageLog(http: Http, slug: string): Promise<Analysis> {
  const payload = {
    metadata: { repository: `acme/${slug}`, pipeline: 'ci', number: 1 },
    logs: [{ name: 'log.txt', text: readCapturedFailure(slug).log }],
  };
  const { buildId } = (
    await http.inject({ method: 'POST', url: '/api/builds', headers: HEADERS, payload })
  ).json();
  for (let tries = 0; tries < 600; tries++) {
    const { triage, analyses } = Found.parse(
      (await http.inject({ url: `/api/builds/${buildId}/analyses`, headers: HEADERS })).json(),
    );
    if (triage?.state === 'done' && analyses[0] !== undefined) return analyses[0];
    await sleep(20);
  }
  throw new Error(`${slug} was never answered`);
}

/** Accepts every answer but one, which is put right, as the reviewer sees it. */
async function decideAll(http: Http): Promise<void> {
  const listed = await http.inject({ url: '/api/reviews?state=waiting', headers: HEADERS });
  for (const { id, repository } of z.object({ items: z.array(Review) }).parse(listed.json()).items) {
    const url = `/api/reviews/${id}`;
    await http.inject({ method: 'POST', url: `${url}/claim`, headers: HEADERS, payload: {} });
    const { review } = z
      .object({ review: Review })
      .parse((await http.inject({ url, headers: HEADERS })).json());
    const said = repository.endsWith(CORRECTED)
      ? {
          type: 'correct',
          category: 'INFRA_ERROR',
          rootCause: 'The disk of the runner cut the file short.',
          fixRecommendation: 'Clean it.',
        }
      : { type: 'accept' };
    const decided = await http.inject({
      method: 'POST',
      url: `${url}/decision`,
      headers: HEADERS,
      payload: { ...said, version: review.version },
    });
    expect(decided.statusCode).toBe(200);
  }
}
