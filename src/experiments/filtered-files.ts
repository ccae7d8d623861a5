import { chmod, copyFile, lstat, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import type { Checkout, WorkTree } from './checkout.ts';

const MAX_ROUNDS = 50;

/** Fetches the objects of a commit that a partial clone lacks. Throws `invalid-input` if it cannot. */
export async function fetchMissing(
  { git, gitOnline, settings: { promisor } }: Checkout,
  commit: string,
): Promise<void> {
  if (promisor === null) return;
  const options = [
    '--quiet',
    '--no-tags',
    '--no-write-fetch-head',
    '--no-recurse-submodules',
    '--upload-pack=git-upload-pack',
  ];
  const fetch = ['-c', 'fetch.negotiationAlgorithm=noop', 'fetch', ...options, '--stdin', promisor];
  // The contents of a missing tree become known only after it was fetched.
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const listed = await git('rev-list', '--objects', '--missing=print', '--no-walk', commit).catch(() => '');
    const missing = listed.split('\n').flatMap((line) => (line.startsWith('?') ? line.slice(1) : []));
    if (missing.length === 0) return;
    await gitOnline(fetch, `${missing.join('\n')}\n`).catch((cause: unknown) => {
      const why = `This partial clone lacks ${missing.length} files of ${commit}, and they could not be fetched`;
      const how = 'Fetch them first, with your credentials: git fetch --refetch --no-filter';
      throw new TriageError('invalid-input', `${why} (${getErrorMessage(cause)}). ${how}`, { cause });
    });
  }
}

/**
 * Writes files of Git LFS from its fetched objects. Git writes files here without the filters of the
 * checkout, because filters are programs that any earlier command may have configured. Throws `invalid-input`
 * for files of other filters and for files that Git LFS has not fetched: if the base failed only because they
 * are missing, the change would be excused wrongly.
 */
export async function writeFiltered(checkout: Checkout, work: WorkTree): Promise<void> {
  const { settings, inStore } = checkout;
  if (settings.smudges.size === 0) return;
  const paths = await inStore(work, ['ls-files', '-z']);
  const fields = (await inStore(work, ['check-attr', '-z', '--stdin', 'filter'], paths)).split('\0');
  const large: string[] = [];
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [path = '', , filter = ''] = fields.slice(at, at + 3);
    const smudge = settings.smudges.get(filter);
    if (smudge === undefined) continue;
    if (filter !== 'lfs') throw filterError(path, filter, smudge);
    if (await writeLargeFile(checkout, work, path)) large.push(path);
  }
  // The files are correct, although git has written pointers.
  if (large.length > 0)
    await inStore(work, ['update-index', '-z', '--assume-unchanged', '--stdin'], `${large.join('\0')}\0`);
}

function filterError(path: string, filter: string, smudge: string): TriageError {
  const why =
    `${path} goes through the filter "${filter}" of your git configuration (${smudge}), which ` +
    'Faultline does not run';
  const how =
    'Without it, the comparison could be wrong. Leave the base out with --no-base, or remove the ' +
    'filter if you do not know it.';
  return new TriageError('invalid-input', `${why}. ${how}`);
}

interface Pointer {
  readonly id: string;
  readonly size: number;
}

/** Writes a file of Git LFS. Returns false if the checkout also has only the pointer. */
async function writeLargeFile(
  { top, settings }: Checkout,
  { folder }: WorkTree,
  path: string,
): Promise<boolean> {
  const file = join(folder, path);
  const pointer = await readPointer(file);
  if (pointer === null || (await readPointer(join(top, path))) !== null) return false;
  const { id, size } = pointer;
  const object = join(settings.lfsObjects, id.slice(0, 2), id.slice(2, 4), id);
  const found = await stat(object).catch(() => null);
  if (found?.size !== size) {
    const how = 'Run git lfs fetch --all, or leave the base out with --no-base.';
    throw new TriageError(
      'invalid-input',
      `Git LFS has not fetched ${path} (${id}), so it cannot be checked out. ${how}`,
    );
  }
  const { mode } = await lstat(file);
  await copyFile(object, file);
  await chmod(file, mode);
  return true;
}

/** The maximum size of a pointer in bytes; see https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md. */
const POINTER_BYTES = 1_024;
const POINTER = new RegExp(
  String.raw`^version https://git-lfs\.github\.com/spec/v1\n(?:[^\n]+\n)*?` +
    String.raw`oid sha256:([0-9a-f]{64})\nsize (\d{1,15})\n`,
);

async function readPointer(path: string): Promise<Pointer | null> {
  const found = await lstat(path).catch(() => null);
  if (found === null || !found.isFile() || found.size >= POINTER_BYTES) return null;
  const file = await open(path);
  try {
    const [, id, size] = POINTER.exec(await file.readFile('utf8')) ?? [];
    return id === undefined ? null : { id, size: Number(size) };
  } finally {
    await file.close();
  }
}
