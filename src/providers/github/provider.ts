import { createPrivateKey, createPublicKey } from 'node:crypto';
import { z } from 'zod';
import type { NoticeChannel } from '../../channels/channel.ts';
import {
  createApiUrlSchema,
  defineCredential,
  defineSetting,
  defineWebhookSecrets,
  defineWriteSetting,
} from '../../config/variable.ts';
import type { Build } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import { type Check, type Finding, findClockSkew, note, ok, wrong } from '../../ports/health.ts';
import { silentLogger } from '../../ports/telemetry.ts';
import { joinPath, OUTSIDE_FRESH_MS, type ProbeReply, probe } from '../check.ts';
import { readActionsPath } from '../named-runs.ts';
import { createHostChannels } from '../notice-rules.ts';
import type { Provider } from '../provider.ts';
import type { GithubAppFacts } from './check-app.ts';
import { githubWebhook } from './webhook.ts';

/**
 * Creates the provider for GitHub and GitHub Enterprise: Actions, code, comments, checks and commit statuses.
 * It works as an App if that is installed, else with a token.
 */
export function createGithubProvider(settings: GithubSettings): Provider {
  const { baseUrl, token, app, webhookSecrets } = settings;
  const credentials = { baseUrl, token, app };
  return {
    name: 'github',
    webhook: githubWebhook(webhookSecrets),
    secrets: [...webhookSecrets, ...(token === null ? [] : [token]), ...listKeyLines(app?.privateKey)],
    connection: async () =>
      (await import('./connection.ts')).createGithubConnection({ ...settings, siteUrl: toSiteUrl(baseUrl) }),
    openBuildSource: async (options) =>
      (await import('./build-source.ts')).createGithubBuildSource({ ...credentials, ...options }),
    openPastRuns: async (options) =>
      (await import('./build-source.ts')).createGithubPastRuns({ ...credentials, ...options }),
    code: {
      configured: token !== null || app !== null,
      baseUrl,
      open: async (options) =>
        (await import('./code-host.ts')).createGithubHost({ ...credentials, ...options }),
    },
    channels: createChannels(settings),
    runs: {
      site: toSiteUrl(baseUrl),
      form: `${toSiteUrl(baseUrl)}/OWNER/NAME/actions/runs/ID`,
      read: readActionsPath,
      buildPath: (repository, id) => `${repository}/actions/runs/${id}`,
      load: async (run, { logger, timeoutMs }, signal) =>
        (await import('./build-source.ts')).loadGithubRun({ ...credentials, logger }, run, timeoutMs, signal),
    },
    rerun: !settings.writes.includes('rerun')
      ? null
      : async (build, { logger, signal }) =>
          (await import('./build-source.ts')).rerunOnGithub({ ...credentials, logger }, build, signal),
    checks: (repositories) => listChecks(settings, repositories),
  };
}

/**
 * Returns the lines of a key, which are masked one by one because the line breaks of a key may also be
 * written as `\\n`. The header and footer, which all keys share, are left out.
 */
function listKeyLines(pem: string | undefined): readonly string[] {
  return (pem ?? '').split('\n').filter((line) => line !== '' && !line.startsWith('-----'));
}

/** The form of a repository's name on GitHub. The name of a Jenkins job may have any form. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9-]{0,38}\/[A-Za-z0-9._-]{1,100}$/;
/**
 * The origins of builds whose repository may be on GitHub. Jenkins builds and uploads may belong to GitHub
 * repositories too.
 */
const BUILT_BY: readonly Build['provider'][] = ['github', 'jenkins', 'upload'];
const isOfOurs = ({ repository, provider }: Build) => BUILT_BY.includes(provider) && NAME.test(repository);
/** The prefix of tokens of GitHub Apps and of Actions. */
const INSTALLATION_TOKEN = 'ghs_';

/** Returns the URL of the website that belongs to the API. */
function toSiteUrl(baseUrl: string): string {
  return baseUrl.replace('https://api.github.com', 'https://github.com').replace(/\/api\/v3\/?$/, '');
}

function createChannels({ baseUrl, token, app, writes: wanted }: GithubSettings): NoticeChannel[] {
  const credentials = { baseUrl, token, app };
  const isApp = app !== null || token?.startsWith(INSTALLATION_TOKEN) === true;
  const because = isApp || token !== null ? null : 'no token or App is configured to write it';
  const notices = () => import('./notices.ts');
  return createHostChannels({
    name: 'github',
    isOfOurs,
    commentPage: (repository, pullRequest, id) =>
      `${toSiteUrl(baseUrl)}/${repository}/pull/${pullRequest}#issuecomment-${id}`,
    comment: {
      wanted: wanted.includes('comment'),
      because,
      client: async (logger) => (await notices()).createGithubCommentClient({ ...credentials, logger }),
    },
    suggestion: async (logger) => (await notices()).createGithubSuggestionClient({ ...credentials, logger }),
    check: {
      wanted: wanted.includes('check'),
      because: because ?? (isApp ? null : 'only GitHub Apps can write checks'),
      client: async (logger) => (await notices()).createGithubCheckClient({ ...credentials, logger }),
    },
    status: {
      wanted: wanted.includes('status'),
      because,
      client: async (logger) => (await notices()).createGithubStatusClient({ ...credentials, logger }),
    },
  });
}

/** A GitHub App as configured. */
const GithubAppConfig = z.object({
  /** The id or client id of the App, as shown in its settings. */
  id: defineSetting(
    'FAULTLINE_GITHUB_APP_ID',
    z
      .string('is not set')
      .regex(
        /^(?:\d{1,20}|Iv[\w.]{8,60})$/,
        "must be the App's number or its client ID, which begins with Iv",
      ),
    'Number or client ID of a GitHub App with read access to Actions, contents and pull requests. ' +
      'Takes precedence over the token.',
  ),
  privateKey: defineSetting(
    'FAULTLINE_GITHUB_APP_KEY',
    z.string('is not set').transform((text, { issues }) => {
      const key = withLineEnds(text);
      const complaint = describeComplaint(key);
      if (complaint !== null) issues.push({ code: 'custom', message: complaint, input: '' });
      return key;
    }),
    'Private key of the App in PEM format, with real line breaks or \\n.',
    { secret: true },
  ),
});

/** The settings of GitHub: webhooks, the source of logs and code, and notices. */
export const GithubSettings = z.object({
  webhookSecrets: defineWebhookSecrets(
    'FAULTLINE_GITHUB_WEBHOOK_SECRET',
    'GitHub webhook secret. Two secrets, separated by a comma, during rotation.',
  ),
  /** The URL of the REST API. A URL from the browser is converted to it. */
  baseUrl: defineSetting(
    'FAULTLINE_GITHUB_URL',
    createApiUrlSchema(toGithubApiAddress).default('https://api.github.com'),
    'URL of GitHub or its API: https://ghe.example.com and https://ghe.example.com/api/v3 mean the same.',
  ),
  token: defineCredential(
    'FAULTLINE_GITHUB_TOKEN',
    'Token that can read Actions logs and, for suspects from code, contents and pull requests.',
  ),
  /**
   * The App. It takes precedence over the token, which is used for repositories on which the App is not
   * installed.
   */
  app: GithubAppConfig.nullable().default(null),
  writes: defineWriteSetting(
    'FAULTLINE_GITHUB_WRITES',
    ['comment', 'check', 'status', 'rerun'],
    'What may be written, separated by commas: comment (one on each pull request with a failed ' +
      'build, kept up to date, with suggestions if a job asks for them; needs write access to pull ' +
      'requests), check (a neutral check run for each failed build, with annotations; needs an App ' +
      'with write access to checks), status (a commit status; needs write access to commit statuses) ' +
      'and rerun (reviewers may re-run failed jobs; needs write access to Actions).',
  ),
});
export type GithubSettings = z.infer<typeof GithubSettings>;

const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;
/**
 * Paths of an Enterprise server in addresses copied from a browser or from the documentation of the GraphQL
 * API.
 */
const ENTERPRISE_PATH = /^\/(?:api(?:\/v3|\/graphql)?\/?)?$/;

/**
 * Returns the address of GitHub's REST API, given that address or one from the browser: github.com, an
 * Enterprise server (`https://host/api/v3`) or a tenant of ghe.com (`https://api.tenant.ghe.com`). A loopback
 * address, or one with another path, such as a proxy's, is kept. The result has no slash at the end. Throws a
 * TypeError if the text is not a URL.
 */
export function toGithubApiAddress(text: string): string {
  const url = new URL(text);
  const { hostname, pathname } = url;
  const address = `${url.origin}${pathname.replace(/\/$/, '')}`;
  if (LOOPBACK.test(hostname)) return address;
  if (/^(?:www\.|api\.)?github\.com$/.test(hostname)) return 'https://api.github.com';
  if (/^[a-z0-9-]{1,63}\.ghe\.com$/.test(hostname)) return `https://api.${hostname}`;
  if (/^api\.[a-z0-9-]{1,63}\.ghe\.com$/.test(hostname)) return `https://${hostname}`;
  return ENTERPRISE_PATH.test(pathname) ? `${url.origin}/api/v3` : address;
}

/** Restores the line breaks of a PEM key that was written on one line. */
function withLineEnds(text: string): string {
  return text.replaceAll('\\r', '').replaceAll('\\n', '\n').replaceAll('\r', '').trim();
}

const FILE = 'name the downloaded .pem file in FAULTLINE_GITHUB_APP_KEY_FILE';

/** Describes the problem of a key and its remedy without quoting the key; null if there is none. */
function describeComplaint(key: string): string | null {
  if (!key.startsWith('-----BEGIN '))
    return `is not a PEM private key, which begins with -----BEGIN; ${FILE}`;
  if (/^-----BEGIN [A-Z ]{0,20}PUBLIC KEY-----/.test(key))
    return 'is a public key; set the private key (.pem file) downloaded from GitHub';
  if (key.includes('ENCRYPTED')) return 'is protected by a passphrase; set the key as downloaded from GitHub';
  if (key.includes('OPENSSH')) return 'is an OpenSSH key; set the .pem file downloaded from GitHub';
  if (!key.includes('-----END ')) return `is cut off: write its line breaks as \\n, or ${FILE}`;
  try {
    const { asymmetricKeyType } = createPrivateKey(key);
    // Otherwise a key that cannot sign would only be noticed at the first build.
    createPublicKey(key);
    return asymmetricKeyType === 'rsa'
      ? null
      : `is a key of type ${asymmetricKeyType}; GitHub Apps use RSA keys`;
  } catch {
    return `is damaged; ${FILE}`;
  }
}

const RateLimit = z.object({
  resources: z.object({ core: z.object({ limit: z.number(), remaining: z.number(), reset: z.number() }) }),
});
/** The number of remaining calls in the hour below which GitHub is about to refuse requests. */
const FEW_CALLS = 100;
/** The maximum number of repositories with a local clone that are checked. */
const MAX_ASKED = 5;
/**
 * The permission without which no log can be fetched. The others are only needed to find suspects in code.
 */
const LOGS = 'actions';
const APP = 'github app';

/** Lists the checks for GitHub. The App has precedence over the token, which is then optional. */
function listChecks(settings: GithubSettings, repositories: readonly string[]): Check[] {
  if (settings.app === null) return [createTokenCheck(settings)];
  const app = createAppCheck(settings, repositories.slice(0, MAX_ASKED));
  return settings.token === null ? [app] : [app, createTokenCheck(settings)];
}

function createTokenCheck({ baseUrl, token, app }: GithubSettings): Check {
  const name = 'github';
  return {
    name,
    remedy: `check FAULTLINE_GITHUB_URL (${baseUrl}) and whether this machine can reach it`,
    // If there is an App, the service uses it.
    ...(token === null || app !== null ? {} : { freshMs: OUTSIDE_FRESH_MS }),
    ask: async (signal) => {
      if (token === null)
        return note(
          name,
          'no token: logs of GitHub builds cannot be fetched',
          'set FAULTLINE_GITHUB_TOKEN (actions: read, contents: read), or FAULTLINE_GITHUB_APP_ID ' +
            'and FAULTLINE_GITHUB_APP_KEY',
        );
      const headers = { authorization: `Bearer ${token}`, 'user-agent': 'faultline' };
      const reply = await probe({ url: joinPath(baseUrl, 'rate_limit'), headers }, signal);
      return [...findClockSkew('github clock', reply.aheadMs), createTokenFinding(reply)];
    },
  };
}

function createTokenFinding({ status, headers, json }: ProbeReply): Finding {
  const name = 'github';
  if (status === 401)
    return wrong(
      name,
      'the token is refused',
      'create a new token and set FAULTLINE_GITHUB_TOKEN; the old one was revoked or has expired',
    );
  if (status >= 300 && status !== 404)
    return wrong(
      name,
      `the API returned ${status}`,
      'check FAULTLINE_GITHUB_URL: on GitHub Enterprise Server it is https://HOST/api/v3',
    );
  const limits = RateLimit.safeParse(json);
  // Enterprise servers without a rate limit return 404.
  if (!limits.success && status !== 404)
    return wrong(
      name,
      'the server there is not the GitHub API',
      'check FAULTLINE_GITHUB_URL: on GitHub Enterprise Server it is https://HOST/api/v3',
    );
  const scopes = headers.get('x-oauth-scopes');
  // Only classic tokens report their scopes.
  if (
    scopes !== null &&
    !scopes.split(',').some((scope) => scope.trim() === 'repo' || scope.trim() === 'public_repo')
  )
    return wrong(
      name,
      `the token's scopes "${scopes}" do not allow reading logs`,
      'give it the scope repo, or create a fine-grained token with actions: read and contents: read',
    );
  if (!limits.success) return ok(name, 'reachable, without a rate limit');
  const { limit, remaining, reset } = limits.data.resources.core;
  const remedy = 'wait, share the token with fewer tools, or use a GitHub App';
  const end = new Date(reset * 1000).toISOString();
  if (remaining === 0) return wrong(name, `all ${limit} calls of this hour are used up until ${end}`, remedy);
  if (remaining < Math.min(FEW_CALLS, limit / 10))
    return note(name, `only ${remaining} of ${limit} calls left until ${end}`, remedy);
  return ok(name, `${remaining} of ${limit} calls left this hour`);
}

/**
 * Checks whether GitHub accepts the configured App and its key, which permissions it has, and whether it can
 * access the repositories that the configuration names.
 */
function createAppCheck(settings: GithubSettings, repositories: readonly string[]): Check {
  return {
    name: APP,
    backend: 'github',
    freshMs: OUTSIDE_FRESH_MS,
    remedy:
      'check FAULTLINE_GITHUB_APP_ID, FAULTLINE_GITHUB_APP_KEY and FAULTLINE_GITHUB_URL ' +
      `(${settings.baseUrl})`,
    ask: async (signal) => {
      const facts = await askApp(settings, repositories, signal);
      return [
        ...findClockSkew('github clock', facts.aheadMs),
        createAppFinding(facts, settings.token !== null),
      ];
    },
  };
}

function createAppFinding(
  { name, url, installations, lacking, unseen }: GithubAppFacts,
  hasToken: boolean,
): Finding {
  const place = url === null ? 'in the settings of the App' : `at ${url}`;
  if (installations === 0) return wrong(APP, `${name} is not installed anywhere`, `install it ${place}`);
  if (lacking.includes(LOGS))
    return wrong(
      APP,
      `${name} cannot read Actions, so it cannot fetch logs`,
      'grant it actions: read, and accept the new permission in each installation',
    );
  if (lacking.length > 0)
    return note(
      APP,
      `${name} cannot read ${lacking.join(', ')}`,
      'grant it read access to these for suspects from code',
    );
  if (unseen.length > 0) {
    const without = hasToken ? 'the token is used instead' : 'nothing is read there';
    return note(
      APP,
      `${name} is not installed on ${unseen.join(', ')}: ${without}`,
      `install it there ${place}`,
    );
  }
  return ok(
    APP,
    installations === null
      ? name
      : `${name}, installed ${installations} ${installations === 1 ? 'time' : 'times'}`,
  );
}

/** Returns facts about the configured App, and those of the repositories on which it is not installed. */
async function askApp(
  { baseUrl, app }: GithubSettings,
  repositories: readonly string[],
  signal: AbortSignal,
): Promise<GithubAppFacts> {
  if (app === null) throw new TriageError('invalid-config', 'FAULTLINE_GITHUB_APP_ID is not set.');
  const { checkGithubApp } = await import('./check-app.ts');
  return checkGithubApp({ baseUrl, logger: silentLogger }, app, repositories, signal);
}
