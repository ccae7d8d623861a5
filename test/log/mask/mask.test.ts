import { describe, expect, it } from 'vitest';
import { createMasker } from '../../../src/log/mask/mask.ts';
import { findShapes } from '../../../src/log/mask/shapes.ts';
import { THOROUGH } from '../../support/thorough.ts';

const masker = createMasker();
/** Joined at run time so that no scanner takes the tests for a leak. */
const join = (...parts: string[]) => parts.join('');

describe('createMasker', () => {
  it.each([
    ['a GitHub token', join('ghp_', 'wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx')],
    ['an AWS key id', join('AKIA', 'Q3EGUJ5MSZ7HQW4T')],
    ['an npm token', join('npm_', 'aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5')],
    [
      'a JSON web token',
      join(
        'eyJhbGciOiJIUzI1NiJ9',
        '.eyJzdWIiOiIxMjM0NTY3ODkwIn0',
        '.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U',
      ),
    ],
    ['a Slack token', join('xoxb', '-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx')],
  ])('masks %s', async (_, secret) => {
    const { text, count } = await masker.mask(`before\n+ deploy ${secret} now\nafter`);
    expect(text).toBe('before\n+ deploy *** now\nafter');
    expect(count).toBe(1);
  });

  it.each([
    ['Authorization: Bearer 0a1B2c3D4e5F6g7H8i9J', 'Authorization: Bearer ***'],
    ['https://bob:hunter2@example.com/x.git', 'https://bob:***@example.com/x.git'],
    ['API_TOKEN=9f8Gh2kLmQ77zXyW', 'API_TOKEN=***'],
    ['"password": "s3cr3tPa55word"', '"password": "***"'],
  ])('masks the value in %s', async (line, masked) => {
    expect((await masker.mask(line)).text).toBe(masked);
  });

  it('masks the body of a private key line by line, and keeps the number of lines', async () => {
    const key = [
      '-----BEGIN RSA PRIVATE KEY-----',
      'MIIEowIBAAKCAQEA75',
      'q8Zk3dPq1',
      '-----END RSA PRIVATE KEY-----',
    ].join('\n');
    const { text } = await masker.mask(`a\n${key}\nb`);
    expect(text.split('\n')).toEqual([
      'a',
      '-----BEGIN RSA PRIVATE KEY-----',
      '***',
      '***',
      '-----END RSA PRIVATE KEY-----',
      'b',
    ]);
  });

  it.each([
    'commit 3f2a9c1b5d7e8f60718293a4b5c6d7e8f9012345',
    'id 123e4567-e89b-12d3-a456-426614174000',
    'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'token: ***',
    'SyntaxError: Unexpected token } in JSON at position 42',
    'integrity sha512-BaNRTR5CpQFTNHOVJLS5FiXzuFbjqjRMDVYkTjiPTGRyYbPJQYnS4jLl7JmLEsVjJzGkN8mbJPFOGzfqM1Gz6g==',
  ])('does not change %s', async (line) => {
    expect(await masker.mask(line)).toEqual({ text: line, count: 0 });
  });

  it('masks any number of secrets in one line', { timeout: 120_000 }, async () => {
    const line = Array.from({ length: 140_000 }, (_, at) => `token=9f8Gh2kLm${at % 999}`).join(' ');
    const hidden = line.replaceAll(/=\w+/g, '=***');
    expect(findShapes(line, -1).length).toBeGreaterThan(130_000);
    const reports = [
      ['', ''],
      ['{"log":"', '"}'],
      ['<testsuite name="', '"/>'],
      ['<testsuite>&#10;', '</testsuite>'],
    ];
    for (const [before, after] of THOROUGH ? reports : reports.slice(1, 2)) {
      const [masked] = await masker.maskAll([`${before}${line}${after}`]);
      expect(masked?.count, before).toBe(140_000);
      expect(masked?.text === `${before}${hidden}${after}`, before).toBe(true);
    }
  });

  it('masks a secret in a report that is one string of many megabytes', async () => {
    const text = JSON.stringify(`${'a \\ "b" '.repeat(1_500_000)} token=9f8Gh2kLm0`);
    const { text: masked, count } = await masker.mask(text);
    expect(count).toBe(1);
    expect(masked.endsWith(' token=***"')).toBe(true);
  });
});
