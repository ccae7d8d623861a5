import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMasker } from '../../src/log/mask.ts';

const masker = createMasker();
const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const chars = (alphabet: string, length: number) => fc.string({ unit: fc.constantFrom(...alphabet), minLength: length, maxLength: length });
const mixed = (length: number) => chars(ALPHANUMERIC, length).map((text) => `a7Q${text.slice(3)}`);
const upper = (length: number) => chars('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', length);

/** Shapes of secrets as they stand in logs: the text before, the secret itself, the text after. */
const SHAPES: Readonly<Record<string, fc.Arbitrary<readonly [string, string, string]>>> = {
  'GitHub token': mixed(36).map((s) => ['using ', `ghp_${s}`, ' now']),
  'GitHub server token': mixed(36).map((s) => ['', `ghs_${s}`, '']),
  'GitHub fine-grained token': mixed(82).map((s) => ['token ', `github_pat_${s}`, '']),
  'GitLab token': mixed(20).map((s) => ['', `glpat-${s}`, '']),
  'AWS key id': upper(16).map((s) => ['key ', `AKIA${s}`, ' used']),
  'AWS secret key': mixed(40).map((s) => ['AWS_SECRET_ACCESS_KEY=', s, '']),
  'Google API key': mixed(35).map((s) => ['?key=', `AIza${s}`, '&x=1']),
  'npm token': mixed(36).map((s) => ['//registry.example.com/:_authToken=', `npm_${s}`, '']),
  'PyPI token': mixed(80).map((s) => ['twine -p ', `pypi-AgEIcHlwaS5vcmc${s}`, '']),
  'Docker token': mixed(27).map((s) => ['docker login -p ', `dckr_pat_${s}`, '']),
  'Slack token': mixed(24).map((s) => ['', `xoxb-123456789012-1234567890123-${s}`, '']),
  'SendGrid key': fc.tuple(mixed(22), mixed(43)).map(([a, b]) => ['send with ', `SG.${a}.${b}`, '']),
  'Shopify token': chars('0123456789abcdef', 32).map((s) => ['', `shpat_${s}`, '']),
  'Hugging Face token': chars('abcdefghijklmnopqrstuvwxyzABCDEFGH', 34).map((s) => ['login ', `hf_${s}`, '']),
  'JSON web token': fc.tuple(mixed(20), mixed(30), mixed(43)).map(([a, b, c]) => ['jwt ', `eyJ${a}.eyJ${b}.${c}`, '']),
  'bearer header': mixed(32).map((s) => ['> Authorization: Bearer ', s, '']),
  'basic header': mixed(24).map((s) => ['authorization: Basic ', `${s}==`, '']),
  'password in a URL': mixed(14).map((s) => ['git clone https://ci:', s, '@git.example.com/x.git']),
  'token as user in a URL': mixed(30).map((s) => ['https://', s, '@git.example.com/x.git']),
  'database URL': mixed(16).map((s) => ['DATABASE_URL=postgres://app:', s, '@db:5432/app']),
  'token assignment': mixed(24).map((s) => ['export DEPLOY_TOKEN=', s, '']),
  'quoted password': mixed(16).map((s) => ['  "password": "', s, '",']),
  'YAML secret': mixed(20).map((s) => ['client_secret: ', s, '']),
  'command-line option': mixed(24).map((s) => ['deploy --api-key ', s, ' --yes']),
  'signed URL': mixed(40).map((s) => ['https://x.example.com/f?Signature=', s, '&Expires=1']),
};

const noise = fc.constantFrom(
  '',
  'npm ci',
  '✓ works',
  '\u001b[32mok\u001b[0m',
  '50%\r100%',
  'error: x',
  'token expected',
  '🎉',
  'https://example.com/a/b',
);

describe('masking', () => {
  it.each(Object.keys(SHAPES))('never leaks: %s', async (name) => {
    await fc.assert(
      fc.asyncProperty(fc.array(noise), fc.array(noise), SHAPES[name]!, async (before, after, [head, secret, rest]) => {
        const text = [...before, `${head}${secret}${rest}`, ...after].join('\n');
        const masked = await masker.mask(text);
        expect(masked.text).not.toContain(secret);
        expect(masked.count).toBeGreaterThan(0);
        expect(masked.text.split('\n').length).toBe(text.split('\n').length);
        expect((await masker.mask(masked.text)).text).toBe(masked.text);
      }),
      { numRuns: 25 },
    );
  });

  it('keeps the number of lines, whatever the text', async () => {
    const piece = fc.constantFrom(
      'token=',
      'a7Qb8Rc9Sd',
      '\n',
      '\r\n',
      '-----BEGIN RSA PRIVATE KEY-----',
      '-----END RSA PRIVATE KEY-----',
      'https://a:b@c.de',
      '***',
      '"',
      ' ',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece), async (pieces) => {
        const text = pieces.join('');
        expect((await masker.mask(text)).text.split('\n').length).toBe(text.split('\n').length);
      }),
    );
  });
});
