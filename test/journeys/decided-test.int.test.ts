import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { buildHttp } from '../../src/api/server.ts';
import { createApp } from '../../src/app.ts';
import { embedded } from '../../src/config/load.ts';
import { parseConfig } from '../../src/config/schema.ts';
import { Analysis } from '../../src/domain/analysis.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { copyTestDatabase } from '../support/pglite.ts';

/*
 * A test fails with a plain assertion, a reviewer decides, and the test fails again with other values, on
 * another line, at another commit: through the API of an embedded service, with everything stored.
 */

const TOKEN = 'the-token-of-the-reviewer-anna';
const HEADERS = { authorization: `Bearer ${TOKEN}` };
const DECIDED = {
  category: 'CONFIG_ERROR',
  rootCause: 'The runner is in another time zone than the rates expect.',
  fixRecommendation: 'Set TZ=UTC in the job of the rates.',
} as const;

let folder = '';
let app: Awaited<ReturnType<typeof createApp>>;
let http: Awaited<ReturnType<typeof buildHttp>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-decided-'));
  await copyTestDatabase(join(folder, 'database'));
  const preset = embedded(folder, join(import.meta.dirname, '../../knowledge'));
  const config = parseConfig({
    ...preset,
    auth: { tokens: [{ name: 'anna', token: TOKEN, roles: ['admin'] }] },
    review: { ...preset.review, blindEvery: 0 },
    triage: { ...preset.triage, thresholds: { ...preset.triage.thresholds, autoNotify: 1 } },
  });
  app = await createApp(config, silentLogger);
  http = await buildHttp(app);
  await app.work();
}, 120_000);
afterAll(async () => {
  await http.close();
  await app.close({ drainMs: 1_000 });
  await rm(folder, { recursive: true, force: true });
});

/** The log of a failing test with these values on this line, as its runner prints it. */
type Print = (got: number, wanted: number, line: number, test: string) => readonly string[];

const RUNNERS: Readonly<Record<string, Print>> = {
  pytest: (got, wanted, line, test) => [
    '=================================== FAILURES ===================================',
    `________________________________ test_${test} ________________________________`,
    '',
    `    def test_${test}():`,
    `>       assert rates() == ${wanted}`,
    `E       assert ${got} == ${wanted}`,
    `E        +  where ${got} = rates()`,
    '',
    `tests/test_rates.py:${line}: AssertionError`,
    '=========================== short test summary info ============================',
    `FAILED tests/test_rates.py::test_${test} - assert ${got} == ${wanted}`,
    `============================== 1 failed in 0.${line}s ===============================`,
  ],
  jest: (got, wanted, line, test) => [
    'FAIL src/rates.test.js',
    `  ● rates › ${test}`,
    '',
    '    expect(received).toBe(expected) // Object.is equality',
    '',
    `    Expected: ${wanted}`,
    `    Received: ${got}`,
    '',
    `      at Object.<anonymous> (src/rates.test.js:${line}:19)`,
    '',
    'Tests:       1 failed, 1 total',
  ],
  junit: (got, wanted, line, test) => [
    `[ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.${line} s <<< FAILURE! -- in shop.RatesTest`,
    `[ERROR] shop.RatesTest.${test} -- Time elapsed: 0.0${line} s <<< FAILURE!`,
    `org.opentest4j.AssertionFailedError: expected: <${wanted}> but was: <${got}>`,
    `\tat shop.RatesTest.${test}(RatesTest.java:${line})`,
    '[ERROR] Failures: ',
    `[ERROR]   RatesTest.${test}:${line} expected: <${wanted}> but was: <${got}>`,
  ],
  'go test': (got, wanted, line, test) => [
    `--- FAIL: Test${test} (0.0${line % 10}s)`,
    `    rates_test.go:${line}: got ${got}, want ${wanted}`,
    'FAIL',
    `FAIL\tacme.test/rates\t0.0${line}s`,
  ],
  rspec: (got, wanted, line, test) => [
    'Failures:',
    '',
    `  1) Rates ${test}`,
    `     Failure/Error: expect(rates).to eq(${wanted})`,
    '',
    `       expected: ${wanted}`,
    `            got: ${got}`,
    '',
    '       (compared using ==)',
    `     # ./spec/rates_spec.rb:${line}:in 'block (2 levels) in <top (required)>'`,
    '',
    '1 example, 1 failure',
    '',
    `rspec ./spec/rates_spec.rb:${line} # Rates ${test}`,
  ],
};

describe.each(Object.entries(RUNNERS))('%s', { timeout: 60_000 }, (runner, print) => {
  const repository = `acme/${runner.replaceAll(' ', '-')}`;

  it('recalls the decision when the same test fails with the same values on another line', async () => {
    const first = await triage(repository, 1, print(57, 12, 31, 'Rounds'));
    expect(first.category).not.toBe(DECIDED.category);
    await decide(first.id);

    const again = await triage(repository, 2, print(57, 12, 58, 'Rounds'));

    expect(again).toMatchObject({ category: DECIDED.category, recalled: { confirmedBy: 'anna' } });
    expect(again.answer.rootCause).toContain(DECIDED.rootCause.replace(/\.$/, ''));
    expect(again.answer.fixRecommendation).toContain(DECIDED.fixRecommendation);
  });

  it('shows the decision and who decided when the same test fails with other values', async () => {
    const again = await triage(repository, 3, print(240, 19, 64, 'Rounds'));

    const [similar] = again.answer.similarCases ?? [];
    expect(again.recalled?.confirmedBy ?? similar?.confirmedBy).toBe('anna');
    const page = await http.inject({ url: `/analyses/${again.id}`, headers: HEADERS });
    expect(page.body).toContain('anna');
    expect(page.body).toContain(DECIDED.rootCause.replace(/\.$/, ''));
    expect(page.body).toContain(DECIDED.fixRecommendation.replace(/\.$/, ''));
  });

  it('does not carry the decision over to another test with the same values', async () => {
    const other = await triage(repository, 4, print(240, 19, 58, 'Truncates'));
    expect(other.category).not.toBe(DECIDED.category);
    expect(other.answer.rootCause).not.toContain('time zone');
  });
});

const Found = z.object({ triage: z.object({ state: z.string() }).nullable(), analyses: z.array(Analysis) });

async function triage(repository: string, number: number, lines: readonly string[]): Promise<Analysis> {
  const text = ['$ make check'].concat(lines, '##[error]Process completed with exit code 1.', '').join('\n');
  const commit = String(number).repeat(40);
  const metadata = { repository, pipeline: 'ci', branch: 'main', number, commit };
  const payload = { metadata, logs: [{ name: 'log.txt', text }] };
  const sent = await http.inject({ method: 'POST', url: '/api/builds', headers: HEADERS, payload });
  const { buildId } = z.object({ buildId: z.string() }).parse(sent.json());
  for (let tries = 0; tries < 1_500; tries++) {
    const url = `/api/builds/${buildId}/analyses`;
    const { triage: job, analyses } = Found.parse((await http.inject({ url, headers: HEADERS })).json());
    if (job?.state === 'done' && analyses[0] !== undefined) return analyses[0];
    await sleep(20);
  }
  throw new Error(`${buildId} was never answered`);
}

async function decide(analysisId: string): Promise<void> {
  const reviews = await app.stores.reviews.list({}, { limit: 500, offset: 0 });
  const url = `/api/reviews/${reviews.find((one) => one.analysisId === analysisId)?.id}`;
  const claimed = await http.inject({ method: 'POST', url: `${url}/claim`, headers: HEADERS, payload: {} });
  const { version } = z.object({ version: z.int() }).parse(claimed.json());
  const payload = { type: 'correct', ...DECIDED, version };
  const decided = await http.inject({ method: 'POST', url: `${url}/decision`, headers: HEADERS, payload });
  expect(decided.statusCode, decided.body).toBe(200);
}
