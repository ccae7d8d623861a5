import { z } from 'zod';
import type { Build } from '../../domain/build.ts';
import { clockFindings, type Examination, type Finding, note, ok, wrong } from '../../ports/examination.ts';
import { commentRule, statusRule } from '../notice-rules.ts';
import { below, broken, type Probe, type ProbeReply, probe, rejected } from '../probe.ts';
import type { Provider, ProviderChannel } from '../provider.ts';
import type { GiteaSettings } from './settings.ts';
import { giteaWebhook } from './webhook.ts';

/** Gitea and Forgejo: Actions, code, comments and commit statuses, with a token. */
export function giteaProvider(settings: GiteaSettings): Provider {
  const { baseUrl, token, webhookSecrets } = settings;
  const credentials = { baseUrl, token };
  return {
    name: 'gitea',
    webhook: giteaWebhook(webhookSecrets),
    secrets: [...webhookSecrets, ...(token === null ? [] : [token])],
    openBuildSource: async (options) => (await import('./build-source.ts')).createGiteaBuildSource({ ...credentials, ...options }),
    code: {
      configured: baseUrl !== null && token !== null,
      baseUrl: baseUrl ?? '',
      open: async ({ timeoutMs }) => (await import('./code-host.ts')).createGiteaHost({ ...credentials, timeoutMs }),
    },
    channels: channelsOf(settings),
    health: baseUrl === null || token === null ? null : async (signal) => healthOf(await probe(userProbe(baseUrl, token), signal)),
    examine: () => (baseUrl === null && webhookSecrets.length === 0 ? [] : [examination(settings)]),
  };
}

function channelsOf(settings: GiteaSettings): ProviderChannel[] {
  const { baseUrl, token, comment, status } = settings;
  const credentials = { baseUrl, token };
  const canWrite = baseUrl !== null && token !== null;
  const because = 'FAULTLINE_GITEA_URL and FAULTLINE_GITEA_TOKEN are not both set';
  const channels: ProviderChannel[] = [];
  if (comment) {
    const rule = commentRule({ channel: 'gitea-comment', isOfOurs: isBelow(baseUrl) });
    const open: ProviderChannel['open'] = async ({ publicUrl }) => {
      const { createGiteaCommentClient } = await import('./notices.ts');
      return (await import('../notice-channels.ts')).commentChannel(rule, createGiteaCommentClient(credentials), publicUrl);
    };
    channels.push(canWrite ? { rule, open } : { rule, open: null, because });
  }
  if (status) {
    const rule = statusRule({ channel: 'gitea-status', isOfOurs: isBelow(baseUrl) });
    const open: ProviderChannel['open'] = async ({ publicUrl }) => {
      const { createGiteaStatusClient } = await import('./notices.ts');
      return (await import('../notice-channels.ts')).statusChannel(rule, createGiteaStatusClient(credentials), publicUrl);
    };
    channels.push(canWrite ? { rule, open } : { rule, open: null, because });
  }
  return channels;
}

/** Its own builds, and those uploaded from a job that ran there. */
function isBelow(baseUrl: string | null): (build: Build) => boolean {
  const site = baseUrl?.replace(/\/api\/v1$/, '/') ?? null;
  return ({ provider, url }) => provider === 'gitea' || (provider === 'upload' && site !== null && url?.startsWith(site) === true);
}

function userProbe(baseUrl: string, token: string | null): Probe {
  return { url: below(baseUrl, 'version'), headers: token === null ? {} : { authorization: `token ${token}` } };
}

const Version = z.object({ version: z.string() });

function healthOf({ status, json }: ProbeReply): string {
  if (status === 401 || status === 403) throw rejected('Gitea', 'the token');
  if (status >= 400) throw broken('Gitea', status);
  const version = Version.safeParse(json).data?.version;
  return version === undefined ? 'answers' : `version ${version}`;
}

function examination({ baseUrl, token }: GiteaSettings): Examination {
  const name = 'gitea';
  return {
    name,
    mend: 'check FAULTLINE_GITEA_URL: is Gitea or Forgejo running there, and can this machine reach it?',
    ask: async (signal) => {
      if (baseUrl === null)
        return note(name, 'no URL: logs of its builds cannot be fetched', 'set FAULTLINE_GITEA_URL and FAULTLINE_GITEA_TOKEN');
      if (token === null)
        return note(name, 'no token: logs of private repositories cannot be fetched', 'set FAULTLINE_GITEA_TOKEN (read:repository)');
      const reply = await probe(userProbe(baseUrl, token), signal);
      return [...clockFindings('gitea clock', reply.aheadMs), finding(reply)];
    },
  };
}

function finding({ status, json }: ProbeReply): Finding {
  const name = 'gitea';
  if (status === 401 || status === 403)
    return wrong(name, `the token is refused (${status})`, 'create a token with read:repository and set FAULTLINE_GITEA_TOKEN');
  const version = Version.safeParse(json);
  if (status >= 300 || !version.success)
    return wrong(
      name,
      'the server there is not the API of Gitea or Forgejo',
      'check FAULTLINE_GITEA_URL: its API lies at https://HOST/api/v1',
    );
  return ok(name, `version ${version.data.version}`);
}
