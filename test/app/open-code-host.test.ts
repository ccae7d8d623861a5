import { describe, expect, it } from 'vitest';
import { openCodeHost } from '../../src/app/open-adapters.ts';
import { COMMON, type Config } from '../../src/config/schema.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';

type Driver = Config['codeHost']['driver'];

async function findDriver(
  driver: Driver,
  token: string | null,
  clones: Record<string, string> = {},
): Promise<string> {
  const { github, ...rest } = COMMON.providers;
  const providers = { ...rest, github: { ...github, token } };
  return (await openCodeHost({ codeHost: { driver, clones }, providers }, silentLogger)).driver;
}

describe('the code host', () => {
  it('is the local clones, with nothing in the log, if none is configured', async () => {
    expect(await findDriver('auto', null)).toBe('local-git');
    expect((await openCodeHost({ codeHost: COMMON.codeHost }, silentLogger)).driver).toBe('local-git');
  });

  it('is GitHub if a token is configured, combined with local clones if there are any', async () => {
    expect(await findDriver('auto', 'ghp_0123456789')).toBe('github');
    expect(await findDriver('auto', 'ghp_0123456789', { 'shop/api': '/clones/api' })).toBe(
      'local-git+github',
    );
  });

  it('is the one that the configuration names', async () => {
    expect(await findDriver('github', null)).toBe('github');
    expect(await findDriver('local-git', 'ghp_0123456789')).toBe('local-git');
    expect(await findDriver('none', 'ghp_0123456789', { 'shop/api': '/clones/api' })).toBe('none');
  });
});
