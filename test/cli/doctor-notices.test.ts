import { expect, it } from 'vitest';
import { listExternalChecks } from '../../src/app/external-checks.ts';
import { createEmbeddedPreset, loadConfig } from '../../src/config/load.ts';
import { runCheck } from '../../src/ports/health.ts';

/** What doctor says where these are to be written. */
async function listSays(writes: string, token: string, publicUrl = 'https://fl.example'): Promise<string[]> {
  const environment = {
    FAULTLINE_GITHUB_WRITES: writes,
    FAULTLINE_GITHUB_TOKEN: token,
    FAULTLINE_PUBLIC_URL: publicUrl,
  };
  const config = loadConfig(createEmbeddedPreset('/data', '/knowledge'), environment, () => '');
  const found = await Promise.all(
    listExternalChecks(config)
      .filter(({ name }) => name === 'github notices')
      .map(runCheck),
  );
  return found.flat().map(({ state, says: words }) => `${state}: ${words}`);
}

it('doctor lists what is posted to GitHub, and what cannot be posted', async () => {
  expect(await listSays('', '')).toEqual([]);
  expect(await listSays('comment', '')).toEqual([
    'note: github-comment is off: no token or App is configured to write it',
  ]);
  expect(await listSays('comment', 'ghp_x')).toEqual(['ok: github-comment', 'ok: github-suggestion']);
  expect(await listSays('comment,check', 'ghp_x')).toEqual([
    'ok: github-comment',
    'ok: github-suggestion',
    'note: github-check is off: only GitHub Apps can write checks',
  ]);
  expect(await listSays('check,status', 'ghs_ofActions', '')).toEqual([
    'ok: github-check',
    'ok: github-status',
    'note: the texts have no links',
  ]);
});
