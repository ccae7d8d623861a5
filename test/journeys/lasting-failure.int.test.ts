import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestService, type TestService, uploadAndWait } from '../support/test-service.ts';
import { THOROUGH } from '../support/thorough.ts';

/*
 * A pipeline fails six times in a row in the same way, in an embedded service with everything stored: the answer
 * says since when and cites who counted, in every category, and its confidence and advice fit.
 */

let service: TestService;
beforeAll(async () => {
  service = await startTestService(0.85);
});
afterAll(() => service.close());

const FAILURES: Readonly<Record<string, readonly string[]>> = {
  compiler: ["src/press.ts(1,34): error TS2304: Cannot find name 'Basket'."],
  crash: [
    'Traceback (most recent call last):',
    '  File "press/mill.py", line 12, in <module>',
    '    grind(None)',
    '  File "press/mill.py", line 7, in grind',
    '    return fruit.weight',
    "AttributeError: 'NoneType' object has no attribute 'weight'",
  ],
  test: [
    '--- FAIL: TestPress (0.00s)',
    '    press_test.go:7: Press() = "dry", want "juice"',
    'FAIL',
    'FAIL\tacme.test/press\t0.003s',
  ],
  dependency: [
    'npm error code ETARGET',
    'npm error notarget No matching version found for left-apple@^9.4.0.',
  ],
  memory: ['--- press', 'java.lang.OutOfMemoryError: Java heap space', '\tat shop.Press.fill(Press.java:31)'],
  network: ['Error: getaddrinfo ENOTFOUND registry.orchard.example'],
};

const KINDS = Object.entries(FAILURES);

it.each(THOROUGH ? KINDS : KINDS.filter(([name]) => ['compiler', 'network'].includes(name)))(
  'the answer states since when a test fails in this way, and its confidence reflects that: %s',
  async (name, lines) => {
    const repository = `acme/${name}`;
    const first = await uploadAndWait(service, repository, 21, lines);
    for (const number of [22, 23, 24, 25]) await uploadAndWait(service, repository, number, lines);
    const last = await uploadAndWait(service, repository, 26, lines);

    const claim = last.answer.claims.find(({ text }) => text.includes('in a row'));
    expect(claim?.text).toBe('The job has failed this way 6 times in a row, since #21.');
    const cited = last.evidence.filter(({ id }) => claim?.evidence.includes(id) === true);
    expect(cited.map(({ tool }) => tool)).toEqual(['count_consecutive_failures']);
    expect(first.answer.claims.map(({ text }) => text).join()).not.toContain('in a row');
    expect(last.category).toBe(first.category);
    const factor = last.verdict.factors?.find((other) => other.name === 'history');
    if (name === 'network') {
      expect(factor?.value).toBeLessThan(0);
      expect(last.answer.fixRecommendation).toMatch(/rerunning it will not help/);
      expect(last.answer.fixRecommendation).not.toMatch(/[Rr]erun the job|[Rr]un the job again/);
    } else {
      expect(factor?.value ?? 0).toBeGreaterThan(0);
      expect(last.verdict.confidence).toBeGreaterThanOrEqual(first.verdict.confidence);
    }
  },
  60_000,
);
