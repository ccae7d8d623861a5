import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testAddress } from '../../../src/console/insights/test-page.ts';
import type { TestResult } from '../../../src/domain/build.ts';
import { sampleBuild } from '../../stores/samples.ts';
import { getPage, openConsole, postForm, type TestConsole, TOKENS } from '../../support/console.ts';
import { HOSTILE } from './insights-world.ts';

const REPOSITORY = 'acme/shop';
const ADDS = testAddress({ repository: REPOSITORY, suite: 'cart', name: 'adds' });
let console: TestConsole;

/** A build of the default branch, half an hour long, and what its tests did. */
async function ran(number: string, commit: string, results: readonly Partial<TestResult>[]): Promise<void> {
  const times = { startedAt: '2026-03-01T10:00:00.000Z', finishedAt: '2026-03-01T10:30:00.000Z' };
  const { build } = await console.stores.builds.upsert(
    sampleBuild({ repository: REPOSITORY, number, commit, branch: 'main', ...times }),
  );
  const whole = { name: 'adds', suite: 'cart', file: null, status: 'passed', durationMs: 40 } as const;
  await console.stores.builds.saveTestResults(
    build.id,
    results.map((result) => ({ ...whole, ...result })),
  );
}

beforeAll(async () => {
  console = await openConsole();
  await ran('1', 'aaaaaaa1', [{ runner: 'agent-1' }]);
  await ran('2', 'bbbbbbb', [
    { status: 'failed', durationMs: 90, runner: 'agent-2' },
    { name: HOSTILE, suite: HOSTILE, file: HOSTILE, status: 'failed', runner: HOSTILE },
  ]);
  await ran('3', 'ccccccc3', [{ runner: 'agent-1' }, { name: HOSTILE, suite: HOSTILE, runner: 'agent-1' }]);
});
afterAll(() => console.close());

const said = async (url: string, token?: string) => (await getPage(console.app, url, token)).body;

describe('the page of a test', () => {
  it('64: shows its runs, where they ran, how long they took, and the last failure that was not flaky', async () => {
    const body = await said(ADDS);
    expect(body).toContain('It runs 40 ms at the median, 90 ms at most.');
    expect(body).toMatch(/first failed in <a [^>]+>[^<]+ 2<\/a>, commit <code>bbbbbbb<\/code>/);
    expect(body).toMatch(/passed again in <a [^>]+>[^<]+ 3</);
    expect(body).toContain('aria-label="Runs by machine"');
    expect(body).toMatch(
      /<th scope="row">agent-2<\/th><td data-label="Runs">1<\/td><td data-label="Failures">1<\/td>/,
    );
    expect(await said(`${ADDS}&csv=runs`)).toMatch(/failed,bld_[^,]+,[^,]+,2,main,bbbbbbb,agent-2,90/);
  });

  it('shows no outside text as markup, and reports an unknown test', async () => {
    const body = await said(testAddress({ repository: REPOSITORY, suite: HOSTILE, name: HOSTILE }));
    for (const never of ['<img', 'style=', '\u202e', 'NaN', 'undefined', '[object'])
      expect(body).not.toContain(never);
    expect(
      (await getPage(console.app, testAddress({ repository: REPOSITORY, suite: null, name: 'none' })))
        .statusCode,
    ).toBe(404);
  });

  it('64: puts it in quarantine by one form, for a week unless another time is chosen, and ends that', async () => {
    const fields = { repository: REPOSITORY, suite: 'cart', name: 'adds' };
    expect(await said(ADDS, TOKENS.read)).not.toContain('<button>Quarantine</button>');
    expect(
      (await postForm(console.app, '/insights/test', { ...fields, days: '7' }, TOKENS.read)).statusCode,
    ).toBe(403);
    expect(await said(ADDS)).toMatch(/name="days"[^>]+value="7"[\s\S]+<button>Quarantine</);

    const done = await postForm(console.app, '/insights/test', { ...fields, days: '7' });
    expect([done.statusCode, done.headers.location]).toEqual([
      303,
      `${ADDS}&done=quarantined&was=0#quarantine`,
    ]);
    expect(await said(`${ADDS}&done=ended&was=7`)).toMatch(/name="days" value="7">.*Undo/s);
    expect(await said(ADDS)).toContain('In quarantine until');
    expect(await said('/tests?list=quarantine')).toContain('adds</a>');
    expect((await postForm(console.app, '/insights/test', { ...fields, days: '900' })).statusCode).toBe(400);

    await postForm(console.app, '/insights/test', { ...fields, days: '0' });
    expect(await said(ADDS)).toMatch(/ended the quarantine[\s\S]+quarantined until 20/);
    expect(await said('/tests?list=quarantine')).toContain('No test is in quarantine.');
  });

  it('64: is reached from a list by the minutes of machines and people that failures cost', async () => {
    const body = await said('/tests?list=cost&minutes=20');
    expect(body).toMatch(
      /<strong>25 min<\/strong><\/td>\s*<td[^>]+>15 min<\/td><td[^>]+>10 min<\/td><td[^>]+>1<\/td>/,
    );
    expect((await said('/tests?list=cost&csv=cost')).split('\r\n')).toHaveLength(4);
  });
});
