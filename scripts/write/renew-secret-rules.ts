import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { translatePattern } from './secret-rules/translate.ts';

/**
 * Writes src/log/mask/gitleaks/ and the samples of its test from gitleaks, a Go module under the MIT license.
 * Needs Go and its module proxy.
 * `node scripts/write/renew-secret-rules.ts [VERSION]`; the newest unless one is given. Nothing of gitleaks' source is kept except its rules and its license.
 */
const MODULE = 'github.com/zricethezav/gitleaks/v8';
const ROOT = join(import.meta.dirname, '../..');
const DATA = join(ROOT, 'src/log/mask/gitleaks');
const SAMPLES = join(ROOT, 'test/log/mask/gitleaks-samples.br');
/** Keywords that replace those of a rule that are too common or not needed. */
const KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  'atlassian-api-token': ['atatt3'],
  'authress-service-client-access-key': ['.acc-', '.acc_'],
  'azure-ad-client-secret': [...'0123456789'].map((digit) => `${digit}q~`),
  'cloudflare-origin-ca-key': ['v1.0-'],
  'facebook-access-token': ['facebook', 'access_token'],
  'intra42-client-secret': ['s-s4t2'],
  'octopus-deploy-api-key': ['octopus', 'octo '],
  'sourcegraph-access-token': ['sgp_'],
  'vault-service-token': ['hvs.', 'vault login'],
};

/**
 * Rules that are left out: those about the context of a secret, for which the masker has its own rules, and
 * those that are narrower than the masker's.
 */
const LEFT_OUT: readonly string[] = `
  generic-api-key curl-auth-header curl-auth-user private-key kubernetes-secret-yaml pkcs12-file nuget-config-password hashicorp-tf-password
  jwt slack-webhook-url microsoft-teams-webhook sidekiq-sensitive-url freemius-secret-key

  github-pat github-fine-grained-pat github-oauth github-app-token github-refresh-token gitlab-deploy-token gitlab-pat
  gitlab-feature-flag-client-token gitlab-feed-token gitlab-incoming-mail-token gitlab-kubernetes-agent-token gitlab-ptt
  gitlab-oauth-app-secret gitlab-pat-routable gitlab-runner-authentication-token gitlab-runner-authentication-token-routable gitlab-scim-token
  gitlab-cicd-job-token slack-bot-token slack-user-token slack-app-token slack-config-access-token slack-config-refresh-token
  slack-legacy-bot-token slack-legacy-workspace-token slack-legacy-token npm-access-token pypi-upload-token gcp-api-key openai-api-key
  anthropic-api-key anthropic-admin-api-key perplexity-api-key vault-batch-token doppler-api-token flyio-access-token heroku-api-key-v2
  sentry-org-token sentry-user-token shopify-access-token shopify-custom-access-token shopify-private-app-access-token shopify-shared-secret
  huggingface-access-token linear-api-key 1password-service-account-token flutterwave-public-key flutterwave-secret-key
  flutterwave-encryption-key prefect-api-token sendgrid-api-token facebook-page-access-token twilio-api-key
`
  .trim()
  .split(/\s+/);

interface Printed {
  readonly id: string;
  readonly pattern: string;
  readonly keywords: readonly string[];
  readonly secret: readonly { readonly text: string; readonly secrets: readonly string[] }[];
  readonly harmless: readonly string[] | null;
}

interface TokenRule {
  readonly id: string;
  readonly keywords: readonly string[];
  readonly pattern: string;
}

interface NamedRule {
  readonly id: string;
  /** The part of the pattern for the name of the value. `value` is the part for the value. */
  readonly name: string;
  readonly value: string;
}

/**
 * The patterns around name and value in gitleaks' rules for assignments, and around the token in the others
 * (`utils.Generate…Regex`).
 */
const NAME_BEGINS = ['(?i)[\\w.-]{0,50}?(?:', '[\\w.-]{0,50}?(?i:[\\w.-]{0,50}?(?:'];
const NAME_ENDS = `)(?:[ \\t\\w.-]{0,20})[\\s'"]{0,3}`;
const ASSIGNS = `(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)[\\x60'"\\s=]{0,5}(`;
const BEGINS = ['\\b', `(?:^|[\\\\'"\\x60\\s>=:(,)])`];
const ENDS = [
  `(?:[\\x60'"\\s;]|\\\\[nr]|$)`,
  `(?:[\\x60'"\\s;]|\\\\[nr]|$|\\b)`,
  '(?:[^\\w-]|\\z)',
  '(?:[^a-zA-Z0-9+/]|\\z)',
  `(?:$|[\\\\'"\\x60\\s<),])`,
  '\\b',
];
/**
 * Changes of patterns. A commit's hash is not a token, and some tokens continue after the part that
 * identifies them.
 */
const EDITS: Readonly<Record<string, readonly [from: string, to: string]>> = {
  'sourcegraph-access-token': ['|[a-fA-F0-9]{40}', ''],
  'aws-amazon-bedrock-api-key-short-lived': [
    'YmVkcm9jay5hbWF6b25hd3MuY29t',
    'YmVkcm9jay5hbWF6b25hd3MuY29t[\\w+/=%-]{0,}',
  ],
};

const [asked = 'latest'] = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), 'secret-rules-'));
try {
  const { Dir: folder, Version: version } = JSON.parse(
    run('go', ['mod', 'download', '-json', `${MODULE}@${asked}`], work),
  ) as {
    Dir: string;
    Version: string;
  };
  const printed = printRules(folder);
  const rules = printed.filter(({ id }) => !LEFT_OUT.includes(id)).flatMap(createRules);
  const tokens = rules.filter((rule) => 'pattern' in rule);
  const named = rules.filter((rule) => 'value' in rule);
  copyFileSync(join(folder, 'LICENSE'), join(DATA, 'LICENSE'));
  chmodSync(join(DATA, 'LICENSE'), 0o644);
  writeFileSync(
    join(DATA, 'rules.json'),
    `${JSON.stringify({ source: MODULE, version, license: 'MIT', tokens, named }, null, 2)}\n`,
  );
  const samples = printed.map(({ id, secret, harmless }) => ({ id, secret, harmless: harmless ?? [] }));
  writeFileSync(SAMPLES, brotliCompressSync(JSON.stringify({ version, samples })));
  run('biome', ['format', '--write', join(DATA, 'rules.json')], ROOT);
  console.log(
    `${MODULE} ${version}: ${tokens.length} rules of tokens, ${named.length} of values with a name, ${LEFT_OUT.length} left out`,
  );
} finally {
  rmSync(work, { recursive: true, force: true });
}

/**
 * Runs gitleaks' own generator. Two of its files, which only validate and generate samples at random, are
 * replaced by ours.
 */
function printRules(folder: string): Printed[] {
  const copy = join(work, 'module');
  cpSync(folder, copy, { recursive: true });
  for (const source of ['cmd/generate/config/utils', 'cmd/generate/secrets'])
    for (const name of readdirSync(join(copy, source))) chmodSync(join(copy, source, name), 0o644);
  copyFileSync(
    join(ROOT, 'scripts/write/secret-rules/validate.go'),
    join(copy, 'cmd/generate/config/utils/validate.go'),
  );
  copyFileSync(
    join(ROOT, 'scripts/write/secret-rules/regen.go'),
    join(copy, 'cmd/generate/secrets/regen.go'),
  );
  const lines = run('go', ['run', '.', join(work, 'all.toml')], join(copy, 'cmd/generate/config'));
  return lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Printed);
}

function createRules({ id, pattern, keywords }: Printed): (TokenRule | NamedRule)[] {
  const begins = NAME_BEGINS.find((beginning) => pattern.startsWith(beginning));
  const middle = pattern.indexOf(ASSIGNS);
  if (begins === undefined || middle === -1) return [createTokenRule(id, keywords, pattern)];
  const name = pattern.slice(begins.length, pattern.indexOf(NAME_ENDS));
  const from = middle + ASSIGNS.length;
  const end = pattern.indexOf(`)${ENDS[0]}`, from);
  const flag = begins.startsWith('(?i)') ? '(?i)' : '';
  const rest = pattern.slice(end + 1 + (ENDS[0]?.length ?? 0));
  const rule = { id, name: translatePattern(name), value: translatePattern(flag + pattern.slice(from, end)) };
  return rest === '' ? [rule] : [rule, createTokenRule(id, keywords, rest.replace(/^\|/, ''))];
}

function createTokenRule(id: string, keywords: readonly string[], pattern: string): TokenRule {
  const [from, to] = EDITS[id] ?? ['', ''];
  const flag = pattern.startsWith('(?i)') ? '(?i)' : '';
  const begin = BEGINS.find((beginning) => pattern.startsWith(flag + beginning)) ?? '';
  const end = ENDS.find((ending) => pattern.endsWith(ending)) ?? '';
  const bare = pattern.slice(flag.length + begin.length, pattern.length - end.length).replace(from, () => to);
  const token = /^\((?!\?)/.test(bare) && end.length > 2 ? bare.slice(1, -1) : bare;
  return {
    id,
    keywords: KEYWORDS[id] ?? keywords.map((keyword) => keyword.toLowerCase()),
    pattern: translatePattern(flag + token),
  };
}

function run(command: string, words: readonly string[], folder: string): string {
  return execFileSync(command, words, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, GOFLAGS: '-mod=mod' },
  });
}
