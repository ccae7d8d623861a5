import { expect, it } from 'vitest';
import { noticeFindings } from '../../src/cli/doctor.ts';
import { loadConfig } from '../../src/config/load.ts';
import { embedded } from '../../src/config/presets.ts';

/** What doctor says of these letters: c(omment), k (check), s(tatus). */
function says(asked: string, token: string, publicUrl = 'https://fl.example'): string[] {
  const environment = {
    FAULTLINE_GITHUB_COMMENT: String(asked.includes('c')),
    FAULTLINE_GITHUB_CHECK: String(asked.includes('k')),
    FAULTLINE_GITHUB_STATUS: String(asked.includes('s')),
    FAULTLINE_GITHUB_TOKEN: token,
    FAULTLINE_PUBLIC_URL: publicUrl,
  };
  const config = loadConfig(embedded('/data', '/knowledge'), environment, () => '');
  return noticeFindings(config).map(({ state, says: words }) => `${state}: ${words}`);
}

it('doctor says what is said on GitHub, and what cannot be', () => {
  expect(says('', '')).toEqual([]);
  expect(says('c', '')).toEqual(['note: github-comment enabled, but no token or App is configured to write them']);
  expect(says('c', 'ghp_x')).toEqual(['ok: github-comment']);
  expect(says('ck', 'ghp_x')).toEqual(['note: github-check is off: only GitHub Apps can write checks', 'ok: github-comment']);
  expect(says('ks', 'ghs_ofActions', '')).toEqual(['note: the texts have no links', 'ok: github-check, github-status']);
});
