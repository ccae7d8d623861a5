import { describe, expect, it } from 'vitest';
import {
  advisePin,
  describeSinceGreen,
  getChangesHeading,
  type VersionChange,
  type VersionChanges,
} from '../../src/domain/version-changes.ts';

const PANDAS: VersionChange = {
  kind: 'python',
  name: 'pandas',
  from: '1.5.3',
  to: '3.0.0',
  chosenBy: '==3.0.0 in requirements.txt',
  at: null,
  link: "module 'pandas' has no attribute 'append'",
};
const GREEN = { buildId: 'b1', number: '812', url: null };
const compare = (isSameCommit: boolean, since: VersionChanges['since'] = GREEN): VersionChanges => ({
  since,
  isSameCommit,
  changes: [PANDAS],
  more: 0,
});

describe('a change since the last passed run', () => {
  it('is not in the diff if that run had the same commit', () => {
    expect(describeSinceGreen(PANDAS, compare(true))).toBe(
      'Not in the diff: pandas 1.5.3 → 3.0.0 (==3.0.0 in requirements.txt) since build 812, ' +
        'which passed on the same commit.',
    );
    expect(getChangesHeading(compare(true))).toBe('Changed, not in the diff');
  });

  it('may be in the diff if that run had another commit', () => {
    expect(describeSinceGreen(PANDAS, compare(false))).toBe(
      'Changed since the last green run, build 812: pandas 1.5.3 → 3.0.0 (==3.0.0 in requirements.txt).',
    );
    expect(describeSinceGreen(PANDAS, compare(false, null))).toMatch(
      /^Changed since the last green run: pandas/,
    );
    expect(getChangesHeading(compare(false))).toBe('Changed since the last green run');
  });
});

describe('the advice to pin a version', () => {
  const advise = (change: Partial<VersionChange>) => advisePin({ ...PANDAS, ...change });

  it('contains the command for one version', () => {
    expect(advise({ kind: 'npm', name: 'a', from: '1.0.0', to: '3.0.0' })).toBe(
      'Pin a to 1.0.0 (`npm install --save-exact a@1.0.0`), or make the code work with 3.0.0.',
    );
  });

  it.each(['npm', 'cargo'] as const)('contains no command for several versions of %s', (kind) => {
    expect(advise({ kind, name: 'a', from: '1.0.0, 2.0.0', to: '3.0.0' })).toBe(
      'Pin a to 1.0.0 and 2.0.0, or make the code work with 3.0.0.',
    );
    expect(advise({ kind, name: 'a', from: '1.0.0, 2.0.0', to: null })).not.toContain('`');
  });

  it("says that only the beginning of a service's digest is known", () => {
    expect(advise({ kind: 'service', name: 'node:22', from: 'sha256:0a1b2c3d4e5f', to: 'sha256:99' })).toBe(
      'Pin node:22 to the digest that begins with sha256:0a1b2c3d4e5f, or make the code work with the new image.',
    );
  });
});
