import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createEmbeddedPreset, type Environment, loadConfig } from '../../../src/config/load.ts';
import { createMaskingOptions } from '../../../src/config/masking.ts';
import { createMasker } from '../../../src/log/mask/mask.ts';
import { toGithubApiAddress } from '../../../src/providers/github/provider.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PKCS1 = rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
const PKCS8 = rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const PUBLIC = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const LOCKED = rsa.privateKey
  .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
  .toString();
const EC = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();

const load = (environment: Environment, file = '') =>
  loadConfig(createEmbeddedPreset('/data', '/knowledge'), environment, () => file);
const loadApp = (environment: Environment, file?: string) => load(environment, file).providers.github.app;

describe("GitHub's address", () => {
  it.each([
    ['https://api.github.com', 'https://api.github.com'],
    ['https://api.github.com/', 'https://api.github.com'],
    ['https://github.com', 'https://api.github.com'],
    ['https://www.github.com/', 'https://api.github.com'],
    ['https://ghe.example.com', 'https://ghe.example.com/api/v3'],
    ['https://ghe.example.com/', 'https://ghe.example.com/api/v3'],
    ['https://GHE.example.com:8443', 'https://ghe.example.com:8443/api/v3'],
    ['https://ghe.example.com/api/v3', 'https://ghe.example.com/api/v3'],
    ['https://ghe.example.com/api/v3/', 'https://ghe.example.com/api/v3'],
    ['https://ghe.example.com/api/graphql', 'https://ghe.example.com/api/v3'],
    ['https://acme.ghe.com', 'https://api.acme.ghe.com'],
    ['https://api.acme.ghe.com/', 'https://api.acme.ghe.com'],
    ['https://proxy.example.com/github/', 'https://proxy.example.com/github'],
    ['https://notgithub.com', 'https://notgithub.com/api/v3'],
    ['http://127.0.0.1:4000', 'http://127.0.0.1:4000'],
    ['http://localhost:4000/api/v3', 'http://localhost:4000/api/v3'],
  ])('%s is requested at %s', (given, address) => {
    expect(toGithubApiAddress(given)).toBe(address);
    expect(load({ FAULTLINE_GITHUB_URL: given }).providers.github.baseUrl).toBe(address);
    expect(toGithubApiAddress(address)).toBe(address);
  });

  it.each(['ghe.example.com', 'ftp://ghe.example.com', 'https://ada:secret@ghe.example.com'])(
    '%s is refused, without its text',
    (given) => {
      expect(() => load({ FAULTLINE_GITHUB_URL: given })).toThrow(/FAULTLINE_GITHUB_URL(?!.*secret)/);
    },
  );
});

describe('the settings of the GitHub App', () => {
  const id = { FAULTLINE_GITHUB_APP_ID: '4711' };

  it.each([
    ['as GitHub gives it', PKCS1, PKCS1],
    ['in the newer form', PKCS8, PKCS8],
    ['on one line', PKCS1.replaceAll('\n', '\\n'), PKCS1],
    ['with the line ends of Windows', PKCS1.replaceAll('\n', '\r\n'), PKCS1],
    ['with those on one line', PKCS1.replaceAll('\n', '\\r\\n'), PKCS1],
  ])('accept its key %s', (_how, given, key) => {
    expect(loadApp({ ...id, FAULTLINE_GITHUB_APP_KEY: given })).toEqual({
      id: '4711',
      privateKey: key.trim(),
    });
    expect(loadApp({ ...id, FAULTLINE_GITHUB_APP_KEY_FILE: '/run/secrets/key' }, given)?.privateKey).toBe(
      key.trim(),
    );
  });

  it('are absent by default, and accept a client id too', () => {
    expect(loadApp({})).toBeNull();
    expect(
      loadApp({ FAULTLINE_GITHUB_APP_ID: 'Iv23liAbCdEfGhIjKlMn', FAULTLINE_GITHUB_APP_KEY: PKCS8 })?.id,
    ).toBe('Iv23liAbCdEfGhIjKlMn');
  });

  it.each([
    ['nothing else', undefined, /FAULTLINE_GITHUB_APP_KEY .*is not set/],
    ['a path', '/run/secrets/key.pem', /not a PEM private key.*FAULTLINE_GITHUB_APP_KEY_FILE/],
    ['its first line', '-----BEGIN RSA PRIVATE KEY-----', /cut off.*\\n/],
    ['its first half', PKCS1.slice(0, 600), /cut off/],
    ['a damaged key', PKCS1.replace(/\n.{64}\n/, '\n'), /damaged/],
    ['a public key', PUBLIC, /public key/],
    ['a key with a passphrase', LOCKED, /passphrase/],
    ['a key of another kind', EC, /type ec.*RSA/],
  ])('with %s are refused, with what to do and without the key', (_what, key, says) => {
    const refused = () => loadApp({ ...id, FAULTLINE_GITHUB_APP_KEY: key });
    expect(refused).toThrow(
      expect.objectContaining({ code: 'invalid-config', message: expect.stringMatching(says) }),
    );
    expect(refused).not.toThrow(PKCS1.split('\n')[2] ?? '');
  });

  it('without its id, or with its name, are refused', () => {
    expect(() => loadApp({ FAULTLINE_GITHUB_APP_KEY: PKCS1 })).toThrow(
      /FAULTLINE_GITHUB_APP_ID .*is not set/,
    );
    expect(() => loadApp({ FAULTLINE_GITHUB_APP_ID: 'faultline', FAULTLINE_GITHUB_APP_KEY: PKCS1 })).toThrow(
      /App's number/,
    );
  });

  it.each([
    ['as it is', (key: string) => key],
    ['on one line', (key: string) => JSON.stringify({ key })],
    ['without line ends', (key: string) => key.replaceAll('\n', '')],
    ['in part', (key: string) => key.split('\n').slice(4, 9).join(' ')],
  ])('contain a key that is masked everywhere, %s', async (_how, spelt) => {
    const masker = createMasker(createMaskingOptions(load({ ...id, FAULTLINE_GITHUB_APP_KEY: PKCS1 })));
    const [hidden] = await masker.maskAll([`it said ${spelt(PKCS1)} and went on`]);
    const lines = PKCS1.split('\n').filter((line) => line.length > 20 && !line.startsWith('-----'));
    for (const line of lines) expect(hidden?.text).not.toContain(line.slice(8, 40));
    expect(hidden?.text).toMatch(/^it said .*and went on$/s);
  });
});
