import { z } from 'zod';
import type { Build, SourceText } from '../../domain/build.ts';
import { getErrorMessage } from '../../domain/errors.ts';
import { createArtifactRoom } from '../../log/inventory/open-artifact.ts';
import type { BuildSource } from '../../ports/build-source.ts';
import { fetchArtifacts } from '../artifacts.ts';
import {
  type CiJob,
  createRunSource,
  createUnknownBuildError,
  isMissing,
  type RunLimits,
} from '../job-logs.ts';
import { RERUN_MS, type RestClient } from '../rest-client.ts';
import { createGitlabClient, type GitlabOptions, getProjectPath, PAGE } from './client.ts';

export const ALL_PAGES = { ...PAGE, maxPages: 10 };
const MAX_REPORT_BYTES = 32 * 1024 * 1024;
/** The maximum number of passed tests that are read. More say nothing about a failure. */
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
    const project = getProjectPath(build.repository);
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
        ...(await fetchJobArtifacts(asking, jobs, logs)),
      ],
    };
  });
}

/** Reruns the failed jobs of a pipeline. */
export async function rerunOnGitlab(
  options: GitlabOptions,
  build: Build,
  signal: AbortSignal,
): Promise<void> {
  const path = `${getProjectPath(build.repository)}/pipelines/${parsePipelineId(build)}/retry`;
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
    const body = suites
      .map(({ name, test_cases: cases }) => formatSuiteXml(name ?? 'tests', cases))
      .join('\n');
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
function formatSuiteXml(name: string, cases: readonly TestCase[]): string {
  const failed = cases.filter(({ status }) => status !== 'success');
  const passed = cases.filter(({ status }) => status === 'success').slice(0, MAX_PASSED_TESTS);
  const body = [...failed, ...passed].map(toCaseXml).join('\n');
  return `<testsuite name="${toXml(name)}">\n${body}\n</testsuite>`;
}

function toCaseXml({
  status,
  name,
  classname,
  file,
  execution_time,
  system_output,
  stack_trace,
}: TestCase): string {
  const place = `${classname == null ? '' : ` classname="${toXml(classname)}"`}${file == null ? '' : ` file="${toXml(file)}"`}`;
  const head = `<testcase name="${toXml(name)}"${place} time="${execution_time ?? 0}"`;
  if (status === 'success') return `${head}/>`;
  if (status === 'skipped') return `${head}><skipped/></testcase>`;
  const output =
    typeof system_output === 'string'
      ? system_output
      : system_output == null
        ? ''
        : JSON.stringify(system_output);
  const kind = status === 'error' ? 'error' : 'failure';
  return `${head}><${kind}>${toXml([output, stack_trace ?? ''].filter((part) => part !== '').join('\n'))}</${kind}></testcase>`;
}

function toXml(text: string): string {
  const escaped = text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
  // Characters that XML forbids, escaped or not
  return escaped.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '\ufffd');
}

function fetchJobArtifacts(
  { client, project, signal, notes }: Asking,
  jobs: readonly GitlabJob[],
  logs: number,
): Promise<SourceText[]> {
  const kept = jobs.filter(({ outcome, artifactBytes }) => outcome === 'failed' && artifactBytes !== null);
  const list = async () => kept.map(({ id, name, artifactBytes: bytes }) => ({ id, name, bytes }));
  const download = ({ id }: Pick<CiJob, 'id'>, what: string, maxBytes: number) =>
    client.bytes({ path: `${project}/jobs/${id}/artifacts`, what, signal, maxBytes });
  return fetchArtifacts({ list, download, signal, notes, room: createArtifactRoom() }, Math.max(1, logs));
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
  throw createUnknownBuildError(build, 'GitLab');
}
