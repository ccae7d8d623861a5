import type { SourceText } from '../../domain/build.ts';
import { messageOf, TriageError } from '../../domain/errors.ts';
import { decodeSources } from '../../log/decode/archive.ts';
import { type GithubClient, type GithubRun, githubError } from './github-client.ts';
import { download } from './github-download.ts';

export interface ReportFetching {
  readonly client: GithubClient;
  readonly run: GithubRun;
  readonly signal: AbortSignal;
  readonly notes: string[];
}

/** What people call the artifact that holds their JUnit reports. */
const REPORT_NAME = /junit|surefire|failsafe|test[-_ ]?(?:results?|reports?)|xunit/i;
const MAX_ARTIFACTS = 5;
const MAX_ARTIFACT_BYTES = 20 * 1024 * 1024;
/** Artifacts hold much beside reports, which is no remark. */
const LEFT_OUT = /left out/i;
const MAX_REPORT_BYTES = 64 * 1024 * 1024;

/**
 * The test reports, of any known format, in the run's artifacts that are named like reports and are small. Reports complete a log but never
 * replace it: where they cannot be read a note says so, and the build goes on.
 */
export async function fetchReports(fetching: ReportFetching, logs: number): Promise<SourceText[]> {
  const reports: SourceText[] = [];
  try {
    for (const artifact of await listReportArtifacts(fetching)) reports.push(...(await readArtifact(fetching, artifact)));
  } catch (error) {
    if (fetching.signal.aborted || logs === 0) throw error;
    fetching.notes.push(`Test reports could not be read: ${messageOf(error)}`);
  }
  return reports;
}

interface Artifact {
  readonly id: number;
  readonly name: string;
}

async function listReportArtifacts({ client, run, signal }: ReportFetching): Promise<Artifact[]> {
  const { owner, repo, run_id } = run;
  const { data } = await client.rest.actions
    .listWorkflowRunArtifacts({ owner, repo, run_id, per_page: 100, request: { signal } })
    .catch((error: unknown) => {
      throw githubError("the run's artifacts", error);
    });
  return data.artifacts
    .filter((artifact) => !artifact.expired && artifact.size_in_bytes <= MAX_ARTIFACT_BYTES && REPORT_NAME.test(artifact.name))
    .slice(0, MAX_ARTIFACTS);
}

async function readArtifact({ client, run, signal, notes }: ReportFetching, artifact: Artifact): Promise<SourceText[]> {
  const what = `the artifact "${artifact.name}"`;
  const { owner, repo } = run;
  const parameters = { owner, repo, artifact_id: artifact.id };
  const route = 'GET /repos/{owner}/{repo}/actions/artifacts/{artifact_id}/zip';
  try {
    const archive = await download(client, { what, route, parameters, maxBytes: MAX_ARTIFACT_BYTES }, signal);
    const sources = await decodeSources(artifact.name, archive, 'report', { maxBytes: MAX_REPORT_BYTES });
    if (sources[0]?.name === artifact.name) throw new TriageError('invalid-input', `${what} is no archive.`);
    const reports = sources.filter(({ kind }) => kind === 'report');
    if (reports.length === 0) notes.push(`There is no test report in ${what}.`);
    return reports.map((report) => ({ ...report, notes: report.notes.filter((note) => !LEFT_OUT.test(note)) }));
  } catch (error) {
    if (signal.aborted || !(error instanceof TriageError)) throw error;
    notes.push(`The test reports in ${what} could not be read: ${error.message}`);
    return [];
  }
}
