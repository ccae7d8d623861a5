import { z } from 'zod';
import type { SourceText } from '../../domain/build.ts';
import { messageOf, TriageError } from '../../domain/errors.ts';
import { inParallel } from '../../log/survey/in-parallel.ts';
import { type ArtifactRoom, namelessText, openArtifact } from '../../log/survey/open-artifact.ts';
import { artifactsToFetch } from './choose-artifacts.ts';

export interface JenkinsArtifacts {
  /** Reads what lies below the build's page. Throws as `BuildSource.fetch` does. */
  readonly get: (path: string, what: string, maxBytes: number) => Promise<Buffer>;
  readonly signal: AbortSignal;
  readonly notes: string[];
  readonly room: ArtifactRoom;
}

const TREE = 'artifacts[fileName,relativePath]';
const Listed = z.object({ artifacts: z.array(z.object({ relativePath: z.string().min(1).max(1_000) })).default([]) });

const MAX_LIST_BYTES = 4 * 1024 * 1024;
/** Of one artifact. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Jenkins keeps single files, so there are more of them than GitHub has artifacts. */
const MAX_FETCHED = 40;
const AT_ONCE = 4;

/**
 * The archived artifacts of a build, those with telling names first; of what is not fetched, the name and why. They complete the console but
 * never replace it: where they cannot be read a note says so.
 */
export async function fetchJenkinsArtifacts(fetching: JenkinsArtifacts): Promise<SourceText[]> {
  try {
    const offered = (await listArtifacts(fetching)).map((name) => ({ name, bytes: null }));
    const { fetch, leave } = artifactsToFetch(offered, { maxBytes: MAX_BYTES, maxCount: MAX_FETCHED });
    const read = await inParallel(fetch, AT_ONCE, ({ name }) => readArtifact(fetching, name));
    return [...read.flat(), ...leave.map(({ name, why }) => namelessText(name, why))];
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
  const bytes = await get(`api/json?tree=${encodeURIComponent(TREE)}`, 'the list of artifacts', MAX_LIST_BYTES);
  return Listed.parse(JSON.parse(bytes.toString('utf8'))).artifacts.map(({ relativePath }) => relativePath);
}

/** Names are the job's: each part is encoded, and none may climb out of the build's own folder. */
async function readArtifact({ get, signal, room }: JenkinsArtifacts, name: string): Promise<SourceText[]> {
  const parts = name.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..')) return [namelessText(name, 'its name is not a file path')];
  try {
    const bytes = await get(`artifact/${parts.map(encodeURIComponent).join('/')}`, 'an artifact', MAX_BYTES);
    return await openArtifact(name, bytes, room);
  } catch (error) {
    if (signal.aborted || !(error instanceof TriageError)) throw error;
    return [namelessText(name, messageOf(error))];
  }
}
