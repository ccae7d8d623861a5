import { existsSync } from 'node:fs';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { TriageError } from '../../domain/errors.ts';
import { createGit, getTrustedPath, isSuccess } from '../../git/command.ts';

/**
 * The projects of the captured failures: `project` contains the files of the failed commit, `before` those of
 * the commit before.
 */
const PROJECTS = resolve(import.meta.dirname, '../../../test/captures/projects');
const GIT_MS = 20_000;

interface DemoCommit {
  readonly message: string;
  readonly author: string;
  readonly at: number;
  /** The branch of a pull request, which begins at the newest commit of the default branch. */
  readonly branch?: string;
  /** A project whose files replace others, as of the failed commit or the one before. */
  readonly lays?: { readonly slug: string; readonly as: 'project' | 'before' };
}

/** A repository of the demo: its captured projects, the owners of its files, and its history. */
export interface DemoRepository {
  readonly slugs: readonly string[];
  readonly owners: readonly string[];
  readonly commits: readonly DemoCommit[];
}

/**
 * Creates a clone with the code and CODEOWNERS of a repository. Resolves to its commits in order, or to none
 * if it existed. Rejects without git.
 */
export async function makeDemoClone(
  folder: string,
  { slugs, owners, commits }: DemoRepository,
): Promise<string[]> {
  if (existsSync(folder)) return [];
  await mkdir(join(folder, '.github'), { recursive: true });
  const path = getTrustedPath(process.env.PATH, folder);
  const git = async (args: readonly string[], env = {}) => {
    const answer = await createGit({ path, timeoutMs: GIT_MS, env })(
      folder,
      args,
      new AbortController().signal,
    );
    if (!isSuccess(answer))
      throw new TriageError('upstream-failed', `git ${args[0]} in ${folder}: ${answer.complaint.trim()}`);
    return answer.output.trim();
  };
  await git(['init', '--quiet', '--initial-branch=main']);
  for (const slug of slugs) for (const part of ['project', 'before'] as const) await lay(folder, slug, part);
  await writeFile(join(folder, '.github/CODEOWNERS'), `${owners.join('\n')}\n`);
  const ids: string[] = [];
  for (const { message, author, at, lays, branch = 'main' } of commits) {
    if (ids.length > 0) await git(['checkout', '--quiet', '-B', branch, 'main']);
    if (lays !== undefined) await layChanged(folder, lays);
    const [date, email] = [new Date(at).toISOString(), `${author}@example.test`];
    const who = {
      GIT_AUTHOR_NAME: author,
      GIT_AUTHOR_EMAIL: email,
      GIT_COMMITTER_NAME: author,
      GIT_COMMITTER_EMAIL: email,
    };
    await git(['add', '--all']);
    await git(['commit', '--quiet', '--allow-empty', '--no-gpg-sign', '-m', message], {
      ...who,
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_DATE: date,
    });
    ids.push(await git(['rev-parse', 'HEAD']));
  }
  await git(['checkout', '--quiet', 'main']);
  return ids;
}

/** Lays only the files that a project has in both states, so that a commit changes nothing else. */
async function layChanged(folder: string, { slug, as }: NonNullable<DemoCommit['lays']>): Promise<void> {
  const [from, other] = [
    join(PROJECTS, slug, as),
    join(PROJECTS, slug, as === 'project' ? 'before' : 'project'),
  ];
  if (!existsSync(from) || !existsSync(other)) return;
  const filter = (file: string) => existsSync(join(other, relative(from, file)));
  await cp(from, folder, { recursive: true, filter });
}

async function lay(folder: string, slug: string, part: 'project' | 'before'): Promise<void> {
  const from = join(PROJECTS, slug, part);
  if (existsSync(from)) await cp(from, folder, { recursive: true });
}
