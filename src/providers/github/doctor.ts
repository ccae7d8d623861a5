import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import { clockFindings, type Examination, type Finding, note, ok, wrong } from '../../ports/examination.ts';
import { silentLogger } from '../../ports/telemetry.ts';
import { below, broken, type Probe, type ProbeReply, probe, rejected } from '../probe.ts';
import type { Health, Provider } from '../provider.ts';
import type { GithubAppFacts } from './app.ts';
import type { GithubSettings } from './settings.ts';

const RateLimit = z.object({ resources: z.object({ core: z.object({ limit: z.number(), remaining: z.number(), reset: z.number() }) }) });
/** Below so many calls left in the hour, GitHub is about to refuse us. */
const FEW_CALLS = 100;
/** Of the repositories with a local clone, so many are asked about. */
const MAX_ASKED = 5;
/** Without it no log can be fetched; the others are missed by suspects from code. */
const LOGS = 'actions';
const APP = 'github app';

/** Where an App asks, its key is what can be wrong. */
export function githubHealth(settings: GithubSettings): Provider['health'] {
  const { app, token, baseUrl } = settings;
  if (app !== null) return async (signal) => `connected as the App ${(await askApp(settings, [], signal)).name}`;
  if (token === null) return null;
  return async (signal) => healthOf(await probe(limitProbe(baseUrl, token), signal));
}

function healthOf({ status, json }: ProbeReply): Health {
  if (status === 401) throw rejected('GitHub', 'the token');
  if (status >= 500) throw broken('GitHub', status);
  const limits = RateLimit.safeParse(json);
  if (!limits.success) return `returned ${status}`;
  const { limit, remaining, reset } = limits.data.resources.core;
  const says = `${remaining} of ${limit} calls left until ${new Date(reset * 1000).toISOString()}`;
  return remaining < Math.min(FEW_CALLS, limit / 10) ? { degraded: says } : says;
}

/** An App asks before the token, which then need not be there. */
export function examineGithub(settings: GithubSettings, repositories: readonly string[]): Examination[] {
  if (settings.app === null) return [tokenExamination(settings)];
  const app = appExamination(settings, repositories.slice(0, MAX_ASKED));
  return settings.token === null ? [app] : [app, tokenExamination(settings)];
}

function limitProbe(baseUrl: string, token: string): Probe {
  return { url: below(baseUrl, 'rate_limit'), headers: { authorization: `Bearer ${token}`, 'user-agent': 'faultline' } };
}

function tokenExamination({ baseUrl, token }: GithubSettings): Examination {
  const name = 'github';
  return {
    name,
    mend: `check FAULTLINE_GITHUB_URL (${baseUrl}) and whether this machine can reach it`,
    ask: async (signal) => {
      if (token === null)
        return note(
          name,
          'no token: logs of GitHub builds cannot be fetched',
          'set FAULTLINE_GITHUB_TOKEN (actions: read, contents: read), or FAULTLINE_GITHUB_APP_ID and FAULTLINE_GITHUB_APP_KEY',
        );
      const reply = await probe(limitProbe(baseUrl, token), signal);
      return [...clockFindings('github clock', reply.aheadMs), tokenFinding(reply)];
    },
  };
}

function tokenFinding({ status, headers, json }: ProbeReply): Finding {
  const name = 'github';
  if (status === 401)
    return wrong(name, 'the token is refused', 'create a new token and set FAULTLINE_GITHUB_TOKEN; the old one was revoked or has expired');
  if (status >= 300 && status !== 404)
    return wrong(name, `the API returned ${status}`, 'check FAULTLINE_GITHUB_URL: on GitHub Enterprise Server it is https://HOST/api/v3');
  const limits = RateLimit.safeParse(json);
  // Enterprise servers may have no rate limit, and then say 404.
  if (!limits.success && status !== 404)
    return wrong(
      name,
      'the server there is not the GitHub API',
      'check FAULTLINE_GITHUB_URL: on GitHub Enterprise Server it is https://HOST/api/v3',
    );
  const scopes = headers.get('x-oauth-scopes');
  // Only classic tokens say their scopes.
  if (scopes !== null && !scopes.split(',').some((scope) => scope.trim() === 'repo' || scope.trim() === 'public_repo'))
    return wrong(
      name,
      `the token's scopes "${scopes}" do not allow reading logs`,
      'give it the scope repo, or create a fine-grained token with actions: read and contents: read',
    );
  if (!limits.success) return ok(name, 'reachable, without a rate limit');
  const { limit, remaining, reset } = limits.data.resources.core;
  if (remaining === 0)
    return wrong(
      name,
      `all ${limit} calls of this hour are used up until ${new Date(reset * 1000).toISOString()}`,
      'wait, share the token with fewer tools, or use a GitHub App',
    );
  return ok(name, `${remaining} of ${limit} calls left this hour`);
}

/** Whether GitHub knows the configured App and its key, what it may read, and whether it sees the repositories that are configured by name. */
function appExamination(settings: GithubSettings, repositories: readonly string[]): Examination {
  return {
    name: APP,
    mend: `check FAULTLINE_GITHUB_APP_ID, FAULTLINE_GITHUB_APP_KEY and FAULTLINE_GITHUB_URL (${settings.baseUrl})`,
    ask: async (signal) => {
      const facts = await askApp(settings, repositories, signal);
      return [...clockFindings('github clock', facts.aheadMs), appFinding(facts, settings.token !== null)];
    },
  };
}

function appFinding({ name, url, installations, lacking, unseen }: GithubAppFacts, hasToken: boolean): Finding {
  const place = url === null ? 'in the settings of the App' : `at ${url}`;
  if (installations === 0) return wrong(APP, `${name} is not installed anywhere`, `install it ${place}`);
  if (lacking.includes(LOGS))
    return wrong(
      APP,
      `${name} cannot read Actions, so it cannot fetch logs`,
      'grant it actions: read, and accept the new permission in each installation',
    );
  if (lacking.length > 0)
    return note(APP, `${name} cannot read ${lacking.join(', ')}`, 'grant it read access to these for suspects from code');
  if (unseen.length > 0) {
    const without = hasToken ? 'the token is used instead' : 'nothing is read there';
    return note(APP, `${name} is not installed on ${unseen.join(', ')}: ${without}`, `install it there ${place}`);
  }
  return ok(APP, installations === null ? name : `${name}, installed ${installations} ${installations === 1 ? 'time' : 'times'}`);
}

/** Who the configured App is, and on which of these repositories it is not installed. */
async function askApp({ baseUrl, app }: GithubSettings, repositories: readonly string[], signal: AbortSignal): Promise<GithubAppFacts> {
  if (app === null) throw new TriageError('invalid-config', 'FAULTLINE_GITHUB_APP_ID is not set.');
  const { checkGithubApp } = await import('./app.ts');
  return checkGithubApp({ baseUrl, logger: silentLogger }, app, repositories, signal);
}
