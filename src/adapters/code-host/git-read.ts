import type { BlameLine } from '../../ports/code-host.ts';
import { assertReadableSize, type FileWindow, linkError, linkTarget, submoduleError, windowOf } from './file-text.ts';
import { lineRange } from './git-arguments.ts';
import { assertAnswered, succeeded } from './git-command.ts';
import { parseBlame } from './git-output.ts';
import type { Ask, Place } from './git-place.ts';
import { MAX_LINES } from './limits.ts';

/** Commits whose list of files is kept: it never changes for a commit. */
const KEPT_LISTS = 4;
const MAX_LINKS = 5;

export interface FileList {
  readonly paths: readonly string[];
  readonly truncated: boolean;
}

type Range = { readonly lineStart?: number; readonly lineEnd?: number };

/** Reads lines of a committed file; a link is followed within the commit only, and `path` is then the file it leads to. */
export async function readWindow(ask: Ask, place: Place, query: { path: string } & Range, signal: AbortSignal): Promise<FileWindow | null> {
  let path = query.path;
  for (let hops = 0; hops <= MAX_LINKS; hops += 1) {
    const entry = await entryOf(ask, place, path, signal);
    if (entry === null || entry.mode === '040000') {
      if (hops > 0) throw linkError(query.path, path);
      return null;
    }
    if (entry.mode === '160000') throw submoduleError(path);
    if (entry.mode !== '120000') return windowOf(path, await readBlob(ask, place, { path, object: entry.object }, signal), query);
    const link = await readBlob(ask, place, { path, object: entry.object }, signal);
    const target = linkTarget(path, link);
    if (target === null) throw linkError(path, link);
    path = target;
  }
  throw linkError(query.path, path);
}

/** Git gives up on a file that is not there and on a first line past the end: nobody to blame, in both cases. */
export async function blameLines(
  ask: Ask,
  place: Place,
  query: { path: string; lineStart: number; lineEnd: number },
  signal: AbortSignal,
): Promise<BlameLine[]> {
  const { first, last } = lineRange(query.lineStart, query.lineEnd, MAX_LINES);
  const args = ['blame', '--porcelain', '--no-textconv', '-L', `${first},${last}`, place.commit, '--', query.path];
  const answer = await ask(place, args, signal);
  return succeeded(answer) ? parseBlame(answer.output) : [];
}

/** Lists a commit's files (links too, submodules not), remembering the last few lists. */
export function createFileLister(ask: Ask): (place: Place, signal: AbortSignal) => Promise<FileList> {
  const kept = new Map<string, FileList>();
  return async (place, signal) => {
    const key = `${place.folder}\0${place.commit}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const answer = await ask(place, ['ls-tree', '-r', '-z', '--full-tree', place.commit], signal);
    assertAnswered(answer, 'list the files');
    const entries = answer.output.split('\0').slice(0, -1);
    const paths = entries.filter((entry) => !entry.startsWith('160000 ')).map((entry) => entry.slice(entry.indexOf('\t') + 1));
    const list = { paths, truncated: answer.cut };
    const oldest = kept.keys().next().value;
    if (kept.size >= KEPT_LISTS && oldest !== undefined) kept.delete(oldest);
    kept.set(key, list);
    return list;
  };
}

async function entryOf(ask: Ask, place: Place, path: string, signal: AbortSignal) {
  const answer = await ask(place, ['ls-tree', '-z', '--full-tree', place.commit, '--', path], signal);
  const fields = succeeded(answer) ? /^(\d{6}) [a-z]{1,10} ([0-9a-f]{40,64})\t/.exec(answer.output) : null;
  return fields === null ? null : { mode: fields[1] ?? '', object: fields[2] ?? '' };
}

async function readBlob(ask: Ask, place: Place, { path, object }: { path: string; object: string }, signal: AbortSignal): Promise<string> {
  const size = await ask(place, ['cat-file', '-s', object], signal);
  assertAnswered(size, `read ${path}; a partial clone may not hold it`);
  assertReadableSize(path, Number(size.output));
  const blob = await ask(place, ['cat-file', 'blob', object], signal);
  assertAnswered(blob, `read ${path}`);
  return blob.output;
}
