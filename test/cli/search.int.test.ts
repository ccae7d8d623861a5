import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storeItem } from '../console/review/queue-world.ts';
import { openConsole, type TestConsole, TOKENS } from '../support/console.ts';
import { runFaultline } from './faultline.ts';

let served: TestConsole;
let url = '';
beforeAll(async () => {
  served = await openConsole();
  url = await served.app.listen({ port: 0, host: '127.0.0.1' });
  await storeItem(served, {
    build: { repository: 'shop/api', branch: 'main' },
    failure: { message: 'connect ECONNRESET 10.0.0.7' },
  });
  await storeItem(served, { build: { repository: 'shop/web' }, failure: { message: 'expected 3 items' } });
});
afterAll(async () => await served.close());

const search = (...args: string[]) => runFaultline(['search', ...args, '--url', url, '--token', TOKENS.read]);

describe('faultline search', () => {
  it('60: finds what the console finds, one line per failure, or as JSON', async () => {
    const { code, stdout } = await search('repo:shop/api', 'econnreset');
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(
        /^ana_\w+ {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}Test failure {6}shop\/api CI #\d+ {2}cart total \d+\n$/,
      ),
    ]);
    const { items } = JSON.parse((await search('is:undecided', '--json')).stdout);
    expect(items).toHaveLength(2);
    expect((await search('xylophone')).stdout).toBe('No failure matches.\n');
  });

  it('refuses unknown filters, and suggests correct ones', async () => {
    const { code, stderr, stdout } = await search('is:red');
    expect([code, stdout]).toEqual([4, '']);
    expect(stderr).toContain('is:red is not a filter. Use one of is:flaky');
  });
});
