import { describe, expect, it } from 'vitest';
import { cutChangelog, requireNewer } from '../../scripts/parts/release/versions.ts';

describe('the changelog of a release', () => {
  const CHANGELOG = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A chart.\n\n## [0.1.0]\n\nThe first.\n';

  it('contains the unreleased entries, under version and date', () => {
    const { changelog, notes } = cutChangelog(CHANGELOG, '0.2.0', '2026-11-28');

    expect(changelog).toBe(
      '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-11-28\n\n### Added\n\n- A chart.\n\n## [0.1.0]\n\nThe first.\n',
    );
    expect(notes).toBe('# Faultline 0.2.0\n\n### Added\n\n- A chart.\n');
  });

  it('is refused without entries', () => {
    const { changelog } = cutChangelog(CHANGELOG, '0.2.0', '2026-11-28');

    expect(() => cutChangelog(changelog, '0.3.0', '2026-11-29')).toThrow('nothing under [Unreleased]');
    expect(() => cutChangelog('# Changelog\n', '0.3.0', '2026-11-29')).toThrow('nothing under [Unreleased]');
  });
});

describe('the version of a release', () => {
  it.each(['0.1.1', '0.2.0', '1.0.0', '0.10.0'])('may be %s after 0.1.0', (version) => {
    expect(() => requireNewer(version, '0.1.0')).not.toThrow();
  });

  it.each(['0.1.0', '0.0.9', '0.0.10'])('may not be %s after 0.1.0', (version) => {
    expect(() => requireNewer(version, '0.1.0')).toThrow('not newer than 0.1.0');
  });

  it.each(['v0.2.0', '0.2', '0.2.0-rc.1', '0.2.0; true'])('may not be %s', (version) => {
    expect(() => requireNewer(version, '0.1.0')).toThrow('is not a version such as 1.2.3');
  });
});
