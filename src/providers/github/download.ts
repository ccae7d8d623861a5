import type { SourceText } from '../../domain/build.ts';
import { messageOf, TriageError } from '../../domain/errors.ts';
import { type ArtifactRoom, inParallel, namelessText, openArtifact } from '../../log/survey/open-artifact.ts';
import { artifactsToFetch, isNamedLikeReports, type Offered } from '../artifacts.ts';
import { readBounded } from '../rest.ts';
import { type GithubClient, githubError } from './client.ts';

/** A run of Actions, as the API addresses it. */
export interface GithubRun {
  readonly owner: string;
  readonly repo: string;
  readonly run_id: number;
  readonly attempt_number: number;
}

export interface Download {
  /** For people: `the log of "build"`. */
  readonly what: string;
  /** Path of the API below its base, with its variables filled in by the client. */
  readonly route: `GET /${string}`;
  readonly parameters: Readonly<Record<string, string | number>>;
  readonly maxBytes: number;
}

/**
 * Downloads what GitHub answers with a redirect to its storage. The redirect is followed by hand and without the token:
 * the storage is another host, and the address is signed. Throws as `BuildSource.fetch` does.
 */
export async function download(
  client: GithubClient,
  { what, route, parameters, maxBytes }: Download,
  signal: AbortSignal,
): Promise<Buffer> {
  const answer = await client
    .request(route, { ...parameters, request: { signal, redirect: 'manual', parseSuccessResponseBody: false } })
    .catch((error: unknown) => {
      throw githubError(what, error, 'Actions');
    });
  const body: unknown = answer.data;
  const status: number = answer.status;
  if (status < 300) return await bounded(what, body instanceof ReadableStream ? body : null, maxBytes);
  if (body instanceof ReadableStream) await body.cancel();
  const address = new URL(answer.headers.location ?? '', answer.url);
  if (address.protocol !== 'https:' && address.protocol !== new URL(answer.url).protocol) {
    throw new TriageError('upstream-failed', `GitHub sent ${what} to an address that is not encrypted.`);
  }
  return await bounded(what, await openStorage(what, address, signal), maxBytes);
}

async function openStorage(what: string, address: URL, signal: AbortSignal): Promise<ReadableStream<Uint8Array> | null> {
  // The address is signed and must not be logged: errors name its host only.
  const response = await fetch(address, { signal, redirect: 'error' }).catch((error: unknown) => {
    throw new TriageError('upstream-failed', `The storage at ${address.host} could not be reached for ${what}.`, {
      retryable: true,
      cause: error,
    });
  });
  if (response.ok) return response.body;
  await response.body?.cancel();
  const { status } = response;
  if (status === 404 || status === 410) throw new TriageError('not-found', `The storage answered ${status} for ${what}: it has expired.`);
  // A signed address that has run out is signed anew by the next try.
  throw new TriageError('upstream-failed', `The storage at ${address.host} answered ${status} for ${what}.`, { retryable: true });
}

async function bounded(what: string, body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<Buffer> {
  try {
    return await readBounded(what, body, maxBytes);
  } catch (error) {
    if (error instanceof TriageError) throw error;
    throw new TriageError('upstream-failed', `The connection broke while reading ${what}: ${messageOf(error)}.`, {
      retryable: true,
      cause: error,
    });
  }
}

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
      throw githubError("the run's artifacts", error, 'Actions');
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
