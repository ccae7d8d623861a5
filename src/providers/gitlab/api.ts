import { z } from 'zod';
import type { NoticeSender } from '../../channels/channel.ts';
import type { Build, SourceText } from '../../domain/build.ts';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { artifactRoom } from '../../log/survey/open-artifact.ts';
import type { StatusContent } from '../../notifications/render-status.ts';
import type { BuildSource } from '../../ports/build-source.ts';
import { fetchArtifacts } from '../artifacts.ts';
import { COMMENT_PAGES, type CommentThread, createCommentClient, createStatusClient } from '../comments.ts';
import {
  CONNECT_MS,
  type Connection,
  greetingId,
  HOOKS_PAGE,
  HookId,
  type WebhookQuestions,
} from '../connection.ts';
import { type CiJob, createRunSource, isMissing, type RunLimits, unknownBuild } from '../job-logs.ts';
import type { PastRuns } from '../provider.ts';
import { at, createRestClient, RERUN_MS, type RestClient } from '../rest-client.ts';
import { createSuggestionClient, type Suggestions, type SuggestionThread } from '../suggestions.ts';
import { readGitlabEvent } from './webhook.ts';

export interface GitlabOptions {
  /** The address of the API. */
  readonly baseUrl: string;
  readonly token: string | null;
  readonly retryUnitMs?: number;
}

/** A list's longest page. */
export const PAGE = { sizeName: 'per_page', size: 100 } as const;

export function createGitlabClient(
  { baseUrl, token, ...pace }: GitlabOptions,
  timeoutMs: number,
): RestClient {
  const headers = { accept: 'application/json', ...(token === null ? {} : { 'private-token': token }) };
  return createRestClient({
    label: 'GitLab',
    baseUrl,
    headers,
    tokenSetting: 'FAULTLINE_GITLAB_TOKEN',
    timeoutMs,
    ...pace,
  });
}

/**
 * Returns the API path of a project, which may be in nested groups. Throws `not-found` if the name is not a
 * path.
 */
export function projectPath(repository: string): string {
  const isPath =
    /^[A-Za-z0-9_][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]*)+$/.test(repository) &&
    repository.length <= 300;
  if (!isPath) throw new TriageError('not-found', `${repository.slice(0, 200)} is not a GitLab project.`);
  return `/projects/${encodeURIComponent(repository)}`;
}

const ALL_PAGES = { ...PAGE, maxPages: 10 };
const MAX_REPORT_BYTES = 32 * 1024 * 1024;
/** More passed tests than this say nothing of a failure. */
const MAX_PASSED_TESTS = 20_000;

const Job = z.object({
  id: z.int(),
  name: z.string(),
  status: z.string(),
  allow_failure: z.boolean().nullish(),
  finished_at: z.string().nullish(),
  web_url: z.string().nullish(),
  artifacts_file: z.object({ size: z.number().nullish() }).nullish(),
});
const TestReport = z.object({
  test_suites: z
    .array(
      z.object({
        name: z.string().nullish(),
        test_cases: z
          .array(
            z.object({
              status: z.string(),
              name: z.string(),
              classname: z.string().nullish(),
              file: z.string().nullish(),
              execution_time: z.number().nullish(),
              system_output: z.unknown().optional(),
              stack_trace: z.string().nullish(),
            }),
          )
          .default([]),
      }),
    )
    .default([]),
});
type TestCase = z.infer<typeof TestReport>['test_suites'][number]['test_cases'][number];

interface GitlabJob extends CiJob {
  /** The packed size of the artifacts; null if there are none. */
  readonly artifactBytes: number | null;
}

interface Asking {
  readonly client: RestClient;
  /** The API paths of the project, and of the pipeline below it. */
  readonly project: string;
  readonly pipeline: string;
  readonly signal: AbortSignal;
  readonly notes: string[];
}

/** Reads the traces of a pipeline's failed jobs, its test report and its jobs' artifacts from GitLab. */
export function createGitlabBuildSource(options: GitlabOptions & RunLimits): BuildSource {
  const client = createGitlabClient(options, options.timeoutMs);
  return createRunSource<GitlabJob>('gitlab', options, (build, signal, notes) => {
    const project = projectPath(build.repository);
    const asking = {
      client,
      project,
      pipeline: `${project}/pipelines/${parsePipelineId(build)}`,
      signal,
      notes,
    };
    return {
      listJobs: () => listJobs(asking, build.finishedAt),
      fetchLog: async ({ id, name }, maxBytes) =>
        withoutStreams(
          await client.bytes({
            path: `${project}/jobs/${id}/trace`,
            what: `the log of job "${name}"`,
            signal,
            maxBytes,
          }),
        ),
      more: async (jobs, logs) => [
        ...(await fetchTestReport(asking)),
        ...(await jobArtifacts(asking, jobs, logs)),
      ],
    };
  });
}

/** Has the failed jobs of a pipeline run again. */
export async function rerunOnGitlab(
  options: GitlabOptions,
  build: Build,
  signal: AbortSignal,
): Promise<void> {
  const path = `${projectPath(build.repository)}/pipelines/${parsePipelineId(build)}/retry`;
  const client = createGitlabClient(options, RERUN_MS);
  await client.send(z.unknown(), {
    method: 'POST',
    path,
    what: 'the re-run of its failed jobs',
    right: 'api',
    signal,
  });
}

/**
 * Lists the newest job of each name that had ended at `until`, when the build did. A retried job keeps its
 * name and gets a new id.
 */
async function listJobs({ client, pipeline, signal }: Asking, until: string | null): Promise<GitlabJob[]> {
  const question = {
    path: `${pipeline}/jobs`,
    query: { include_retried: 'true' },
    what: 'the jobs of the pipeline',
    signal,
  };
  const listed = await client.list(z.array(Job), question, ALL_PAGES);
  const newest = new Map<string, z.infer<typeof Job>>();
  for (const job of listed.sort((left, right) => left.id - right.id)) {
    const isLater =
      until !== null && job.finished_at != null && Date.parse(job.finished_at) > Date.parse(until);
    if (!isLater) newest.set(job.name, job);
  }
  return [...newest.values()].map(
    ({ id, name, status, allow_failure, finished_at, web_url, artifacts_file }) => ({
      id,
      name,
      isOver: !/^(?:created|pending|running|preparing|scheduled|waiting_for_resource)$/.test(status),
      outcome:
        status === 'failed' && allow_failure !== true ? 'failed' : status === 'success' ? 'passed' : 'other',
      endedAt: finished_at ?? null,
      url: web_url == null ? null : `${web_url}#L{line}`,
      artifactBytes: artifacts_file == null ? null : (artifacts_file.size ?? 0),
    }),
  );
}

/**
 * Fetches the test report. A pipeline without tests has an empty report; neither that nor an unreadable
 * report is an error.
 */
async function fetchTestReport({ client, pipeline, signal, notes }: Asking): Promise<SourceText[]> {
  try {
    const question = {
      path: `${pipeline}/test_report`,
      what: 'the test report',
      signal,
      maxBytes: MAX_REPORT_BYTES,
    };
    const { test_suites: suites } = await client.get(TestReport, question);
    if (suites.every(({ test_cases: cases }) => cases.length === 0)) return [];
    const body = suites.map(({ name, test_cases: cases }) => suiteXml(name ?? 'tests', cases)).join('\n');
    return [
      { name: 'test-report.xml', kind: 'report', text: `<testsuites>\n${body}\n</testsuites>\n`, notes: [] },
    ];
  } catch (error) {
    if (signal.aborted) throw error;
    if (!isMissing(error)) notes.push(`The test report could not be read: ${getErrorMessage(error)}`);
    return [];
  }
}

/** Formats a suite as JUnit XML, the format from which GitLab read it. */
function suiteXml(name: string, cases: readonly TestCase[]): string {
  const failed = cases.filter(({ status }) => status !== 'success');
  const passed = cases.filter(({ status }) => status === 'success').slice(0, MAX_PASSED_TESTS);
  return `<testsuite name="${xml(name)}">\n${[...failed, ...passed].map(caseXml).join('\n')}\n</testsuite>`;
}

function caseXml({
  status,
  name,
  classname,
  file,
  execution_time,
  system_output,
  stack_trace,
}: TestCase): string {
  const place = `${classname == null ? '' : ` classname="${xml(classname)}"`}${file == null ? '' : ` file="${xml(file)}"`}`;
  const head = `<testcase name="${xml(name)}"${place} time="${execution_time ?? 0}"`;
  if (status === 'success') return `${head}/>`;
  if (status === 'skipped') return `${head}><skipped/></testcase>`;
  const said =
    typeof system_output === 'string'
      ? system_output
      : system_output == null
        ? ''
        : JSON.stringify(system_output);
  const kind = status === 'error' ? 'error' : 'failure';
  return `${head}><${kind}>${xml([said, stack_trace ?? ''].filter((part) => part !== '').join('\n'))}</${kind}></testcase>`;
}

function xml(text: string): string {
  const escaped = text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
  // What XML does not know, escaped or not.
  return escaped.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '\ufffd');
}

function jobArtifacts(
  { client, project, signal, notes }: Asking,
  jobs: readonly GitlabJob[],
  logs: number,
): Promise<SourceText[]> {
  const kept = jobs.filter(({ outcome, artifactBytes }) => outcome === 'failed' && artifactBytes !== null);
  const list = async () => kept.map(({ id, name, artifactBytes: bytes }) => ({ id, name, bytes }));
  const download = ({ id }: Pick<CiJob, 'id'>, what: string, maxBytes: number) =>
    client.bytes({ path: `${project}/jobs/${id}/artifacts`, what, signal, maxBytes });
  return fetchArtifacts({ list, download, signal, notes, room: artifactRoom() }, Math.max(1, logs));
}

/**
 * Removes the stream marks that may follow the time of each line: `…Z 00O ` begins a line, `…Z 00O+`
 * continues the previous one,
 * and `E` stands for standard error. Only the time is kept.
 */
function withoutStreams(trace: Buffer): Buffer {
  const text = trace.toString('latin1');
  if (!/^\d{4}-\d\d-\d\dT[\d:.]{8,20}Z [\da-f]{2}[OE][ +]/m.test(text)) return trace;
  const joined = text.replace(/\r?\n\d{4}-\d\d-\d\dT[\d:.]{8,20}Z [\da-f]{2}[OE]\+/g, '');
  return Buffer.from(
    joined.replace(/^(\d{4}-\d\d-\d\dT[\d:.]{8,20}Z) [\da-f]{2}[OE](?: |$)/gm, '$1 '),
    'latin1',
  );
}

function parsePipelineId(build: Build): string {
  const id = build.externalId ?? '';
  if (/^\d{1,15}$/.test(id)) return id;
  throw unknownBuild(build, 'GitLab');
}

const MAX_PAST_PAGES = 100;

const Project = z.object({
  path_with_namespace: z.string(),
  default_branch: z.string().nullish(),
  web_url: z.string().nullish(),
});
const Listed = z.array(z.object({ id: z.int() }));
const Pipeline = z.looseObject({ web_url: z.string().nullish(), user: z.unknown() });

/** Pipelines of a project; each is inspected by itself, since a list does not say when they ended. */
export function createGitlabPastRuns(options: GitlabOptions, timeoutMs: number): PastRuns {
  const client = createGitlabClient(options, timeoutMs);
  return {
    async *list(repository, since, signal) {
      const path = projectPath(repository);
      const project = await client.get(Project, { path, what: `the project ${repository}`, signal });
      const query = { scope: 'finished', order_by: 'id', sort: 'desc', updated_after: since.toISOString() };
      const pipelines = { path: `${path}/pipelines`, query, what: 'the pipelines of the project', signal };
      for await (const { id } of client.items(Listed, pipelines, { ...PAGE, maxPages: MAX_PAST_PAGES })) {
        const load = async (within: AbortSignal) => {
          const question = { path: `${path}/pipelines/${id}`, what: `pipeline ${id}`, signal: within };
          const { web_url: url, user, ...pipeline } = await client.get(Pipeline, question);
          return readGitlabEvent('Pipeline Hook', {
            object_kind: 'pipeline',
            object_attributes: { ...pipeline, url },
            user,
            project,
          });
        };
        yield { externalId: String(id), attempt: null, load };
      }
    },
  };
}

/** Default time limit of one call; a call that shows a notice has its own limit. */
const NOTICE_MS = 60_000;
const NAME = 'Faultline';
const RIGHT = 'write notes and statuses (the scope api, and the role Developer)';

const Note = z.object({
  id: z.int(),
  body: z.string().nullish(),
  author: z.object({ username: z.string() }).nullish(),
});
const NOTES = { query: { sort: 'asc', order_by: 'created_at' } } as const;
const NOTE_PAGES = { ...PAGE, maxPages: COMMENT_PAGES };
const User = z.object({ username: z.string().min(1) });

/** Creates a client for the note on a merge request. */
export function createGitlabCommentClient(options: GitlabOptions): NoticeSender<{ readonly body: string }> {
  const client = createGitlabClient(options, NOTICE_MS);
  return createCommentClient({
    label: 'GitLab',
    maxBody: 65_536,
    open: async (repository, mergeRequest, signal) => openNotes(client, repository, mergeRequest, signal),
  });
}

/** Asked for once for each client. */
const logins = new WeakMap<RestClient, string>();

function openNotes(
  client: RestClient,
  repository: string,
  mergeRequest: number,
  signal: AbortSignal,
): CommentThread {
  const path = `${projectPath(repository)}/merge_requests/${mergeRequest}/notes`;
  const one = (id: number) => ({ path: `${path}/${id}`, what: `our note ${id}`, right: RIGHT, signal });
  return {
    list: () =>
      client.items(
        z.array(Note.transform(postedBy)),
        { path, ...NOTES, what: `the notes of merge request ${mergeRequest}`, signal },
        NOTE_PAGES,
      ),
    create: async (body) => {
      const what = `a note on merge request ${mergeRequest}`;
      return (await client.send(Note, { method: 'POST', path, body: { body }, what, right: RIGHT, signal }))
        .id;
    },
    edit: async (id, body) =>
      void (await client.send(z.unknown(), { method: 'PUT', body: { body }, ...one(id) })),
    remove: async (id) => void (await client.send(z.unknown(), { method: 'DELETE', ...one(id) })),
    ownLogin: async () => {
      const login =
        logins.get(client) ??
        (await client.get(User, { path: '/user', what: 'the name of this account', signal })).username;
      logins.set(client, login);
      return login;
    },
  };
}

function postedBy({ id, body, author }: z.infer<typeof Note>) {
  return { id, body: body ?? null, author: author?.username ?? null };
}

const Placed = Note.extend({
  position: z.object({ new_path: z.string().nullish(), new_line: z.int().nullish() }).nullish(),
}).transform(({ position, ...note }) => ({
  ...postedBy(note),
  path: position?.new_path ?? null,
  line: position?.new_line ?? null,
}));
const DiffRefs = z.object({
  diff_refs: z.object({ base_sha: z.string(), start_sha: z.string(), head_sha: z.string() }),
});
const Diffs = z.array(z.object({ old_path: z.string(), new_path: z.string(), diff: z.string() }));

/** Suggestions at lines of a merge request. */
export function createGitlabSuggestionClient(options: GitlabOptions): NoticeSender<Suggestions> {
  const client = createGitlabClient(options, NOTICE_MS);
  return createSuggestionClient({
    fenceWord: (lines) => `suggestion:-${lines - 1}+0`,
    open: async (repository, mergeRequest, signal) =>
      openSuggestions(client, repository, mergeRequest, signal),
  });
}

function openSuggestions(
  client: RestClient,
  repository: string,
  mergeRequest: number,
  signal: AbortSignal,
): SuggestionThread {
  const path = `${projectPath(repository)}/merge_requests/${mergeRequest}`;
  const what = `merge request ${mergeRequest}`;
  const { edit, remove, ownLogin } = openNotes(client, repository, mergeRequest, signal);
  const oldPaths = new Map<string, string>();
  return {
    edit,
    remove,
    ownLogin,
    list: () =>
      client.items(
        z.array(Placed),
        { path: `${path}/notes`, ...NOTES, what: `the notes of ${what}`, signal },
        NOTE_PAGES,
      ),
    patches: async () => {
      const files = await client.list(
        Diffs,
        { path: `${path}/diffs`, what: `the changes of ${what}`, signal },
        ALL_PAGES,
      );
      for (const { old_path, new_path } of files) oldPaths.set(new_path, old_path);
      return new Map(files.map(({ new_path, diff }) => [new_path, diff]));
    },
    create: async ({ path: file, to, oldTo }, body) => {
      const { diff_refs } = await client.get(DiffRefs, { path, what, signal });
      const lines = { new_line: to, ...(oldTo === null ? {} : { old_line: oldTo }) };
      const position = {
        position_type: 'text',
        ...diff_refs,
        new_path: file,
        old_path: oldPaths.get(file) ?? file,
        ...lines,
      };
      const sent = {
        method: 'POST',
        path: `${path}/discussions`,
        body: { body, position },
        what: `a suggestion in ${what}`,
      } as const;
      await client.send(z.unknown(), { ...sent, right: RIGHT, signal });
    },
  };
}

/** Creates a client for external commit statuses. */
export function createGitlabStatusClient(options: GitlabOptions): NoticeSender<StatusContent> {
  const client = createGitlabClient(options, NOTICE_MS);
  return createStatusClient(
    async ({ state, description, targetUrl }, { repository, commit, what, signal }) => {
      const path = `${projectPath(repository)}${at`/statuses/${commit}`}`;
      const target = targetUrl === null ? {} : { target_url: targetUrl };
      const body = { name: NAME, state: state === 'failure' ? 'failed' : state, description, ...target };
      await client
        .send(z.unknown(), { method: 'POST', path, body, what, right: RIGHT, signal })
        .catch(unlessSaid);
    },
  );
}

/**
 * Ignores GitLab's refusal of a state that the status already has, and rethrows any other error. The state
 * shown is correct, although its text may be older.
 */
function unlessSaid(error: unknown): void {
  if (!(error instanceof TriageError) || !error.message.includes('Cannot transition')) throw error;
}

const Hooks = z.array(z.object({ id: HookId, url: z.string() }));
const Deliveries = z.array(z.object({ trigger: z.string(), response_status: z.string().nullish() }));

export function gitlabConnection({ baseUrl, token }: GitlabOptions): Connection {
  return {
    label: 'GitLab',
    page: 'docs/start/gitlab.md',
    events: ['Pipeline events', 'Job events (optional)'],
    secretSetting: 'FAULTLINE_GITLAB_WEBHOOK_SECRET',
    tokenSetting: 'FAULTLINE_GITLAB_TOKEN',
    rights: [
      { right: 'read_api, Reporter', why: 'logs, test reports, artifacts and code' },
      { right: 'api, Reporter', why: 'notes on merge requests (FAULTLINE_GITLAB_COMMENT)' },
      { right: 'api, Developer', why: 'commit statuses (FAULTLINE_GITLAB_STATUS)' },
      { right: 'api, Maintainer', why: 'creating the webhook with --create; not needed afterwards' },
    ],
    clicks: [
      'In the project or group, open Settings → Webhooks → Add new webhook.',
      'Enter the address as URL and the secret as Secret token.',
      'Choose the triggers Pipeline events and, for earlier answers, Job events.',
    ],
    greet: (secret) => ({
      body: JSON.stringify({ object_kind: 'ping' }),
      headers: { 'x-gitlab-event': 'Ping', 'x-gitlab-token': secret, 'idempotency-key': greetingId() },
    }),
    hooks:
      token === null
        ? { because: 'FAULTLINE_GITLAB_TOKEN is not set' }
        : { of: 'group/project', open: (project) => createWebhookQuestions({ baseUrl, token }, project) },
  };
}

function createWebhookQuestions(options: GitlabOptions, project: string): WebhookQuestions {
  const client = createGitlabClient(options, CONNECT_MS);
  const path = projectPath(project);
  const right = 'write webhooks (the scope api, and the role Maintainer)';
  const mend = 'give the token the scope read_api and the role Reporter in the project';
  return {
    client,
    checks: [
      { name: 'project', path, mend },
      { name: 'pipelines', path: `${path}/pipelines`, query: { per_page: 1 }, mend },
      { name: 'code', path: `${path}/repository/commits`, query: { per_page: 1 }, mend },
      { name: 'merge requests', path: `${path}/merge_requests`, query: { per_page: 1 }, mend },
      {
        name: 'webhooks',
        path: `${path}/hooks`,
        query: { per_page: 1 },
        mend: `for --create the token must ${right}; or add the webhook by hand`,
      },
    ],
    list: async (signal) => {
      const hooks = await client.get(Hooks, {
        path: `${path}/hooks`,
        query: { per_page: HOOKS_PAGE },
        what: 'the webhooks',
        signal,
      });
      return hooks.map(({ id, url: address }) => ({ id, address }));
    },
    create: ({ address: url, secret: token }) => {
      const events = { pipeline_events: true, job_events: true, push_events: false };
      return { path: `${path}/hooks`, body: { url, token, ...events, enable_ssl_verification: true } };
    },
    right,
    // A push, because a test pipeline would be the project's newest pipeline over again.
    buildTestPath: (id) => `${path}${at`/hooks/${id}/test/push_events`}`,
    deliveries: async (id, signal) => {
      const question = {
        path: `${path}${at`/hooks/${id}/events`}`,
        query: { per_page: 3 },
        what: 'the deliveries',
        signal,
      };
      const delivered = await client.get(Deliveries, question);
      return delivered.map(({ trigger: event, response_status: status }) => ({
        event,
        status: Number(status) || null,
      }));
    },
  };
}
