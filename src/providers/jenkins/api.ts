import { z } from 'zod';
import { type Build, CONSOLE_LOG, type SourceText, type TestResult } from '../../domain/build.ts';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { mapInParallel } from '../../lib/collections.ts';
import { decodeSource } from '../../log/decode/decode.ts';
import {
  type ArtifactRoom,
  createArtifactRoom,
  createNameOnly,
  openArtifact,
} from '../../log/inventory/open-artifact.ts';
import type { BuildSource, FetchedBuild } from '../../ports/build-source.ts';
import type { Logger } from '../../ports/telemetry.ts';
import { selectArtifacts } from '../artifacts.ts';
import { withPage } from '../job-logs.ts';
import { withDeadline } from '../rest-client.ts';
import { checkJenkinsAddress, type JenkinsAccess, READ_JOB, readJenkins } from './client.ts';
import { completeJenkinsBuild } from './complete-build.ts';

export interface JenkinsBuildSourceOptions extends JenkinsAccess {
  /** Time limit of one whole fetch, in milliseconds. */
  readonly timeoutMs: number;
  readonly maxLogBytes: number;
  readonly logger: Logger;
}

const MAX_REPORT_BYTES = 32 * 1024 * 1024;
const SUITES_TREE = 'suites[name,cases[className,name,status,duration]]';
const REPORT_TREE = `${SUITES_TREE},childReports[result[${SUITES_TREE}]]`;

/** The suites of a test report, of it the fields that the tree above names. Durations are in seconds. */
const Suites = z.object({
  suites: z
    .array(
      z.object({
        name: z.string().nullish(),
        cases: z
          .array(
            z.object({
              className: z.string().nullish(),
              name: z.string(),
              status: z.string(),
              duration: z.number().nullish(),
            }),
          )
          .default([]),
      }),
    )
    .default([]),
});
type Suites = z.infer<typeof Suites>;

/** Jenkins' test report. That of a Maven or matrix build consists of the reports of its parts. */
const TestReport = Suites.extend({ childReports: z.array(z.object({ result: Suites })).default([]) });

/** Reads the console, the test report and the artifacts of a build from Jenkins. */
export function createJenkinsBuildSource(options: JenkinsBuildSourceOptions): BuildSource {
  return {
    provider: 'jenkins',
    fetch: (build, signal) =>
      withDeadline(
        `Fetching build ${build.number} of ${build.pipeline} from Jenkins`,
        options.timeoutMs,
        signal,
        (within) => fetchBuild(options, build, within),
      ),
    fetchGreen: (build, signal, maxBytes) =>
      withDeadline(
        `Fetching the passed build ${build.number} of ${build.pipeline} from Jenkins`,
        options.timeoutMs,
        signal,
        async (within) => [
          await fetchConsole(
            options,
            checkJenkinsAddress(options.baseUrl, build),
            Math.min(maxBytes, options.maxLogBytes),
            within,
          ),
        ],
      ),
    complete: (build, signal) =>
      withDeadline(
        `Asking Jenkins about build ${build.number} of ${build.pipeline}`,
        options.timeoutMs,
        signal,
        (within) => completeJenkinsBuild(options, build, within),
      ),
  };
}

async function fetchBuild(
  options: JenkinsBuildSourceOptions,
  build: Build,
  signal: AbortSignal,
): Promise<FetchedBuild> {
  const address = checkJenkinsAddress(options.baseUrl, build);
  const notes: string[] = [];
  const source = await fetchConsole(options, address, options.maxLogBytes, signal);
  const testResults = await fetchTestResults(options, address, notes, signal);
  const get = (path: string, what: string, maxBytes: number) =>
    readJenkins(options, new URL(path, address), { what, right: READ_JOB, maxBytes, signal });
  const artifacts = await fetchJenkinsArtifacts({ get, signal, notes, room: createArtifactRoom() });
  return { sources: [source, ...artifacts], testResults, notes };
}

async function fetchConsole(
  options: JenkinsBuildSourceOptions,
  address: URL,
  maxBytes: number,
  signal: AbortSignal,
): Promise<SourceText> {
  const question = { what: 'the console', right: READ_JOB, maxBytes, signal };
  const console = await readJenkins(options, new URL('consoleText', address), question);
  return withPage(decodeSource(CONSOLE_LOG, console, 'log', { maxBytes }), {
    url: new URL('consoleFull', address).href,
  });
}

/**
 * Fetches the test report. A build without tests has none; neither that nor an unreadable report is an error.
 */
async function fetchTestResults(
  options: JenkinsBuildSourceOptions,
  address: URL,
  notes: string[],
  signal: AbortSignal,
): Promise<TestResult[]> {
  const url = new URL(`testReport/api/json?tree=${encodeURIComponent(REPORT_TREE)}`, address);
  try {
    const bytes = await readJenkins(options, url, {
      what: 'the test report',
      right: READ_JOB,
      maxBytes: MAX_REPORT_BYTES,
      signal,
    });
    const { suites, childReports } = TestReport.parse(JSON.parse(bytes.toString('utf8')));
    return [...suites, ...childReports.flatMap(({ result }) => result.suites)].flatMap(toTestResults);
  } catch (error) {
    if (signal.aborted) throw error;
    if (!(error instanceof TriageError) || error.code !== 'not-found') {
      options.logger.warn({ error }, 'a Jenkins test report could not be read');
      notes.push(
        'The test report could not be ' +
          `read: ${error instanceof TriageError ? error.message : 'Jenkins returned something unexpected.'}`,
      );
    }
    return [];
  }
}

function toTestResults(suite: Suites['suites'][number]): TestResult[] {
  return suite.cases.map((test) => ({
    name: test.name,
    suite: test.className ?? suite.name ?? null,
    file: null,
    status: toTestStatus(test.status),
    durationMs: test.duration === null || test.duration === undefined ? null : test.duration * 1000,
  }));
}

/** Jenkins says PASSED, FIXED, FAILED, REGRESSION or SKIPPED. */
function toTestStatus(status: string): TestResult['status'] {
  if (status === 'FAILED' || status === 'REGRESSION') return 'failed';
  return status === 'SKIPPED' ? 'skipped' : 'passed';
}

interface JenkinsArtifacts {
  /** Reads what lies below the build's page. Throws as `BuildSource.fetch` does. */
  readonly get: (path: string, what: string, maxBytes: number) => Promise<Buffer>;
  readonly signal: AbortSignal;
  readonly notes: string[];
  readonly room: ArtifactRoom;
}

const TREE = 'artifacts[fileName,relativePath]';
const Listed = z.object({
  artifacts: z.array(z.object({ relativePath: z.string().min(1).max(1_000) })).default([]),
});

const MAX_LIST_BYTES = 4 * 1024 * 1024;
/** The maximum size of one artifact. */
const MAX_BYTES = 16 * 1024 * 1024;
/**
 * The maximum number of fetched files. Jenkins stores single files, so there are more of them than artifacts
 * at GitHub.
 */
const MAX_FETCHED = 40;
const AT_ONCE = 4;

/**
 * Returns the archived artifacts of a build, those with informative names first. For an artifact that is not
 * fetched, returns its name and the reason. Artifacts complete the console but
 * never replace it: if they cannot be read, a note is added.
 */
async function fetchJenkinsArtifacts(fetching: JenkinsArtifacts): Promise<SourceText[]> {
  try {
    const offered = (await listArtifacts(fetching)).map((name) => ({ name, bytes: null }));
    const { fetch, leave } = selectArtifacts(offered, { maxBytes: MAX_BYTES, maxCount: MAX_FETCHED });
    const read = await mapInParallel(fetch, AT_ONCE, ({ name }) => readArtifact(fetching, name));
    return [...read.flat(), ...leave.map(({ name, why }) => createNameOnly(name, why))];
  } catch (error) {
    if (fetching.signal.aborted) throw error;
    // A Jenkins that hides or does not know the list has none to read.
    if (!(error instanceof TriageError) || error.code !== 'not-found') {
      const why = error instanceof TriageError ? error.message : 'Jenkins did not return a list.';
      fetching.notes.push(`The build's artifacts could not be read: ${why}`);
    }
    return [];
  }
}

async function listArtifacts({ get }: JenkinsArtifacts): Promise<string[]> {
  const bytes = await get(
    `api/json?tree=${encodeURIComponent(TREE)}`,
    'the list of artifacts',
    MAX_LIST_BYTES,
  );
  return Listed.parse(JSON.parse(bytes.toString('utf8'))).artifacts.map(({ relativePath }) => relativePath);
}

/** Names are the job's: each part is encoded, and none may climb out of the build's own folder. */
async function readArtifact({ get, signal, room }: JenkinsArtifacts, name: string): Promise<SourceText[]> {
  const parts = name.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..'))
    return [createNameOnly(name, 'its name is not a file path')];
  try {
    const bytes = await get(`artifact/${parts.map(encodeURIComponent).join('/')}`, 'an artifact', MAX_BYTES);
    return await openArtifact(name, bytes, room);
  } catch (error) {
    if (signal.aborted || !(error instanceof TriageError)) throw error;
    return [createNameOnly(name, getErrorMessage(error))];
  }
}
