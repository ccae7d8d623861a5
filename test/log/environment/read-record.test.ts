import { describe, expect, it } from 'vitest';
import { readRecordOfText } from '../../../src/log/environment/read-record.ts';
import { RECORD_LITERALS, RECORD_ROWS } from '../../../src/log/environment/record-rows.ts';
import { TOOLS } from '../../../src/log/environment/tool-rows.ts';
import { shortenLiterals } from '../../../src/log/scan/matcher.ts';

const versions = (text: string) =>
  Object.fromEntries(readRecordOfText('log', text).versions.map(({ name, version }) => [name, version]));

describe('the formats in which logs show versions', () => {
  it.each(RECORD_ROWS.flatMap((row) => row.matches.map((one) => [...one, row] as const)))(
    'include %s',
    (line, name, version, row) => {
      const groups = row.pattern.exec(line)?.groups;
      expect(groups?.name ?? row.name).toBe(name);
      expect(groups?.to ?? groups?.version).toBe(version);
      const literals = shortenLiterals(RECORD_LITERALS);
      expect(literals.some((literal) => line.toLowerCase().includes(literal))).toBe(true);
      expect(versions(line)).toEqual({ [name]: version });
    },
  );

  it.each(RECORD_ROWS.flatMap((row) => row.ignores.map((line) => [line, row] as const)))(
    'do not include %s',
    (line, row) => {
      expect(row.pattern.test(line)).toBe(false);
    },
  );
});

describe('a tool that prints only its version', () => {
  it.each(TOOLS)('is recognized: %s', (name) => {
    for (const version of ['0.9.1', '2.7', '31.4.0'])
      for (const between of [' ', ' v', ' version ', ', ', ': ', ' is ', ' (a build) '])
        expect(versions(`${name}${between}${version}`)).toEqual({
          [name]: between === ' v' ? `v${version}` : version,
        });
  });

  it.each([
    ['Python 2.7.18', 'python', '2.7.18'],
    ['node: 20.18.0', 'node', '20.18.0'],
    ['Now using node v22.11.0', 'node', '22.11.0'],
  ])('is recognized: %s', (line, name, version) => {
    expect(versions(line)).toEqual({ [name]: version });
  });
});

describe('the record of a log', () => {
  it('contains the image of a runner, its actions, and the names of variables without their values', () => {
    const log = [
      "Current runner version: '2.321.0'",
      '##[group]Runner Image',
      'Image: ubuntu-24.04',
      'Version: 20241117.1.0',
      '##[endgroup]',
      "Download action repository 'actions/checkout@v4' (SHA:11bd71901bbe5b1630ceea73d27597364c9af683)",
      '##[group]Run pytest',
      'shell: /usr/bin/bash -e {0}',
      'env:',
      '  API_URL: https://api.example.com',
      '  TOKEN: ***',
      '##[endgroup]',
    ].join('\n');
    expect(versions(log)).toEqual({
      'Actions runner': '2.321.0',
      'runner image': 'ubuntu-24.04 20241117.1.0',
      'actions/checkout@v4': '11bd71901bbe5b1630ceea73d27597364c9af683',
      API_URL: '',
      TOKEN: '',
    });
  });

  it('contains the digest of a pulled image', () => {
    const log = `16: Pulling from library/postgres
Digest: sha256:91f464e7ba0ad91a106c94cff079fb4384139291b8c0502fd36989cf2c788bbb
Status: Downloaded newer image for postgres:16`;
    expect(versions(log)).toEqual({ 'postgres:16': 'sha256:91f464e7ba0a' });
  });

  it('contains what pip installed and what required it', () => {
    const log = `Collecting pandas (from -r requirements.txt (line 2))
Collecting numpy>=1.26 (from pandas->-r requirements.txt (line 2))
Successfully installed numpy-2.1.3 pandas-3.0.0`;
    const record = readRecordOfText('log', log);
    expect(versions(log)).toEqual({ numpy: '2.1.3', pandas: '3.0.0' });
    expect(record.requirements).toEqual([
      { name: 'pandas', range: '', from: 'requirements.txt' },
      { name: 'numpy', range: '>=1.26', from: null },
    ]);
  });

  it('contains the tables of pip and pnpm, and the answer of a tool to --version', () => {
    const log = `Package    Version
---------- -------
pip        24.3.1
requests   2.32.3

dependencies:
+ lodash 4.17.21
+ zod 3.23.8 (4.0.0 is available)

$ node --version
v20.18.0`;
    expect(versions(log)).toEqual({
      pip: '24.3.1',
      requests: '2.32.3',
      lodash: '4.17.21',
      zod: '3.23.8',
      node: '20.18.0',
    });
  });

  it('contains all versions of a package that a project installs several times', () => {
    const log = '├── ms@2.1.3\n│ └── ms@2.0.0';
    expect(versions(log)).toEqual({ ms: '2.1.3, 2.0.0' });
  });

  it('contains the duration of each step in seconds', () => {
    const log = `2026-11-18T10:00:00.0000000Z ##[group]Run npm ci
2026-11-18T10:00:12.0000000Z added 3 packages
2026-11-18T10:00:12.5000000Z ##[group]Run npm test
2026-11-18T10:02:00.0000000Z ##[error]Process completed with exit code 1.`;
    expect(readRecordOfText('log', log).steps).toEqual([
      { name: 'npm ci', seconds: 12 },
      { name: 'npm test', seconds: 108 },
    ]);
  });

  it('takes time proportional to the length of hostile lines', () => {
    const hostile = [
      `Collecting a${'.a'.repeat(40_000)}`,
      `Requirement already satisfied: ${'a-'.repeat(40_000)} in /x`,
      `${'│ '.repeat(40_000)}a@1`,
      `plugins: ${'a-1, '.repeat(20_000)}`,
      `Successfully installed ${'a-1 '.repeat(20_000)}`,
    ].join('\n');
    expect(readRecordOfText('log', hostile).versions.length).toBeLessThan(4_000);
  });
});
