import { z } from 'zod';
import type { NoticeChannel } from '../../channels/channel.ts';
import { defineCredential, defineSetting, defineWebhookSecrets } from '../../config/variable.ts';
import type { Build } from '../../domain/build.ts';
import { type Check, type Finding, findClockSkew, note, ok, wrong } from '../../ports/health.ts';
import { createBasicAuth, joinPath, OUTSIDE_FRESH_MS, type Probe, type ProbeReply, probe } from '../check.ts';
import type { NamedRun } from '../named-runs.ts';
import { buildRule } from '../notice-rules.ts';
import type { Provider } from '../provider.ts';
import { createJenkinsWebhook } from './webhook.ts';

/**
 * Creates the provider for Jenkins: consoles, test reports, artifacts and the descriptions of builds. It also
 * receives the generic event, from any sender.
 */
export function createJenkinsProvider(settings: JenkinsSettings): Provider {
  const { webhookSecrets, baseUrl, user, token } = settings;
  return {
    name: 'jenkins',
    webhook: createJenkinsWebhook(baseUrl)(webhookSecrets),
    secrets: [...webhookSecrets, ...(token === null ? [] : [token])],
    connection: async () => (await import('./connection.ts')).createJenkinsConnection(),
    openBuildSource: async (options) =>
      (await import('./api.ts')).createJenkinsBuildSource({ baseUrl, user, token, ...options }),
    openPastRuns: null,
    code: null,
    runs: {
      site: baseUrl,
      form: `${baseUrl ?? 'https://jenkins.example.com'}/job/NAME/NUMBER/`,
      read: readBuildPath,
      buildPath: (repository, id) => `${repository}/${id}/`,
      load: async (run, { timeoutMs }, signal) =>
        (await import('./named-build.ts')).loadJenkinsBuild({ baseUrl, user, token }, run, timeoutMs, signal),
    },
    rerun: null,
    channels: createChannels(settings),
    checks: () => [createCheck(settings)],
  };
}

const isOfOurs = ({ provider }: Build) => provider === 'jenkins';

/** Creates the channel for the description of each failed build, if configured. */
function createChannels(settings: JenkinsSettings): NoticeChannel[] {
  const { description, baseUrl, user, token } = settings;
  if (description === 'off') return [];
  const rule = buildRule({ channel: 'jenkins-description', isOfOurs });
  if (baseUrl === null) return [{ ...rule, open: null, because: 'FAULTLINE_JENKINS_URL is not set' }];
  return [
    {
      ...rule,
      open: async ({ publicUrl }) =>
        (await import('./description.ts')).createDescriptionPublisher(
          { baseUrl, user, token },
          { publicUrl, format: description },
        ),
    },
  ];
}

function createRootProbe(baseUrl: string, user: string | null, token: string | null): Probe {
  const headers =
    token === null ? {} : { authorization: user === null ? `Bearer ${token}` : createBasicAuth(user, token) };
  return { url: joinPath(baseUrl, 'api/json?tree=nodeDescription'), headers };
}

function createCheck({ baseUrl, user, token }: JenkinsSettings): Check {
  const name = 'jenkins';
  return {
    name,
    remedy: 'check FAULTLINE_JENKINS_URL: is Jenkins running there, and can this machine reach it?',
    ...(baseUrl === null ? {} : { freshMs: OUTSIDE_FRESH_MS }),
    ask: async (signal) => {
      if (baseUrl === null)
        return note(name, 'no URL: logs of Jenkins builds cannot be fetched', 'set FAULTLINE_JENKINS_URL');
      const reply = await probe(createRootProbe(baseUrl, user, token), signal);
      return [...findClockSkew('jenkins clock', reply.aheadMs), createJenkinsFinding(reply)];
    },
  };
}

function createJenkinsFinding({ status, headers }: ProbeReply): Finding {
  const name = 'jenkins';
  if (status === 401 || status === 403)
    return wrong(
      name,
      `access refused (${status})`,
      'check FAULTLINE_JENKINS_USER and FAULTLINE_JENKINS_TOKEN; the user needs Overall/Read and Job/Read',
    );
  if (status >= 300)
    return wrong(
      name,
      `it returned ${status}`,
      'check the path in FAULTLINE_JENKINS_URL: it is the part before /job/ in a build URL',
    );
  const version = headers.get('x-jenkins');
  if (version === null) return wrong(name, 'the server there is not Jenkins', 'check FAULTLINE_JENKINS_URL');
  return ok(name, `Jenkins ${version}`);
}

/** The settings of Jenkins: webhooks, the source of consoles, and descriptions of builds. */
export const JenkinsSettings = z.object({
  webhookSecrets: defineWebhookSecrets(
    'FAULTLINE_JENKINS_WEBHOOK_SECRET',
    'Jenkins webhook secret or token. Two, separated by a comma, during rotation.',
  ),
  /** Builds of another Jenkins are neither fetched nor described; no builds are if it is null. */
  baseUrl: defineSetting(
    'FAULTLINE_JENKINS_URL',
    z.url().nullable().default(null),
    'Base URL of Jenkins. Builds elsewhere are not fetched.',
  ),
  user: defineSetting(
    'FAULTLINE_JENKINS_USER',
    z.string().nullable().default(null),
    'User of the Jenkins API token.',
  ),
  /** An API token of that user; it needs no crumb. */
  token: defineCredential('FAULTLINE_JENKINS_TOKEN', 'Jenkins API token.'),
  /** Written with that token, whose user then needs the right Run/Update. */
  description: defineSetting(
    'FAULTLINE_JENKINS_DESCRIPTION',
    z.enum(['off', 'html', 'text']).default('off'),
    'Whether to write answers to the description of Jenkins builds: ' +
      'off, html (if the Jenkins markup formatter is Safe HTML) or text. ' +
      "The API token's user needs the permission Run/Update.",
  ),
});
export type JenkinsSettings = z.infer<typeof JenkinsSettings>;

/** Reads `job/FOLDER/job/NAME/NUMBER/`, with a page of the build such as `console` behind it. */
function readBuildPath(path: string): NamedRun | null {
  const [, repository, id] = /^((?:job\/[^/?#]{1,500}\/?){1,20})\/(\d{1,10})(?:\/\w*)?$/.exec(path) ?? [];
  return repository === undefined || id === undefined ? null : { repository, id, attempt: null };
}
