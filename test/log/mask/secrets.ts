import fc from 'fast-check';
import { computeEntropy } from '../../../src/log/mask/span.ts';

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const chars = (alphabet: string, length: number) =>
  fc.string({ unit: fc.constantFrom(...alphabet), minLength: length, maxLength: length });
/** As a key generator makes them: never "AAAA…". */
const random = (alphabet: string, length: number) =>
  chars(alphabet, length).filter((text) => computeEntropy(text) >= Math.min(3, Math.log2(length) - 0.6));
const mixed = (length: number) => random(ALPHANUMERIC, length - 3).map((text) => `a7Q${text}`);
const hex = (length: number) => random('0123456789abcdef', length - 2).map((text) => `${text}7e`);
const base64 = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((some) => Buffer.from(some.map((byte, at) => byte ^ (at * 37))).toString('base64'));

const alphanumeric = (length: number) => random(ALPHANUMERIC, length);
const upper = (length: number) => random('ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789', length);

/** A secret as it is in logs: the text before, the secret itself, the text after. */
export type Planted = readonly [before: string, secret: string, after: string];

/** Tokens that tell what they are wherever they stand. */
export const TOKENS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'Telegram bot token': fc
    .tuple(fc.integer({ min: 100_000_000, max: 9_999_999_999 }), mixed(33))
    .map(([id, s]) => `${id}:AA${s}`),
  'Brevo key': fc.tuple(hex(64), mixed(16)).map(([a, b]) => `xkeysib-${a}-${b}`),
  'Mailgun key': hex(32).map((s) => `key-${s}`),
  'Mailchimp key': fc.tuple(hex(32), fc.integer({ min: 1, max: 21 })).map(([s, n]) => `${s}-us${n}`),
  'Square access token': mixed(22).map((s) => `sq0atp-${s}`),
  'Square production token': mixed(60).map((s) => `EAAA${s}`),
  'Facebook token': mixed(170).map((s) => `EAAG${s}`),
  'Facebook page token': mixed(120).map((s) => `EAAM${s}`),
  'AWS Bedrock key': base64(99).map((s) => `ABSK${s.replaceAll('=', '')}`),
  'AWS Bedrock short-term key': base64(120).map(
    (s) => `bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t${s.replaceAll('=', '')}`,
  ),
  'Twilio API key': hex(32).map((s) => `SK${s}`),
  'OpenShift token': mixed(43).map((s) => `sha256~${s}`),
  'Sourcegraph token': fc.tuple(hex(16), hex(40)).map(([a, b]) => `sgp_${a}_${b}`),
  'Dynatrace token': fc.tuple(upper(24), upper(64)).map(([a, b]) => `dt0c01.${a}.${b}`),
  'JFrog reference token': mixed(59).map((s) => `cmVmd${s}`),
  'Cloudflare origin CA key': fc.tuple(hex(24), hex(146)).map(([a, b]) => `v1.0-${a}-${b}`),
  '1Password secret key': fc
    .tuple(upper(6), upper(6), upper(5), upper(5), upper(5), upper(5))
    .map((parts) => `A3-${parts.join('-')}`),
  '1Password service account': base64(200).map((s) => `ops_eyJ${s.replaceAll('=', '').replaceAll('/', 'a')}`),
  'EasyPost key': mixed(54).map((s) => `EZAK${s}`),
  'Shippo token': hex(40).map((s) => `shippo_live_${s}`),
  'Flutterwave key': hex(32).map((s) => `FLWSECK_TEST-${s}-X`),
  'Flutterwave live key': hex(32).map((s) => `FLWSECK-${s}-X`),
  'Duffel token': mixed(43).map((s) => `duffel_live_${s}`),
  'Prefect key': mixed(36).map((s) => `pnu_${s}`),
  'ReadMe key': random('abcdefghijklmnopqrstuvwxyz0123456789', 70).map((s) => `rdme_${s}`),
  'Harness key': fc
    .tuple(mixed(22), alphanumeric(24), alphanumeric(20))
    .map(([a, b, c]) => `pat.${a}.${b}.${c}`),
  'Infracost key': mixed(32).map((s) => `ico-${s}`),
  'GitLab runner registration token': mixed(20).map((s) => `GR1348941${s}`),
  'GitLab feature flag token': mixed(20).map((s) => `glffct-${s}`),
  'Azure AD client secret': fc.tuple(mixed(3), fc.nat(9), mixed(34)).map(([a, n, b]) => `${a}${n}Q~${b}`),
  'Fly.io token': base64(150).map((s) => `fm2_${s.replaceAll('=', '')}`),
  'Adafruit key': mixed(28).map((s) => `aio_${s}`),
  'Contentful token': mixed(43).map((s) => `CFPAT-${s}`),
  'Groq key': mixed(52).map((s) => `gsk_${s}`),
  'Notion token': fc.tuple(random('0123456789', 11), mixed(35)).map(([a, b]) => `ntn_${a}${b}`),
  'Vercel token': mixed(48).map((s) => `vcp_${s}`),
  'Figma token': mixed(40).map((s) => `figd_${s}`),
  'Grafana service account token': fc.tuple(mixed(32), hex(8)).map(([a, b]) => `glsa_${a}_${b}`),
  'Postman key': fc.tuple(hex(24), hex(34)).map(([a, b]) => `PMAK-${a}-${b}`),
  'PlanetScale token': mixed(43).map((s) => `pscale_tkn_${s}`),
};

/** One of every kind that masking knows; names as their makers call them. */
export const SECRETS: Readonly<Record<string, fc.Arbitrary<Planted>>> = {
  ...Object.fromEntries(
    Object.entries(TOKENS).map(([name, token]) => [name, token.map((s): Planted => ['using ', s, ' now'])]),
  ),
  'Telegram address': mixed(33).map((s) => [
    'GET https://api.telegram.org/',
    `bot7201534890:AA${s}`,
    '/getMe 404',
  ]),
  'Discord bot token': fc
    .tuple(mixed(23), mixed(6), mixed(38))
    .map(([a, b, c]) => ['Authorization: Bot ', `M${a}.${b}.${c}`, '']),
  'Discord token': fc
    .tuple(mixed(23), mixed(6), mixed(38))
    .map(([a, b, c]) => ['discord login ', `M${a}.${b}.${c}`, '']),
  'Facebook app token': mixed(27).map((s) => [
    'GET https://graph.facebook.com/me?access_token=',
    `270123456789012|${s}`,
    '',
  ]),
  'Octopus key': upper(26).map((s) => ['octo push --apiKey ', `API-${s}`, '']),
  'Vault token of old': mixed(24).map((s) => ['vault login ', `s.${s}`, '']),
  'Vault token of old, assigned': mixed(24).map((s) => ['VAULT_TOKEN=', `s.${s}`, '']),
  'Sonar login': hex(40).map((s) => ['mvn sonar:sonar -Dsonar.login=', s, '']),
  'Bundler credentials': fc
    .tuple(hex(8), hex(8))
    .map(([a, b]) => ['BUNDLE_GEMS__EXAMPLE__COM: "', `${a}:${b}`, '"']),
  'Asana token': random('0123456789', 16).map((s) => ['ASANA_TOKEN=', s, '']),
  'Snyk key': fc
    .uuid({ version: 4 })
    .filter((s) => computeEntropy(s) >= 3.2)
    .map((s) => ['SNYK_KEY = "', s, '"']),
  'conditional assignment': mixed(24).map((s) => ['DEPLOY_TOKEN ?= ', s, '']),
  'POSIX make assignment': mixed(24).map((s) => ['DEPLOY_TOKEN ::= ', s, '']),
  'appended string': mixed(24).map((s) => ["$deployToken .= '", s, "';"]),
  'typed variable': mixed(24).map((s) => ['var deployToken string = "', s, '"']),
  'typed constant': mixed(24).map((s) => ['const deployToken: string = "', s, '";']),
  'call that sets a property': mixed(24).map((s) => ['System.setProperty("DEPLOY_TOKEN", "', s, '");']),
  'attributes of XML': mixed(24).map((s) => ['<add key="DeployToken" value="', s, '" />']),
  'element of XML': mixed(24).map((s) => ['<deployToken>', s, '</deployToken>']),
  'element of XML over lines': mixed(24).map((s) => ['<deployToken>\n    ', s, '\n</deployToken>']),
  'block of YAML': mixed(24).map((s) => ['deploy_token: |\n  ', s, '']),
  'curl user, quoted': mixed(10).map((s) => ["curl -u 'ci':'", s, "' https://x.example.com"]),
  'curl token for user': mixed(24).map((s) => ['curl -u ', s, ': https://x.example.com']),
  'Dynatrace header': mixed(32).map((s) => ['Authorization: Api-Token ', s, '']),
  'Okta header': mixed(40).map((s) => ['Authorization: SSWS ', `00${s}`, '']),
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
  'Azure storage key': base64(64).map((s) => [
    'AccountName=ci;AccountKey=',
    s,
    ';EndpointSuffix=core.windows.net',
  ]),
  'Azure shared access signature': base64(32).map((s) => [
    '?sv=2022-11-02&se=2030-01-01&sig=',
    encodeURIComponent(`a7${s}`),
    '&sp=r',
  ]),
  'Azure client secret': mixed(34).map((s) => ['', `abc8Q~${s}`, '']),
  'Azure DevOps token': mixed(76).map((s) => ['pat ', `${s}AZDOa1b2`, '']),
  'Faultline token': mixed(49).map((s) => ['faultline --token ', `flt_${s}`, ' ask']),
  'npm token': mixed(36).map((s) => ['//registry.example.com/:_authToken=', `npm_${s}`, '']),
  'npm legacy token': mixed(36).map((s) => ['//registry.example.com/:_authToken=', s, '']),
  'PyPI token': mixed(80).map((s) => ['twine -p ', `pypi-AgEIcHlwaS5vcmc${s}`, '']),
  'RubyGems key': hex(48).map((s) => ['', `rubygems_${s}`, '']),
  'NuGet key': random('abcdefghijklmnopqrstuvwxyz0123456789', 43).map((s) => [
    'nuget push -k ',
    `oy2${s}`,
    '',
  ]),
  'Docker token': mixed(27).map((s) => ['docker login -p ', `dckr_pat_${s}`, '']),
  'Docker password': mixed(12).map((s) => ['$ docker login -u ci -p ', s, ' registry.example.com']),
  'Docker configuration': mixed(14).map((s) => [
    '{"auths":{"r.example.com":{"auth":"',
    Buffer.from(`ci:${s}`).toString('base64'),
    '"}}}',
  ]),
  'Docker configuration in base64': mixed(14).map((s) => [
    '.dockerconfigjson: ',
    Buffer.from(`{"auths":{"r.example.com":{"auth":"${s}"}}}`).toString('base64'),
    '',
  ]),
  'Slack token': mixed(24).map((s) => ['', `xoxb-123456789012-1234567890123-${s}`, '']),
  'Slack app token': mixed(40).map((s) => ['', `xapp-1-A0B1C2D3E4F-1234567890123-${s}`, '']),
  'Slack webhook': mixed(24).map((s) => [
    'https://hooks.slack.com/services/',
    `T0A1B2C3D/B4E5F6G7H/${s}`,
    '',
  ]),
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
    .filter((s) => computeEntropy(s) >= 3.2)
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
  'Hugging Face token': random('abcdefghijklmnopqrstuvwxyzABCDEFGH', 34).map((s) => [
    'login ',
    `hf_${s}`,
    '',
  ]),
  'Linear key': mixed(40).map((s) => ['', `lin_api_${s}`, '']),
  'JSON web token': fc
    .tuple(mixed(20), mixed(30), mixed(43))
    .map(([a, b, c]) => ['jwt ', `eyJ${a}.eyJ${b}.${c}`, '']),
  'bearer header': mixed(32).map((s) => ['> Authorization: Bearer ', s, '']),
  'basic header': mixed(14).map((s) => [
    'authorization: Basic ',
    Buffer.from(`ci:${s}`).toString('base64'),
    '',
  ]),
  'GitLab header': mixed(20).map((s) => [
    'curl --header "PRIVATE-TOKEN: ',
    s,
    '" https://gitlab.example.com/api',
  ]),
  'session cookie': mixed(32).map((s) => ['< Set-Cookie: JSESSIONID=', s, '; Path=/; HttpOnly']),
  'password in a URL': mixed(14).map((s) => ['git clone https://ci:', s, '@git.example.com/x.git']),
  'token as user in a URL': mixed(30).map((s) => ['https://', s, '@git.example.com/x.git']),
  'database URL': mixed(16).map((s) => ['DATABASE_URL=postgres://app:', s, '@db:5432/app']),
  'JDBC URL': mixed(12).map((s) => ['jdbc:postgresql://db:5432/app?user=app&password=', s, '&ssl=true']),
  'JDBC URL of SQL Server': mixed(12).map((s) => [
    'jdbc:sqlserver://db:1433;user=sa;password=',
    s,
    ';encrypt=false',
  ]),
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
  'kubeconfig key': base64(90).map((s) => [
    '    client-key-data: ',
    `LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQ${s}`,
    '',
  ]),
  'PEM in base64': base64(90).map((s) => [
    'tls.key: ',
    Buffer.from(`-----BEGIN EC PRIVATE KEY-----\n${s}\n`).toString('base64'),
    '',
  ]),
  'PEM on one line': base64(90).map((s) => [
    'KEY="-----BEGIN OPENSSH PRIVATE KEY-----\\n',
    s,
    '\\n-----END OPENSSH PRIVATE KEY-----"',
  ]),
  'PGP key on one line': base64(90).map((s) => [
    '-----BEGIN PGP PRIVATE KEY BLOCK-----\\n\\n',
    s,
    '\\n-----END PGP PRIVATE KEY BLOCK-----',
  ]),
};
