import { z } from 'zod';
import {
  createApiUrlSchema,
  defineCredential,
  defineSetting,
  defineWebhookSecrets,
  defineWriteSetting,
} from '../../config/variable.ts';
import { checkTokenApi, joinPath } from '../check.ts';
import type { NamedRun } from '../named-runs.ts';
import { createHostChannels, isOfHost } from '../notice-rules.ts';
import type { Provider } from '../provider.ts';
import { gitlabWebhook } from './webhook.ts';

/**
 * Creates the provider for GitLab: pipelines, test reports, code, notes on merge requests and commit
 * statuses, with a token of a project, a group or a person.
 */
export function createGitlabProvider(settings: GitlabSettings): Provider {
  const { baseUrl, token, webhookSecrets } = settings;
  const credentials = { baseUrl, token };
  const because = token === null ? 'FAULTLINE_GITLAB_TOKEN is not set' : null;
  return {
    name: 'gitlab',
    webhook: gitlabWebhook(webhookSecrets),
    secrets: [...webhookSecrets, ...(token === null ? [] : [token])],
    connection: async () => (await import('./connection.ts')).createGitlabConnection(settings),
    openBuildSource: async (options) =>
      (await import('./build-source.ts')).createGitlabBuildSource({ ...credentials, ...options }),
    openPastRuns: async ({ timeoutMs }) =>
      (await import('./past-runs.ts')).createGitlabPastRuns(credentials, timeoutMs),
    code: {
      configured: token !== null,
      baseUrl,
      open: async ({ timeoutMs }) =>
        (await import('./code-host.ts')).createGitlabHost({ ...credentials, timeoutMs }),
    },
    channels: createHostChannels({
      name: 'gitlab',
      commentPage: (repository, pullRequest, id) =>
        `${baseUrl.replace(/\/api\/v4$/, '')}/${repository}/-/merge_requests/${pullRequest}#note_${id}`,
      isOfOurs: isOfHost('gitlab', baseUrl.replace(/\/api\/v4$/, '/')),
      comment: {
        wanted: settings.writes.includes('comment'),
        because,
        client: async () => (await import('./notices.ts')).createGitlabCommentClient(credentials),
      },
      suggestion: async () => (await import('./notices.ts')).createGitlabSuggestionClient(credentials),
      status: {
        wanted: settings.writes.includes('status'),
        because,
        client: async () => (await import('./notices.ts')).createGitlabStatusClient(credentials),
      },
    }),
    runs: {
      site: baseUrl.replace(/\/api\/v4$/, ''),
      form: `${baseUrl.replace(/\/api\/v4$/, '')}/GROUP/NAME/-/pipelines/ID`,
      read: readPipelinePath,
      buildPath: (repository, id) => `${repository}/-/pipelines/${id}`,
      load: async (run, { timeoutMs }, signal) =>
        (await import('./past-runs.ts')).loadGitlabRun(credentials, run, timeoutMs, signal),
    },
    rerun: !settings.writes.includes('rerun')
      ? null
      : async (build, { signal }) =>
          (await import('./build-source.ts')).rerunOnGitlab(credentials, build, signal),
    checks: () =>
      checkTokenApi({
        name: 'gitlab',
        label: 'GitLab',
        probe:
          token === null ? null : { url: joinPath(baseUrl, 'version'), headers: { 'private-token': token } },
        lacking:
          webhookSecrets.length === 0
            ? null
            : {
                says: 'no token: logs of its pipelines cannot be fetched',
                remedy: 'set FAULTLINE_GITLAB_TOKEN (read_api)',
              },
        says: (json) => Version.transform(({ version }) => `version ${version}`).safeParse(json).data ?? null,
        remedy: {
          reach: `check FAULTLINE_GITLAB_URL (${baseUrl}) and whether this machine can reach it`,
          token: 'create a token with the scope read_api and set FAULTLINE_GITLAB_TOKEN',
          address: 'check FAULTLINE_GITLAB_URL: its API is at https://HOST/api/v4',
        },
      }),
  };
}

const Version = z.object({ version: z.string() });

/** The settings of GitLab: webhooks, the source of traces, reports and code, and notices. */
export const GitlabSettings = z.object({
  webhookSecrets: defineWebhookSecrets(
    'FAULTLINE_GITLAB_WEBHOOK_SECRET',
    'GitLab webhook secret token, or signing token (whsec_…). Two, separated by a comma, during rotation.',
  ),
  /** The URL of the API. A URL from the browser is converted to it. */
  baseUrl: defineSetting(
    'FAULTLINE_GITLAB_URL',
    createApiUrlSchema(toGitlabApiAddress).default('https://gitlab.com/api/v4'),
    'URL of GitLab or its API: https://gitlab.example.com and https://gitlab.example.com/api/v4 mean ' +
      'the same.',
  ),
  token: defineCredential(
    'FAULTLINE_GITLAB_TOKEN',
    'Project, group or personal access token with the scope read_api or, for notes and statuses, api.',
  ),
  writes: defineWriteSetting(
    'FAULTLINE_GITLAB_WRITES',
    ['comment', 'status', 'rerun'],
    'What may be written, separated by commas: comment (one note on each merge request with a failed' +
      ' pipeline, kept up to date, with suggestions if a job asks for them), status (an external ' +
      'commit status, which GitLab counts as a job of the pipeline) and rerun (reviewers may re-run ' +
      'failed jobs). All need a token with the scope api.',
  ),
});
export type GitlabSettings = z.infer<typeof GitlabSettings>;

/**
 * Converts `https://host`, `https://host/gitlab/` and `https://host/api/v4` to the address of the API,
 * without a slash at the end.
 */
function toGitlabApiAddress(text: string): string {
  const url = new URL(text);
  const path = url.pathname.replace(/\/$/, '');
  return `${url.origin}${path.endsWith('/api/v4') ? path : `${path}/api/v4`}`;
}

/** Reads `GROUP/NAME/-/pipelines/ID`. */
function readPipelinePath(path: string): NamedRun | null {
  const [, repository, id] = /^([\w./-]{1,300}?)\/-\/pipelines\/(\d{1,15})(?:\/\w+)?\/?$/.exec(path) ?? [];
  return repository === undefined || id === undefined ? null : { repository, id, attempt: null };
}
