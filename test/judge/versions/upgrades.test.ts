import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../../src/domain/evidence.ts';
import { readManifestChanges } from '../../../src/judge/versions/manifest-diff.ts';
import { findUpgrades } from '../../../src/judge/versions/upgrades.ts';
import { changeIn } from '../../../src/log/environment/changes.ts';

describe('an upgrade of a dependency', () => {
  it.each([
    [
      'pom.xml',
      ' <artifactId>pear-core</artifactId>\n-      <version>3.2.1</version>\n+      <version>9.20.1</version>',
      'pear-core',
      '3.2.1',
      '9.20.1',
    ],
    ['package.json', '-    "pear": "^4.17.20",\n+    "pear": "^5.0.0",', 'pear', '4.17.20', '5.0.0'],
    ['requirements-dev.txt', '-pear==1.0\n+pear==2.0', 'pear', '1.0', '2.0'],
    ['Cargo.toml', '-pear = { version = "0.8" }\n+pear = { version = "0.9" }', 'pear', '0.8', '0.9'],
    [
      'go.mod',
      '-\tfruit.example/pear v1.2.3\n+\tfruit.example/pear v1.3.0',
      'fruit.example/pear',
      '1.2.3',
      '1.3.0',
    ],
    [
      'app/build.gradle',
      '-  implementation "org.fruit:pear:1.0"\n+  implementation "org.fruit:pear:2.0"',
      'org.fruit:pear',
      '1.0',
      '2.0',
    ],
  ])('is read from a patch of %s', (path, patch, name, from, to) => {
    expect(readManifestChanges(path, patch)).toEqual([{ name, from, to }]);
  });

  it('is not read from other files, or from lines that only moved', () => {
    expect(readManifestChanges('src/pear.ts', '-"pear": "1.0"\n+"pear": "2.0"')).toEqual([]);
    expect(readManifestChanges('package.json', '-    "pear": "1.0.0"\n+    "pear": "1.0.0",')).toEqual([]);
  });

  it.each([
    ['build(deps): bump org.fruit:pear-core from 3.2.1 to 9.20.1', 'org.fruit:pear-core', '3.2.1', '9.20.1'],
    ['fix(deps): update dependency pear to v5.0.0', 'pear', null, '5.0.0'],
    ['dependabot/npm_and_yarn/pear-4.17.21', 'pear', null, '4.17.21'],
    ['renovate/pear-core-6.x', 'pear-core', null, '6.x'],
  ])('is recognized in the branch name “%s”', (text, name, from, to) => {
    expect(changeIn(text)).toMatchObject({ name, from, to });
  });

  it.each(['bump the version from 1.2 to 1.3 by hand', 'renovate/configure', 'feature/pear-basket'])(
    'is not recognized in the branch name “%s”',
    (text) => {
      expect(changeIn(text)?.name).not.toBe('pear');
    },
  );

  it('is determined by the code first, and by the branch last', () => {
    const build = { branch: 'dependabot/npm_and_yarn/plum-2.0.0' } as never;
    const environment = { runtimes: [], artifacts: [], boms: [], changes: [] };
    expect(findUpgrades({ build, environment }, [])).toMatchObject([{ name: 'plum', to: '2.0.0' }]);
    const patch = {
      id: 'E4',
      tool: 'changed_since_green',
      text: '-    "pear": "1.0.0"\n+    "pear": "2.0.0"',
      data: { path: 'package.json' },
    };
    expect(findUpgrades({ build, environment }, [patch as unknown as Evidence])).toMatchObject([
      { name: 'pear', from: '1.0.0', to: '2.0.0', evidenceId: 'E4' },
    ]);
  });
});
