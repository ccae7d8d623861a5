import { z } from 'zod';
import type { Build } from '../../domain/build.ts';
import { clockFindings, type Examination, type Finding, note, ok, wrong } from '../../ports/examination.ts';
import { commentRule, statusRule } from '../notice-rules.ts';
import { below, broken, type Probe, type ProbeReply, probe, rejected } from '../probe.ts';
import type { Provider, ProviderChannel } from '../provider.ts';
import type { GitlabSettings } from './settings.ts';
import { gitlabWebhook } from './webhook.ts';

/** GitLab: pipelines, test reports, code, notes on merge requests and commit statuses, with a token of a project, a group or a person. */
export function gitlabProvider(settings: GitlabSettings): Provider {
  const { baseUrl, token, webhookSecrets } = settings;
  const credentials = { baseUrl, token };
  return {
    name: 'gitlab',
    webhook: gitlabWebhook(webhookSecrets),
    secrets: [...webhookSecrets, ...(token === null ? [] : [token])],
    openBuildSource: async (options) => (await import('./build-source.ts')).createGitlabBuildSource({ ...credentials, ...options }),
    code: {
      configured: token !== null,
      baseUrl,
      open: async ({ timeoutMs }) => (await import('./code-host.ts')).createGitlabHost({ ...credentials, timeoutMs }),
    },
    channels: channelsOf(settings),
    health: token === null ? null : async (signal) => healthOf(await probe(versionProbe(baseUrl, token), signal)),
    examine: () => (token === null && webhookSecrets.length === 0 ? [] : [examination(settings)]),
  };
}

function channelsOf(settings: GitlabSettings): ProviderChannel[] {
  const { baseUrl, token, comment, status } = settings;
  const credentials = { baseUrl, token };
  const because = 'FAULTLINE_GITLAB_TOKEN is not set';
  const channels: ProviderChannel[] = [];
  if (comment) {
    const rule = commentRule({ channel: 'gitlab-comment', isOfOurs: isBelow(baseUrl) });
    const open: ProviderChannel['open'] = async ({ publicUrl }) => {
      const { createGitlabCommentClient } = await import('./notices.ts');
      return (await import('../notice-channels.ts')).commentChannel(rule, createGitlabCommentClient(credentials), publicUrl);
    };
    channels.push(token === null ? { rule, open: null, because } : { rule, open });
  }
  if (status) {
    const rule = statusRule({ channel: 'gitlab-status', isOfOurs: isBelow(baseUrl) });
    const open: ProviderChannel['open'] = async ({ publicUrl }) => {
      const { createGitlabStatusClient } = await import('./notices.ts');
      return (await import('../notice-channels.ts')).statusChannel(rule, createGitlabStatusClient(credentials), publicUrl);
    };
    channels.push(token === null ? { rule, open: null, because } : { rule, open });
  }
  return channels;
}

/** Its own builds, and those uploaded from a job that ran there. */
function isBelow(baseUrl: string): (build: Build) => boolean {
  const site = baseUrl.replace(/\/api\/v4$/, '/');
  return ({ provider, url }) => provider === 'gitlab' || (provider === 'upload' && url?.startsWith(site) === true);
}

function versionProbe(baseUrl: string, token: string): Probe {
  return { url: below(baseUrl, 'version'), headers: { 'private-token': token } };
}

const Version = z.object({ version: z.string() });

function healthOf({ status, json }: ProbeReply): string {
  if (status === 401 || status === 403) throw rejected('GitLab', 'the token');
  if (status >= 400) throw broken('GitLab', status);
  const version = Version.safeParse(json).data?.version;
  return version === undefined ? 'answers' : `version ${version}`;
}

function examination({ baseUrl, token }: GitlabSettings): Examination {
  const name = 'gitlab';
  return {
    name,
    mend: `check FAULTLINE_GITLAB_URL (${baseUrl}) and whether this machine can reach it`,
    ask: async (signal) => {
      if (token === null) return note(name, 'no token: logs of its pipelines cannot be fetched', 'set FAULTLINE_GITLAB_TOKEN (read_api)');
      const reply = await probe(versionProbe(baseUrl, token), signal);
      return [...clockFindings('gitlab clock', reply.aheadMs), finding(reply)];
    },
  };
}

function finding({ status, json }: ProbeReply): Finding {
  const name = 'gitlab';
  if (status === 401 || status === 403)
    return wrong(name, `the token is refused (${status})`, 'create a token with the scope read_api and set FAULTLINE_GITLAB_TOKEN');
  const version = Version.safeParse(json);
  if (status >= 300 || !version.success)
    return wrong(name, 'the server there is not the API of GitLab', 'check FAULTLINE_GITLAB_URL: its API lies at https://HOST/api/v4');
  return ok(name, `version ${version.data.version}`);
}
