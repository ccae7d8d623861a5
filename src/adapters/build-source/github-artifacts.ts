import type { SourceText } from '../../domain/build.ts';
import { messageOf, TriageError } from '../../domain/errors.ts';
import { inParallel } from '../../log/survey/in-parallel.ts';
import { type ArtifactRoom, namelessText, openArtifact } from '../../log/survey/open-artifact.ts';
import { artifactsToFetch, isNamedLikeReports, type Offered } from './choose-artifacts.ts';
import { type GithubClient, type GithubRun, githubError } from './github-client.ts';
import { download } from './github-download.ts';

export interface ArtifactFetching {
  readonly client: GithubClient;
  readonly run: GithubRun;
  readonly signal: AbortSignal;
  readonly notes: string[];
  readonly room: ArtifactRoom;
}

/** Of one artifact, packed. */
const MAX_BYTES = 20 * 1024 * 1024;
const MAX_FETCHED = 12;
const AT_ONCE = 3;
/** Artifacts hold much that nobody reads, which is no remark. */
const LEFT_OUT = /left out/i;

/**
 * The test reports, logs and other texts in the run's artifacts, those with telling names first; of what is not fetched, the name and why.
 * They complete a log but never replace it: where they cannot be read a note says so, and the build goes on.
 */
export async function fetchArtifacts(fetching: ArtifactFetching, logs: number): Promise<SourceText[]> {
  try {
    const { fetch, leave } = artifactsToFetch(await listArtifacts(fetching), { maxBytes: MAX_BYTES, maxCount: MAX_FETCHED });
    const read = await inParallel(fetch, AT_ONCE, (artifact) => readArtifact(fetching, artifact));
    return [...read.flat(), ...leave.map(({ name, why }) => namelessText(name, why))];
  } catch (error) {
    if (fetching.signal.aborted || logs === 0) throw error;
    fetching.notes.push(`The run's artifacts could not be read: ${messageOf(error)}`);
    return [];
  }
}

type Artifact = Offered & { readonly id: number };

async function listArtifacts({ client, run, signal }: ArtifactFetching): Promise<Artifact[]> {
  const { owner, repo, run_id } = run;
  const { data } = await client.rest.actions
    .listWorkflowRunArtifacts({ owner, repo, run_id, per_page: 100, request: { signal } })
    .catch((error: unknown) => {
      throw githubError("the run's artifacts", error);
    });
  return data.artifacts.filter(({ expired }) => !expired).map(({ id, name, size_in_bytes: bytes }) => ({ id, name, bytes }));
}

async function readArtifact({ client, run, signal, notes, room }: ArtifactFetching, artifact: Artifact): Promise<SourceText[]> {
  const what = `the artifact "${artifact.name}"`;
  const { owner, repo } = run;
  const parameters = { owner, repo, artifact_id: artifact.id };
  const route = 'GET /repos/{owner}/{repo}/actions/artifacts/{artifact_id}/zip';
  try {
    const archive = await download(client, { what, route, parameters, maxBytes: MAX_BYTES }, signal);
    const files = await openArtifact(artifact.name, archive, room);
    if (files[0]?.name === artifact.name) throw new TriageError('invalid-input', `${what} is not an archive.`);
    if (isNamedLikeReports(artifact.name) && !files.some(({ kind }) => kind === 'report')) {
      notes.push(`There is no test report in ${what}.`);
    }
    return files.map((file) => ({ ...file, notes: file.notes.filter((note) => !LEFT_OUT.test(note)) }));
  } catch (error) {
    if (signal.aborted || !(error instanceof TriageError)) throw error;
    notes.push(`The content of ${what} could not be read: ${error.message}`);
    return [];
  }
}
