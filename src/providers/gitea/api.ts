import { z } from 'zod';
import type { NoticeSender } from '../../channels/channel.ts';
import type { Build, SourceText } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import { artifactRoom } from '../../log/survey/open-artifact.ts';
import type { StatusContent } from '../../notifications/render-status.ts';
import type { BuildSource } from '../../ports/build-source.ts';
import { fetchArtifacts } from '../artifacts.ts';
import { orNull } from '../code-questions.ts';
import { type CommentThread, createCommentClient, createStatusClient } from '../comments.ts';
import {
  CONNECT_MS,
  type Connection,
  greetingId,
  HOOKS_PAGE,
  HookId,
  type WebhookQuestions,
} from '../connection.ts';
import { type CiJob, createRunSource, isMissing, type RunLimits, unknownBuild } from '../job-logs.ts';
import type { PastRun, PastRuns } from '../provider.ts';
import { at, createRestClient, type RestClient } from '../rest-client.ts';
import { computeHmac } from '../webhook.ts';
import { readGiteaEvent } from './webhook.ts';

export interface GiteaOptions {
  /** The address of the API. Null: no API is called. */
  readonly baseUrl: string | null;
  readonly token: string | null;
  readonly retryUnitMs?: number;
}

/** A list's longest page, unless the server's administrator allows more. */
export const PAGE = 50;

/** Throws `invalid-config` without an address. */
export function createGiteaClient({ baseUrl, token, ...pace }: GiteaOptions, timeoutMs: number): RestClient {
  if (baseUrl === null)
    throw new TriageError(
      'invalid-config',
      'Cannot ask Gitea or Forgejo for builds: FAULTLINE_GITEA_URL is not set.',
    );
  const headers = {
    accept: 'application/json',
    ...(token === null ? {} : { authorization: `token ${token}` }),
  };
  return createRestClient({
    label: 'Gitea',
    baseUrl,
    headers,
    tokenSetting: 'FAULTLINE_GITEA_TOKEN',
    timeoutMs,
    ...pace,
  });
}

/** Splits `owner/name`. Throws `not-found` for anything else. */
export function ownerAndName(repository: string): { readonly owner: string; readonly repo: string } {
  const [, owner, repo] = /^([A-Za-z0-9._-]{1,100})\/([A-Za-z0-9._-]{1,100})$/.exec(repository) ?? [];
  if (owner === undefined || repo === undefined || /^\.+$/.test(owner) || /^\.+$/.test(repo))
    throw new TriageError(
      'not-found',
      `${repository.slice(0, 200)} is not a repository of Gitea or Forgejo.`,
    );
  return { owner, repo };
}

const MAX_LISTED_JOBS = 1_000;

const Jobs = z.object({
  jobs: z
    .array(
      z.object({
        id: z.int(),
        name: z.string(),
        status: z.string(),
        conclusion: z.string().nullish(),
        run_attempt: z.int().nullish(),
        completed_at: z.string().nullish(),
        html_url: z.string().nullish(),
      }),
    )
    .nullable(),
});
const Artifacts = z.object({
  artifacts: z
    .array(
      z.object({ id: z.int(), name: z.string(), size_in_bytes: z.number(), expired: z.boolean().nullish() }),
    )
    .nullable(),
});

interface Asking {
  readonly client: RestClient;
  readonly owner: string;
  readonly repo: string;
  readonly runId: number;
  readonly signal: AbortSignal;
  readonly notes: string[];
}

/**
 * Reads the logs of a run's failed jobs, and what its artifacts say, from Gitea Actions or a Forgejo that
 * offers them.
 */
export function createGiteaBuildSource(options: GiteaOptions & RunLimits): BuildSource {
  return createRunSource('gitea', options, (build, signal, notes) => {
    const asking = {
      client: createGiteaClient(options, options.timeoutMs),
      ...parseRun(build),
      signal,
      notes,
    };
    const { client, owner, repo } = asking;
    return {
      listJobs: () => listJobs(asking, build.attempt),
      fetchLog: ({ id, name }, maxBytes) =>
        client.bytes({
          path: at`/repos/${owner}/${repo}/actions/jobs/${id}/logs`,
          what: `the log of job "${name}"`,
          signal,
          maxBytes,
        }),
      more: (_jobs, logs) => runArtifacts(asking, logs),
    };
  });
}

/** Lists the jobs of an attempt. Gitea before 1.27 only lists the jobs of the whole run. */
async function listJobs(
  { client, owner, repo, runId, signal, notes }: Asking,
  attempt: number,
): Promise<CiJob[]> {
  try {
    return await listRunJobs(
      client,
      at`/repos/${owner}/${repo}/actions/runs/${runId}/attempts/${attempt}/jobs`,
      signal,
    );
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const all = await listRunJobs(client, at`/repos/${owner}/${repo}/actions/runs/${runId}/jobs`, signal);
  const own = all.filter(({ attempt: of }) => of === null || of === attempt);
  if (own.length > 0 || all.length === 0) return own;
  notes.push(`The jobs of attempt ${attempt} are no longer listed; those of a later attempt were read.`);
  return all;
}

async function listRunJobs(
  client: RestClient,
  path: string,
  signal: AbortSignal,
): Promise<(CiJob & { readonly attempt: number | null })[]> {
  const what = 'the jobs of the run';
  const Page = Jobs.transform(({ jobs }) => jobs ?? []);
  const listed = await client.list(
    Page,
    { path, what, signal },
    { sizeName: 'limit', size: PAGE, maxPages: MAX_LISTED_JOBS / PAGE },
  );
  return listed.map(({ id, name, status, conclusion, run_attempt, completed_at, html_url }) => ({
    id,
    name,
    url: html_url ?? null,
    isOver: status === 'completed',
    outcome: conclusion === 'failure' ? 'failed' : conclusion === 'success' ? 'passed' : 'other',
    endedAt: completed_at ?? null,
    attempt: run_attempt ?? null,
  }));
}

function runArtifacts(
  { client, owner, repo, runId, signal, notes }: Asking,
  logs: number,
): Promise<SourceText[]> {
  const list = async () => {
    const path = at`/repos/${owner}/${repo}/actions/runs/${runId}/artifacts`;
    try {
      const { artifacts } = await client.get(Artifacts, {
        path,
        what: "the run's artifacts",
        signal,
        query: { limit: PAGE },
      });
      const kept = (artifacts ?? []).filter(({ expired }) => expired !== true);
      return kept.map(({ id, name, size_in_bytes: bytes }) => ({ id, name, bytes }));
    } catch (error) {
      // A server that does not know the list has none to read.
      if (isMissing(error)) return [];
      throw error;
    }
  };
  const download = ({ id }: { id: number }, what: string, maxBytes: number) =>
    client.bytes({ path: at`/repos/${owner}/${repo}/actions/artifacts/${id}/zip`, what, signal, maxBytes });
  return fetchArtifacts({ list, download, signal, notes, room: artifactRoom() }, logs);
}

function parseRun(build: Build): Pick<Asking, 'owner' | 'repo' | 'runId'> {
  const id = build.externalId ?? '';
  if (!/^\d{1,15}$/.test(id)) throw unknownBuild(build, 'Gitea or Forgejo');
  return { ...ownerAndName(build.repository), runId: Number(id) };
}

const MAX_PAGES = 200;

const Repository = z.object({ full_name: z.string(), default_branch: z.string().nullish() });
/** A run of Gitea, or of Forgejo, whose runs have an index. */
const Run = z.looseObject({
  id: z.int(),
  status: z.string(),
  path: z.string().nullish(),
  run_attempt: z.int().nullish(),
  index_in_repo: z.int().nullish(),
  started_at: z.string().nullish(),
  started: z.string().nullish(),
});
const Runs = z
  .object({ workflow_runs: z.array(Run).nullable() })
  .transform(({ workflow_runs }) => workflow_runs ?? []);
const Workflows = z.object({ workflows: z.array(z.object({ id: z.string(), name: z.string() })).nullable() });

/** Runs of Gitea or Forgejo Actions, where the server lists them. */
export function createGiteaPastRuns(options: GiteaOptions, timeoutMs: number): PastRuns {
  const client = createGiteaClient(options, timeoutMs);
  return {
    async *list(repository, since, signal) {
      const { owner, repo } = ownerAndName(repository);
      const path = at`/repos/${owner}/${repo}`;
      const place = await client.get(Repository, { path, what: `the repository ${repository}`, signal });
      const names = await workflowNames(client, path, signal);
      const question = { path: `${path}/actions/runs`, what: 'the runs of the repository', signal };
      for await (const run of client.items(Runs, question, {
        sizeName: 'limit',
        size: PAGE,
        maxPages: MAX_PAGES,
      })) {
        const began = Date.parse(run.started_at ?? run.started ?? '');
        // What has not begun is 1970 for them, or the year 1.
        if (began < since.getTime() && began > Date.UTC(1971)) return;
        yield pastRun(run, place, names);
      }
    },
  };
}

/** Workflows by the file that names them in a run; none where the server does not say. */
async function workflowNames(
  client: RestClient,
  path: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const asked = client.get(Workflows, { path: `${path}/actions/workflows`, what: 'the workflows', signal });
  const found = await orNull(asked);
  return new Map((found?.workflows ?? []).map(({ id, name }) => [id, name]));
}

function pastRun(
  run: z.infer<typeof Run>,
  repository: z.infer<typeof Repository>,
  names: ReadonlyMap<string, string>,
): PastRun {
  const externalId = String(run.id);
  if (run.index_in_repo != null) {
    const event = { action: run.status, run: { ...run, repository } };
    return { externalId, attempt: null, load: async () => readGiteaEvent('action_run_failure', event) };
  }
  const file = run.path?.split('@', 1)[0]?.split('/').at(-1) ?? '';
  const event = {
    action: run.status,
    repository,
    workflow: { name: names.get(file) ?? null },
    workflow_run: run,
  };
  return {
    externalId,
    attempt: run.run_attempt ?? 1,
    load: async () => readGiteaEvent('workflow_run', event),
  };
}

/** Default time limit of one call; a call that shows a notice has its own limit. */
const NOTICE_MS = 60_000;
const CONTEXT = 'Faultline';

const Comment = z.object({
  id: z.int(),
  body: z.string().nullish(),
  user: z.object({ login: z.string() }).nullish(),
});
const User = z.object({ login: z.string().min(1) });

/** Creates a client for the comment on a pull request. */
export function createGiteaCommentClient(options: GiteaOptions): NoticeSender<{ readonly body: string }> {
  const client = createGiteaClient(options, NOTICE_MS);
  let login: string | null = null;
  const ownLogin = async (signal: AbortSignal) => {
    login ??= (await client.get(User, { path: '/user', what: 'the name of this account', signal })).login;
    return login;
  };
  return createCommentClient({
    label: 'Gitea',
    maxBody: 65_536,
    open: async (repository, pullRequest, signal) => ({
      ...openComments(client, repository, pullRequest, signal),
      ownLogin: () => ownLogin(signal),
    }),
  });
}

function openComments(
  client: RestClient,
  repository: string,
  pullRequest: number,
  signal: AbortSignal,
): Omit<CommentThread, 'ownLogin'> {
  const { owner, repo } = ownerAndName(repository);
  const path = at`/repos/${owner}/${repo}/issues/${pullRequest}/comments`;
  const one = (id: number) => at`/repos/${owner}/${repo}/issues/comments/${id}`;
  const right = 'write comments (write:issue)';
  return {
    // All at once: these lists have no pages.
    list: async function* () {
      const comments = await client.get(z.array(Comment), {
        path,
        what: `the comments of pull request ${pullRequest}`,
        signal,
      });
      yield* comments.map(({ id, body, user }) => ({ id, body: body ?? null, author: user?.login ?? null }));
    },
    create: async (body) => {
      const what = `a comment on pull request ${pullRequest}`;
      return (await client.send(Comment, { method: 'POST', path, body: { body }, what, right, signal })).id;
    },
    edit: async (id, body) =>
      void (await client.send(z.unknown(), {
        method: 'PATCH',
        path: one(id),
        body: { body },
        what: `our comment ${id}`,
        right,
        signal,
      })),
    remove: async (id) =>
      void (await client.send(z.unknown(), {
        method: 'DELETE',
        path: one(id),
        what: `our comment ${id}`,
        right,
        signal,
      })),
  };
}

export function createGiteaStatusClient(options: GiteaOptions): NoticeSender<StatusContent> {
  const client = createGiteaClient(options, NOTICE_MS);
  return createStatusClient(
    async ({ state, description, targetUrl }, { repository, commit, what, signal }) => {
      const { owner, repo } = ownerAndName(repository);
      const path = at`/repos/${owner}/${repo}/statuses/${commit}`;
      const body = { state, description, context: CONTEXT, target_url: targetUrl ?? '' };
      await client.send(z.unknown(), {
        method: 'POST',
        path,
        body,
        what,
        right: 'write statuses (write:repository)',
        signal,
      });
    },
  );
}

const EVENTS = {
  gitea: ['workflow_run', 'workflow_job'],
  forgejo: ['action_run_failure', 'action_run_recover', 'action_run_success'],
};

const Hooks = z.array(z.object({ id: HookId, config: z.object({ url: z.string().nullish() }) }));
const Version = z.object({ version: z.string() });

export function giteaConnection(settings: GiteaOptions): Connection {
  const { baseUrl, token } = settings;
  const isReadable = baseUrl !== null && token !== null;
  return {
    label: 'Gitea or Forgejo',
    page: 'docs/start/gitea.md',
    events: [`${EVENTS.gitea.join(', ')} (Gitea)`, `${EVENTS.forgejo.join(', ')} (Forgejo)`],
    secretSetting: 'FAULTLINE_GITEA_WEBHOOK_SECRET',
    tokenSetting: 'FAULTLINE_GITEA_TOKEN',
    rights: [
      { right: 'read:repository', why: 'logs, artifacts and code' },
      { right: 'write:issue, read:user', why: 'comments (FAULTLINE_GITEA_COMMENT)' },
      {
        right: 'write:repository',
        why: 'commit statuses (FAULTLINE_GITEA_STATUS), and creating the webhook with --create',
      },
    ],
    clicks: [
      'In the repository or organization, open Settings → Webhooks → Add webhook → Gitea or Forgejo.',
      'Enter the address as Target URL and the secret as Secret; choose POST and application/json.',
      'Trigger on Custom events: Workflow run and Workflow job (Gitea), or Action run failure, ' +
        'recover and success (Forgejo).',
    ],
    greet: (secret) => {
      const body = JSON.stringify({ action: 'ping' });
      const headers = {
        'x-gitea-event': 'ping',
        'x-gitea-delivery': greetingId(),
        'x-gitea-signature': computeHmac(secret, body),
      };
      return { body, headers };
    },
    hooks: isReadable
      ? { of: 'owner/name', open: (repository) => createWebhookQuestions({ baseUrl, token }, repository) }
      : { because: 'FAULTLINE_GITEA_URL and FAULTLINE_GITEA_TOKEN are not both set' },
  };
}

function createWebhookQuestions(options: GiteaOptions, repository: string): WebhookQuestions {
  const client = createGiteaClient(options, CONNECT_MS);
  const { owner, repo } = ownerAndName(repository);
  const path = at`/repos/${owner}/${repo}`;
  const right = 'write webhooks (write:repository, and its user must be an administrator of the repository)';
  const mend = 'give the token read:repository, of a user who may read the repository';
  return {
    client,
    checks: [
      { name: 'repository', path, mend },
      {
        name: 'runs',
        path: `${path}/actions/runs`,
        query: { limit: 1 },
        mend: `${mend}; before Gitea 1.24, and on Forgejo, runs are not listed`,
      },
      { name: 'code', path: `${path}/commits`, query: { limit: 1, stat: 'false' }, mend },
      {
        name: 'webhooks',
        path: `${path}/hooks`,
        query: { limit: 1 },
        mend: `for --create the token must ${right}; or add the webhook by hand`,
      },
    ],
    list: async (signal) => {
      const hooks = await client.get(Hooks, {
        path: `${path}/hooks`,
        query: { limit: HOOKS_PAGE },
        what: 'the webhooks',
        signal,
      });
      return hooks.map(({ id, config }) => ({ id, address: config.url ?? '' }));
    },
    create: async ({ address: url, secret }, signal) => {
      const { version } = await client.get(Version, { path: '/version', what: 'the version', signal });
      // Forgejo names the Gitea that it comes from behind its own version.
      const type = version.includes('+gitea') ? 'forgejo' : 'gitea';
      const config = { url, content_type: 'json', secret };
      return { path: `${path}/hooks`, body: { type, active: true, events: EVENTS[type], config } };
    },
    right,
    buildTestPath: (id) => `${path}${at`/hooks/${id}/tests`}`,
    deliveries: null,
  };
}
