import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Analysis } from '../../src/domain/analysis.ts';
import { HEADERS, startTestService, type TestService, uploadAndWait } from '../support/test-service.ts';

/*
 * A test fails with a plain assertion, a reviewer decides, and the test fails again with other values, on
 * another line, at another commit: through the API of an embedded service, with everything stored.
 */

const DECIDED = {
  category: 'CONFIG_ERROR',
  rootCause: 'The runner is in another time zone than the rates expect.',
  fixRecommendation: 'Set TZ=UTC in the job of the rates.',
} as const;

let service: TestService;
beforeAll(async () => {
  service = await startTestService(1);
});
afterAll(() => service.close());

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

describe.each(Object.entries(RUNNERS))('a decision on a failed test, with %s', (runner, print) => {
  const repository = `acme/${runner.replaceAll(' ', '-')}`;

  it('is recalled if the same test fails with the same values on another line', async () => {
    const first = await triage(repository, 1, print(57, 12, 31, 'Rounds'));
    expect(first.category).not.toBe(DECIDED.category);
    await decide(first.id);

    const again = await triage(repository, 2, print(57, 12, 58, 'Rounds'));

    expect(again).toMatchObject({ category: DECIDED.category, recalled: { confirmedBy: 'anna' } });
    expect(again.answer.rootCause).toContain(DECIDED.rootCause.replace(/\.$/, ''));
    expect(again.answer.fixRecommendation).toContain(DECIDED.fixRecommendation);
  });

  it('is shown with the name of the person if the same test fails with other values', async () => {
    const again = await triage(repository, 3, print(240, 19, 64, 'Rounds'));

    const [similar] = again.answer.similarCases ?? [];
    expect(again.recalled?.confirmedBy ?? similar?.confirmedBy).toBe('anna');
    const page = await service.http.inject({ url: `/analyses/${again.id}`, headers: HEADERS });
    expect(page.body).toContain('anna');
    expect(page.body).toContain(DECIDED.rootCause.replace(/\.$/, ''));
    expect(page.body).toContain(DECIDED.fixRecommendation.replace(/\.$/, ''));
  });

  it('does not apply to another test with the same values', async () => {
    const other = await triage(repository, 4, print(240, 19, 58, 'Truncates'));
    expect(other.category).not.toBe(DECIDED.category);
    expect(other.answer.rootCause).not.toContain('time zone');
  });
});

function triage(repository: string, number: number, lines: readonly string[]): Promise<Analysis> {
  return uploadAndWait(service, repository, number, lines);
}

async function decide(analysisId: string): Promise<void> {
  const { app, http } = service;
  const reviews = await app.stores.reviews.list({}, { limit: 500, offset: 0 });
  const url = `/api/reviews/${reviews.find((review) => review.analysisId === analysisId)?.id}`;
  const claimed = await http.inject({ method: 'POST', url: `${url}/claim`, headers: HEADERS, payload: {} });
  const { version } = z.object({ version: z.int() }).parse(claimed.json());
  const payload = { type: 'correct', ...DECIDED, version };
  const decided = await http.inject({ method: 'POST', url: `${url}/decision`, headers: HEADERS, payload });
  expect(decided.statusCode, decided.body).toBe(200);
}
