import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMasker } from '../../../src/log/mask/mask.ts';
import { isDistinctive } from '../../../src/log/mask/span.ts';
import { runs } from '../../support/thorough.ts';
import { type Planted, SECRETS } from './secrets.ts';

const masker = createMasker();

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
  'HEAD is now at 3f2a9c1 Merge branch main',
  'Digest: sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
);
const lines = fc.array(noise, { maxLength: 6 });
const numRuns = runs(20);

const encode = (text: string, encoding: BufferEncoding) => Buffer.from(text, 'utf8').toString(encoding);

/** How a secret that was seen once comes back elsewhere. */
const ELSEWHERE: Readonly<Record<string, (secret: string) => string>> = {
  plain: (secret) => `again ${secret} again`,
  base64: (secret) => `data ${encode(secret, 'base64')}`,
  'base64 after one byte': (secret) => encode(`:${secret}`, 'base64'),
  'base64 after two bytes': (secret) => encode(`u:${secret}:x`, 'base64'),
  base64url: (secret) => encode(`{"a":"${secret}"}`, 'base64url'),
  hex: (secret) => encode(secret, 'hex'),
  'upper-case hex': (secret) => encode(secret, 'hex').toUpperCase(),
  'URL-encoded': (secret) => `?x=${encodeURIComponent(secret)}&y`,
  'as JSON': (secret) => JSON.stringify({ a: secret }),
  'broken in two': (secret) =>
    `${secret.slice(0, secret.length >> 1)}\n${secret.slice(secret.length >> 1)} rest`,
  'broken in two, with times before': (secret) =>
    `2026-01-05T10:00:00.0000000Z ${secret.slice(0, 5)}\n2026-01-05T10:00:00.0000001Z ${secret.slice(5)}`,
  'broken in four': (secret) =>
    [0, 1, 2, 3]
      .map((n) => secret.slice((n * secret.length) >> 2, ((n + 1) * secret.length) >> 2))
      .join('\r\n'),
};

/** No spelling of the secret, and of it in one piece no half. */
function expectHidden(text: string, secret: string): void {
  const joined = text.replace(/\r?\n(?:\d{4}-\S+Z )?/g, '');
  for (const encoding of ['base64', 'base64url', 'hex'] as const) {
    expect(text).not.toContain(encode(secret, encoding).replace(/=+$/, ''));
  }
  for (const shown of [text, joined]) {
    expect(shown).not.toContain(secret);
    expect(shown).not.toContain(encodeURIComponent(secret));
  }
}

describe.each(Object.entries(SECRETS))('a secret of the kind %s', (_name, planted) => {
  it('T55: is never shown', async () => {
    await fc.assert(
      fc.asyncProperty(lines, lines, planted, async (before, after, [head, secret, rest]) => {
        const text = [...before, `${head}${secret}${rest}`, ...after].join('\n');
        const masked = await masker.mask(text);
        expectHidden(masked.text, secret);
        expect(masked.text).toContain(head.slice(0, -1));
        expect(masked.text.split('***').length - 1).toBe(masked.count);
        expect(masked.text.split('\n').length).toBe(text.split('\n').length);
        expect(await masker.mask(masked.text)).toEqual({ text: masked.text, count: 0 });
      }),
      { numRuns },
    );
  });

  it('is then masked everywhere in the run', async () => {
    await fc.assert(
      fc.asyncProperty(
        lines,
        planted,
        fc.constantFrom(...Object.keys(ELSEWHERE)),
        async (some, [head, secret, rest], form) => {
          // Less than three characters on a line are not recognized as a part.
          fc.pre(isDistinctive(secret) && (form !== 'broken in four' || secret.length >= 12));
          const first = `${head}${secret}${rest}`;
          const second = [...some, ELSEWHERE[form]!(secret), ...some].join('\n');
          const [masked, other] = await masker.maskAll([first, second]);
          expectHidden(`${masked?.text}\n${other?.text}`, secret);
          expect(other?.count).toBeGreaterThan(0);
          expect(other?.text.split('\n').length).toBe(second.split('\n').length);
          expect((await masker.maskAll([masked!.text, other!.text])).map(({ text }) => text)).toEqual([
            masked!.text,
            other!.text,
          ]);
        },
      ),
      { numRuns },
    );
  });
});

describe('a token that occurs only broken over two lines', () => {
  const NAMES = [
    'GitHub token',
    'GitHub fine-grained token',
    'GitLab token',
    'npm token',
    'PyPI token',
    'OpenAI project key',
  ];
  it.each(NAMES)('is masked on both: %s', async (name) => {
    await fc.assert(
      fc.asyncProperty(
        SECRETS[name]!,
        fc.double({ min: 0.4, max: 0.8, noNaN: true }),
        async ([head, secret]: Planted, where) => {
          const at = Math.floor(secret.length * where);
          const { text } = await masker.mask(`${head}${secret.slice(0, at)}\n${secret.slice(at)}\nnpm ci`);
          expect(text).not.toContain(secret.slice(8, at));
          expect(text).not.toContain(secret.slice(at));
          expect(text.endsWith('\nnpm ci')).toBe(true);
        },
      ),
      { numRuns },
    );
  });
});

describe('T56: text that is not a secret', () => {
  const createHex = (length: number) =>
    fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length });
  const CLEAN: Readonly<Record<string, fc.Arbitrary<string>>> = {
    commit: createHex(40).map((sha) => `Checking out ${sha} (refs/remotes/origin/main)`),
    'short commit': createHex(7).map((sha) => `[main ${sha}] Release`),
    digest: createHex(64).map((sha) => `Digest: sha256:${sha}`),
    'image with digest': createHex(64).map((sha) => `docker pull ghcr.io/acme/app@sha256:${sha}`),
    layer: createHex(12).map((id) => `${id}: Pull complete`),
    'build step': createHex(12).map((id) => ` ---> Running in ${id}`),
    uuid: fc.uuid().map((id) => `request ${id} failed; deployment id: ${id}`),
    integrity: fc
      .uint8Array({ minLength: 64, maxLength: 64 })
      .map((bytes) => `  integrity sha512-${Buffer.from(bytes).toString('base64')}`),
    'cache key': createHex(64).map((sha) => `Cache restored from key: linux-node-modules-${sha}`),
    version: fc
      .tuple(fc.nat(99), fc.nat(99), createHex(7))
      .map(([a, b, c]) => `token-service@${a}.${b}.0-beta.${a}+${c}`),
    'test name': fc
      .nat(999)
      .map((n) => `✗ auth › refresh token ${n}: rejects a password without digits (12 ms)`),
    path: fc.nat(99).map((n) => `src/auth/token_v${n}/secret-store.test.ts:${n}:13`),
    'image tag': createHex(7).map((sha) => `Successfully tagged registry.example.com:5000/team/app:${sha}`),
    'go pseudo-version': createHex(12).map(
      (sha) => `go: downloading golang.org/x/oauth2 v0.0.0-20230101120000-${sha}`,
    ),
    'masked by the runner': fc.constant('  password: ***\n  token: ***\nhttps://x:***@example.com ***'),
    variables: fc.constant(
      'curl -H "Authorization: Bearer $TOKEN" -u "$USER:$PASSWORD" --token %TOKEN% PASSWORD=[secure]',
    ),
    address: fc
      .nat(9999)
      .map((n) => `connecting to http://localhost:${n}/path@v1.2.3 and ssh://git@github.com/acme/app.git`),
  };
  it.each(Object.keys(CLEAN))('is not changed: %s', async (name) => {
    await fc.assert(
      fc.asyncProperty(lines, CLEAN[name]!, async (before, line) => {
        const text = [...before, line].join('\n');
        expect(await masker.mask(text)).toEqual({ text, count: 0 });
      }),
      { numRuns: runs(50) },
    );
  });
});

describe('any text', () => {
  const piece = fc.constantFrom(
    'token=',
    'a7Qb8Rc9Sd',
    '\n',
    '\r\n',
    'https://a:b@c.de',
    '***',
    '"',
    ' ',
    'Cookie: a=',
    'ghp_',
    'eyJ',
    '.',
    'password: ',
    '-----BEGIN RSA PRIVATE KEY-----',
    '-----END RSA PRIVATE KEY-----',
    'MIIEowIBAAKCAQEA75',
    '\u001b[31m',
    'curl -u x:',
    'key=',
    'AAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    '\ud83d',
    'mysql -p',
    'docker login -p ',
    'net use \\\\a\\b ',
  );
  it('keeps its number of lines, and is not changed by a second masking', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
        const text = pieces.join('');
        const once = await masker.mask(text);
        expect(once.text.split('\n').length).toBe(text.split('\n').length);
        expect((await masker.mask(once.text)).text).toBe(once.text);
      }),
      { numRuns: runs(500) },
    );
  });
});
