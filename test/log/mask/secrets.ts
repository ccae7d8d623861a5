import fc from 'fast-check';
import { entropy } from '../../../src/log/mask/judge.ts';

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const chars = (alphabet: string, length: number) => fc.string({ unit: fc.constantFrom(...alphabet), minLength: length, maxLength: length });
/** As a key generator makes them: never "AAAA…". */
const random = (alphabet: string, length: number) =>
  chars(alphabet, length).filter((text) => entropy(text) >= Math.min(3, Math.log2(length) - 0.6));
const mixed = (length: number) => random(ALPHANUMERIC, length - 3).map((text) => `a7Q${text}`);
const hex = (length: number) => random('0123456789abcdef', length - 2).map((text) => `${text}7e`);
const base64 = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((some) => Buffer.from(some.map((byte, at) => byte ^ (at * 37))).toString('base64'));

/** A secret as it stands in logs: the text before, the secret itself, the text after. */
export type Planted = readonly [before: string, secret: string, after: string];

/** One of every kind that masking knows; names as their makers call them. */
export const SECRETS: Readonly<Record<string, fc.Arbitrary<Planted>>> = {
  'GitHub token': mixed(36).map((s) => ['using ', `ghp_${s}`, ' now']),
  'GitHub server token': mixed(36).map((s) => ['', `ghs_${s}`, '']),
  'GitHub fine-grained token': mixed(82).map((s) => ['token ', `github_pat_${s}`, '']),
  'GitLab token': mixed(20).map((s) => ['', `glpat-${s}`, '']),
  'GitLab routable token': mixed(27).map((s) => ['', `glpat-${s}.01.0w1abcd2e`, '']),
  'GitLab job token': mixed(24).map((s) => ['', `glcbt-${s}`, '']),
  'AWS key id': random(BASE32, 16).map((s) => ['key ', `AKIA${s}`, ' used']),
  'AWS secret key': mixed(40).map((s) => ['AWS_SECRET_ACCESS_KEY=', s, '']),
  'AWS session token': base64(120).map((s) => ['export AWS_SESSION_TOKEN="', `IQoJ9${s}`, '"']),
  'Google API key': mixed(35).map((s) => ['?key=', `AIza${s}`, '&x=1']),
  'Google client secret': mixed(28).map((s) => ['', `GOCSPX-${s}`, '']),
  'Google access token': mixed(60).map((s) => ['', `ya29.${s}`, '']),
  'Google service account': base64(60).map((s) => [
    '{"private_key": "-----BEGIN PRIVATE KEY-----\\n',
    `MII${s}`,
    '\\n-----END PRIVATE KEY-----\\n",',
  ]),
  'Azure storage key': base64(64).map((s) => ['AccountName=ci;AccountKey=', s, ';EndpointSuffix=core.windows.net']),
  'Azure shared access signature': base64(32).map((s) => ['?sv=2022-11-02&se=2030-01-01&sig=', encodeURIComponent(`a7${s}`), '&sp=r']),
  'Azure client secret': mixed(34).map((s) => ['', `abc8Q~${s}`, '']),
  'Azure DevOps token': mixed(76).map((s) => ['pat ', `${s}AZDOa1b2`, '']),
  'Faultline token': mixed(49).map((s) => ['faultline --token ', `flt_${s}`, ' ask']),
  'npm token': mixed(36).map((s) => ['//registry.example.com/:_authToken=', `npm_${s}`, '']),
  'npm legacy token': mixed(36).map((s) => ['//registry.example.com/:_authToken=', s, '']),
  'PyPI token': mixed(80).map((s) => ['twine -p ', `pypi-AgEIcHlwaS5vcmc${s}`, '']),
  'RubyGems key': hex(48).map((s) => ['', `rubygems_${s}`, '']),
  'NuGet key': random('abcdefghijklmnopqrstuvwxyz0123456789', 43).map((s) => ['nuget push -k ', `oy2${s}`, '']),
  'Docker token': mixed(27).map((s) => ['docker login -p ', `dckr_pat_${s}`, '']),
  'Docker password': mixed(12).map((s) => ['$ docker login -u ci -p ', s, ' registry.example.com']),
  'Docker configuration': mixed(14).map((s) => ['{"auths":{"r.example.com":{"auth":"', Buffer.from(`ci:${s}`).toString('base64'), '"}}}']),
  'Docker configuration in base64': mixed(14).map((s) => [
    '.dockerconfigjson: ',
    Buffer.from(`{"auths":{"r.example.com":{"auth":"${s}"}}}`).toString('base64'),
    '',
  ]),
  'Slack token': mixed(24).map((s) => ['', `xoxb-123456789012-1234567890123-${s}`, '']),
  'Slack app token': mixed(40).map((s) => ['', `xapp-1-A0B1C2D3E4F-1234567890123-${s}`, '']),
  'Slack webhook': mixed(24).map((s) => ['https://hooks.slack.com/services/', `T0A1B2C3D/B4E5F6G7H/${s}`, '']),
  'Discord webhook': mixed(68).map((s) => ['https://discord.com/api/webhooks/123456789012345678/', s, '']),
  'SendGrid key': fc.tuple(mixed(22), mixed(43)).map(([a, b]) => ['send with ', `SG.${a}.${b}`, '']),
  'Stripe key': mixed(24).map((s) => ['', `sk_live_${s}`, '']),
  'Stripe webhook secret': mixed(32).map((s) => ['', `whsec_${s}`, '']),
  'Twilio key': hex(32).map((s) => ['twilio ', `SK${s}`, '']),
  'Twilio auth token': hex(32).map((s) => ['TWILIO_AUTH_TOKEN=', s, '']),
  'Datadog key': hex(32).map((s) => ['DD_API_KEY=', s, '']),
  'Heroku key': mixed(50).map((s) => ['', `HRKU-${s}`, '']),
  'Heroku key of old': fc
    .uuid({ version: 4 })
    .filter((s) => entropy(s) >= 3.2)
    .map((s) => ['HEROKU_API_KEY=', s, '']),
  'Vault token': mixed(95).map((s) => ['', `hvs.${s}`, '']),
  'Vault token, short': mixed(24).map((s) => ['', `hvs.${s}`, '']),
  'Terraform Cloud token': fc.tuple(mixed(14), mixed(67)).map(([a, b]) => ['', `${a}.atlasv1.${b}`, '']),
  'Databricks token': hex(32).map((s) => ['', `dapi${s}`, '']),
  'OpenAI key': fc.tuple(mixed(20), mixed(20)).map(([a, b]) => ['', `sk-${a}T3BlbkFJ${b}`, '']),
  'OpenAI project key': mixed(120).map((s) => ['', `sk-proj-${s}`, '']),
  'Anthropic key': mixed(93).map((s) => ['', `sk-ant-api03-${s}AA`, '']),
  'Sentry DSN': hex(32).map((s) => ['SENTRY_DSN=https://', s, '@o12345.ingest.sentry.io/678']),
  'Sentry token': base64(60).map((s) => ['', `sntrys_${s.replaceAll('=', '')}`, '']),
  'CircleCI token': mixed(60).map((s) => ['', `CCIPAT_${s}`, '']),
  'Buildkite token': mixed(40).map((s) => ['', `bkua_${s}`, '']),
  'SonarQube token': hex(40).map((s) => ['', `sqp_${s}`, '']),
  'Atlassian token': mixed(180).map((s) => ['', `ATATT3xFfGF0${s}`, '']),
  'DigitalOcean token': hex(64).map((s) => ['', `dop_v1_${s}`, '']),
  'Pulumi token': hex(40).map((s) => ['', `pul-${s}`, '']),
  'Artifactory key': mixed(69).map((s) => ['X-JFrog-Art-Api: ', `AKCp${s}`, '']),
  'Shopify token': hex(32).map((s) => ['', `shpat_${s}`, '']),
  'Hugging Face token': random('abcdefghijklmnopqrstuvwxyzABCDEFGH', 34).map((s) => ['login ', `hf_${s}`, '']),
  'Linear key': mixed(40).map((s) => ['', `lin_api_${s}`, '']),
  'JSON web token': fc.tuple(mixed(20), mixed(30), mixed(43)).map(([a, b, c]) => ['jwt ', `eyJ${a}.eyJ${b}.${c}`, '']),
  'bearer header': mixed(32).map((s) => ['> Authorization: Bearer ', s, '']),
  'basic header': mixed(14).map((s) => ['authorization: Basic ', Buffer.from(`ci:${s}`).toString('base64'), '']),
  'GitLab header': mixed(20).map((s) => ['curl --header "PRIVATE-TOKEN: ', s, '" https://gitlab.example.com/api']),
  'session cookie': mixed(32).map((s) => ['< Set-Cookie: JSESSIONID=', s, '; Path=/; HttpOnly']),
  'password in a URL': mixed(14).map((s) => ['git clone https://ci:', s, '@git.example.com/x.git']),
  'token as user in a URL': mixed(30).map((s) => ['https://', s, '@git.example.com/x.git']),
  'database URL': mixed(16).map((s) => ['DATABASE_URL=postgres://app:', s, '@db:5432/app']),
  'JDBC URL': mixed(12).map((s) => ['jdbc:postgresql://db:5432/app?user=app&password=', s, '&ssl=true']),
  'JDBC URL of SQL Server': mixed(12).map((s) => ['jdbc:sqlserver://db:1433;user=sa;password=', s, ';encrypt=false']),
  'JDBC URL of Oracle': mixed(12).map((s) => ['jdbc:oracle:thin:app/', s, '@db:1521:xe']),
  'netrc line': mixed(12).map((s) => ['machine git.example.com login ci password ', s, '']),
  'curl user': mixed(10).map((s) => ['curl -sSf -u ci:', s, ' https://x.example.com']),
  'MySQL option': mixed(10).map((s) => ['mysql -h db -uroot -p', s, ' -e "select 1"']),
  PGPASSWORD: mixed(10).map((s) => ['PGPASSWORD=', s, ' psql -h db']),
  'Windows share': mixed(12).map((s) => ['net use Z: \\\\server\\share ', s, ' /user:ci']),
  'token assignment': mixed(24).map((s) => ['export DEPLOY_TOKEN=', s, '']),
  'quoted password': mixed(16).map((s) => ['  "password": "', s, '",']),
  'password in XML': mixed(10).map((s) => ['<password>', s, '</password>']),
  'YAML secret': mixed(20).map((s) => ['client_secret: ', s, '']),
  'command-line option': mixed(24).map((s) => ['deploy --api-key ', s, ' --yes']),
  'signed URL': mixed(40).map((s) => ['https://x.example.com/f?Signature=', s, '&Expires=1']),
  'random key': mixed(44).map((s) => ['ENCRYPTION_KEY=', s, '']),
  'kubeconfig key': base64(90).map((s) => ['    client-key-data: ', `LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQ${s}`, '']),
  'PEM in base64': base64(90).map((s) => ['tls.key: ', Buffer.from(`-----BEGIN EC PRIVATE KEY-----\n${s}\n`).toString('base64'), '']),
  'PEM on one line': base64(90).map((s) => ['KEY="-----BEGIN OPENSSH PRIVATE KEY-----\\n', s, '\\n-----END OPENSSH PRIVATE KEY-----"']),
  'PGP key on one line': base64(90).map((s) => [
    '-----BEGIN PGP PRIVATE KEY BLOCK-----\\n\\n',
    s,
    '\\n-----END PGP PRIVATE KEY BLOCK-----',
  ]),
};
