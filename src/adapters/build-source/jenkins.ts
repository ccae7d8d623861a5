import { z } from 'zod';
import type { Build, SourceText, TestResult } from '../../domain/build.ts';
import { messageOf, TriageError } from '../../domain/errors.ts';
import { JENKINS_CONSOLE, jenkinsAddress } from '../../domain/jenkins-address.ts';
import { decodeSource } from '../../log/decode/decode.ts';
import { artifactRoom } from '../../log/survey/open-artifact.ts';
import type { BuildSource, FetchedBuild } from '../../ports/build-source.ts';
import type { Logger } from '../../ports/telemetry.ts';
import { readBounded, withDeadline } from './bounded-read.ts';
import { fetchJenkinsArtifacts } from './jenkins-artifacts.ts';

export interface JenkinsBuildSourceOptions {
  /** Builds elsewhere are never fetched. Null: none are. */
  readonly baseUrl: string | null;
  readonly user: string | null;
  /** An API token of that user. */
  readonly token: string | null;
  /** Of one whole fetch. */
  readonly timeoutMs: number;
  readonly maxLogBytes: number;
  readonly logger: Logger;
}

const MAX_REPORT_BYTES = 32 * 1024 * 1024;
const REPORT_TREE = 'suites[name,cases[className,name,status,duration]]';

/** Jenkins' test report, of it the fields that the tree above names. Durations are in seconds. */
const TestReport = z.object({
  suites: z
    .array(
      z.object({
        name: z.string().nullish(),
        cases: z
          .array(z.object({ className: z.string().nullish(), name: z.string(), status: z.string(), duration: z.number().nullish() }))
          .default([]),
      }),
    )
    .default([]),
});
type TestReport = z.infer<typeof TestReport>;

/** Reads the console, the test report and the artifacts of a build from Jenkins. */
export function createJenkinsBuildSource(options: JenkinsBuildSourceOptions): BuildSource {
  return {
    provider: 'jenkins',
    fetch: (build, signal) =>
      withDeadline(`Fetching build ${build.number} of ${build.pipeline} from Jenkins`, options.timeoutMs, signal, (within) =>
        fetchBuild(options, build, within),
      ),
    fetchGreen: (build, signal, maxBytes) =>
      withDeadline(
        `Fetching the passed build ${build.number} of ${build.pipeline} from Jenkins`,
        options.timeoutMs,
        signal,
        async (within) => [
          await fetchConsole(options, jenkinsAddress(options.baseUrl, build), Math.min(maxBytes, options.maxLogBytes), within),
        ],
      ),
  };
}

async function fetchBuild(options: JenkinsBuildSourceOptions, build: Build, signal: AbortSignal): Promise<FetchedBuild> {
  const address = jenkinsAddress(options.baseUrl, build);
  const notes: string[] = [];
  const source = await fetchConsole(options, address, options.maxLogBytes, signal);
  const testResults = await fetchTestResults(options, address, notes, signal);
  const get = (path: string, what: string, maxBytes: number) => getFrom(options, new URL(path, address), what, maxBytes, signal);
  const artifacts = await fetchJenkinsArtifacts({ get, signal, notes, room: artifactRoom() });
  return { sources: [source, ...artifacts], testResults, notes };
}

async function fetchConsole(options: JenkinsBuildSourceOptions, address: URL, maxBytes: number, signal: AbortSignal): Promise<SourceText> {
  const console = await getFrom(options, new URL('consoleText', address), 'the console', maxBytes, signal);
  return decodeSource(JENKINS_CONSOLE, console, 'log', { maxBytes });
}

/** A build without tests has no report: that is no failure, and neither is a report that cannot be read. */
async function fetchTestResults(
  options: JenkinsBuildSourceOptions,
  address: URL,
  notes: string[],
  signal: AbortSignal,
): Promise<TestResult[]> {
  const url = new URL(`testReport/api/json?tree=${encodeURIComponent(REPORT_TREE)}`, address);
  try {
    const bytes = await getFrom(options, url, 'the test report', MAX_REPORT_BYTES, signal);
    return TestReport.parse(JSON.parse(bytes.toString('utf8'))).suites.flatMap(resultsOf);
  } catch (error) {
    if (signal.aborted) throw error;
    if (!(error instanceof TriageError) || error.code !== 'not-found') {
      options.logger.warn({ error }, 'a Jenkins test report could not be read');
      notes.push(
        `The test report could not be read: ${error instanceof TriageError ? error.message : 'Jenkins returned something unexpected.'}`,
      );
    }
    return [];
  }
}

function resultsOf(suite: TestReport['suites'][number]): TestResult[] {
  return suite.cases.map((test) => ({
    name: test.name,
    suite: test.className ?? suite.name ?? null,
    file: null,
    status: statusOf(test.status),
    durationMs: test.duration === null || test.duration === undefined ? null : test.duration * 1000,
  }));
}

/** Jenkins says PASSED, FIXED, FAILED, REGRESSION or SKIPPED. */
function statusOf(status: string): TestResult['status'] {
  if (status === 'FAILED' || status === 'REGRESSION') return 'failed';
  return status === 'SKIPPED' ? 'skipped' : 'passed';
}

async function getFrom(options: JenkinsBuildSourceOptions, url: URL, what: string, maxBytes: number, signal: AbortSignal): Promise<Buffer> {
  const { user, token } = options;
  const headers = user === null || token === null ? {} : { authorization: `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}` };
  try {
    const response = await fetch(url, { headers, signal, redirect: 'manual' });
    if (response.ok) return await readBounded(what, response.body, maxBytes);
    await response.body?.cancel();
    throw statusError(what, response.status);
  } catch (error) {
    if (error instanceof TriageError) throw error;
    throw new TriageError('upstream-failed', `Jenkins could not be reached for ${what}: ${messageOf(error)}.`, {
      retryable: true,
      cause: error,
    });
  }
}

function statusError(what: string, status: number): TriageError {
  if (status === 401 || status === 403 || (status >= 300 && status < 400)) {
    const told = status < 400 ? 'redirects to a sign-in page' : `answered ${status}`;
    return new TriageError(
      'upstream-auth',
      `Jenkins ${told} for ${what}. FAULTLINE_JENKINS_USER and FAULTLINE_JENKINS_TOKEN need permission to read the job.`,
    );
  }
  if (status === 404 || status === 410)
    return new TriageError('not-found', `Jenkins returned ${status} for ${what}: the build may have been deleted.`);
  return new TriageError('upstream-failed', `Jenkins returned ${status} for ${what}.`, { retryable: status >= 500 || status === 429 });
}
