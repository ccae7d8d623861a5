import type { SourceText } from '../domain/build.ts';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import { mapInParallel } from '../lib/collections.ts';
import { formatSize } from '../log/decode/decode.ts';
import { type ArtifactRoom, createNameOnly, openArtifact } from '../log/inventory/open-artifact.ts';
import { readFileName } from '../log/inventory/references.ts';

/** An artifact as a CI system lists it. */
export interface Offered {
  readonly name: string;
  /** Null if the list does not say. */
  readonly bytes: number | null;
}

/** Usual names of artifacts that contain JUnit reports. */
const REPORT_NAME = /junit|surefire|failsafe|test[-_ ]?(?:results?|reports?)|xunit/i;
/** Usual names of artifacts that contain logs. */
const LOG_NAME = /log|dump|crash|debug|diagnos|trace|core|output|stderr|stdout|hs_err/i;
/** Usual names of artifacts that contain the product of the build. */
const PRODUCT_NAME = new RegExp(
  '^(?:dist|build|bin|binar(?:y|ies)|release|package|bundle|installer|wheels?|docs?|site|' +
    'image|docker)s?(?:[-_.]|$)|coverage|sbom|github-pages',
  'i',
);
const MAX_NAME = 200;

/** Checks whether the name of an artifact suggests test reports. */
function isNamedLikeReports(name: string): boolean {
  return REPORT_NAME.test(name.slice(0, MAX_NAME));
}

/** Selects the artifacts to download, the most promising first, and gives a reason for each of the others. */
export function selectArtifacts<One extends Offered>(
  offered: readonly One[],
  limits: { readonly maxBytes: number; readonly maxCount: number },
): {
  readonly fetch: readonly One[];
  readonly leave: readonly { readonly name: string; readonly why: string }[];
} {
  const fetch: One[] = [];
  const leave: { name: string; why: string }[] = [];
  for (const artifact of [...offered].sort((left, right) => rankName(left.name) - rankName(right.name))) {
    const why =
      explainLeaving(artifact, limits.maxBytes) ??
      (fetch.length < limits.maxCount ? null : `${limits.maxCount} others were fetched`);
    if (why === null) fetch.push(artifact);
    else leave.push({ name: artifact.name, why });
  }
  return { fetch, leave: leave.slice(0, 50) };
}

function explainLeaving({ name, bytes }: Offered, maxBytes: number): string | null {
  if (bytes !== null && bytes > maxBytes)
    return `it is ${formatSize(bytes)}, more than ${formatSize(maxBytes)}`;
  const named = readFileName(name);
  if (named?.grade === 'skip') return named.reason;
  return rankName(name) === 3 ? 'a build output, judging by its name' : null;
}

function rankName(name: string): number {
  const start = name.slice(0, MAX_NAME);
  if (REPORT_NAME.test(start)) return 0;
  if (readFileName(name)?.grade === 'relevant') return 0;
  if (PRODUCT_NAME.test(start)) return 3;
  return LOG_NAME.test(start) ? 1 : 2;
}

export interface ArtifactFetching<One extends Offered> {
  /** Lists the available archives. Throws as `BuildSource.fetch` does. */
  readonly list: () => Promise<readonly One[]>;
  readonly download: (artifact: One, what: string, maxBytes: number) => Promise<Buffer>;
  readonly signal: AbortSignal;
  readonly notes: string[];
  readonly room: ArtifactRoom;
}

/** The maximum packed size of one archive. */
const MAX_BYTES = 20 * 1024 * 1024;
const MAX_FETCHED = 12;
const AT_ONCE = 3;
/** Notes that a file was left out. They are dropped, because most content of artifacts is never read. */
const LEFT_OUT = /left out/i;

/**
 * Returns the test reports, logs and other texts in the run's archives, those with informative names first.
 * For an archive that is not fetched, returns its name and the reason.
 * Artifacts complete a log but never replace it: if they cannot be read, a note is added and the build
 * continues.
 */
export async function fetchArtifacts<One extends Offered>(
  fetching: ArtifactFetching<One>,
  logs: number,
): Promise<SourceText[]> {
  try {
    const { fetch, leave } = selectArtifacts(await fetching.list(), {
      maxBytes: MAX_BYTES,
      maxCount: MAX_FETCHED,
    });
    const read = await mapInParallel(fetch, AT_ONCE, (artifact) => readArtifact(fetching, artifact));
    return [...read.flat(), ...leave.map(({ name, why }) => createNameOnly(name, why))];
  } catch (error) {
    if (fetching.signal.aborted || logs === 0) throw error;
    fetching.notes.push(`The run's artifacts could not be read: ${getErrorMessage(error)}`);
    return [];
  }
}

async function readArtifact<One extends Offered>(
  fetching: ArtifactFetching<One>,
  artifact: One,
): Promise<SourceText[]> {
  const { signal, notes, room } = fetching;
  const { name } = artifact;
  const what = `the artifact "${name}"`;
  try {
    const files = await openArtifact(name, await fetching.download(artifact, what, MAX_BYTES), room);
    if (files[0]?.name === name) throw new TriageError('invalid-input', `${what} is not an archive.`);
    if (isNamedLikeReports(name) && !files.some(({ kind }) => kind === 'report'))
      notes.push(`There is no test report in ${what}.`);
    return files.map((file) => ({ ...file, notes: file.notes.filter((note) => !LEFT_OUT.test(note)) }));
  } catch (error) {
    if (signal.aborted || !(error instanceof TriageError)) throw error;
    notes.push(`The content of ${what} could not be read: ${error.message}`);
    return [];
  }
}
