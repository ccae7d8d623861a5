import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { messageOf, TriageError } from '../domain/errors.ts';
import type { Worktree } from './base-worktree.ts';
import type { AskGit } from './repository.ts';
import { changesHowTestsRun } from './test-setup.ts';

export const MAX_DIFF_BYTES = 1024 * 1024;
const MAX_FILES = 30;
/** Added and deleted together; lock files count for none. */
const MAX_LINES = 500;
const MAX_SHOWN = 20_000;

/** What a change may touch only if that is requested. */
export interface Allowed {
  readonly tests: boolean;
  readonly workflows: boolean;
}

/** A change as a commit on top of the state that is to be fixed. */
export interface Fix {
  readonly commit: string;
  readonly files: readonly string[];
  readonly added: number;
  readonly deleted: number;
  /** Null where it is too long to show. */
  readonly diff: string | null;
}

/** The first diff in a text, such as an answer's fix or a file of `git diff`; null where there is none. */
export function findDiff(text: string): string | null {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const isStart = (line: string, at: number) =>
    line.startsWith('diff --git ') || (line.startsWith('--- ') && lines[at + 1]?.startsWith('+++ ') === true);
  const start = lines.findIndex(isStart);
  if (start === -1) return null;
  const fence = lines.findIndex((line, at) => at > start && line.startsWith('```'));
  return `${lines
    .slice(start, fence === -1 ? undefined : fence)
    .join('\n')
    .trimEnd()}\n`;
}

/**
 * Makes a commit of a diff, or (null) of what was changed in the worktree's tracked files. The diff reaches the index first, so that nothing
 * is written for one that is refused. Throws `invalid-input` with the reason where it does not apply, is too large, or touches what it must not.
 */
export async function commitChange(worktree: Worktree, diff: string | null, source: string, allowed: Allowed): Promise<Fix> {
  const { git, commit: parent } = worktree;
  if (diff === null) await git('add', '--update');
  else await applyToIndex(git, diff);
  const changes = await stagedChanges(git);
  const refusal = refusalOf(changes, allowed) ?? (allowed.tests ? null : await setupRefusal(git, changes));
  if (refusal !== null) throw new TriageError('invalid-input', refusal);
  const tree = await git('write-tree');
  const commit = await git('commit-tree', tree, '-p', parent, '-m', `Apply ${source}`);
  const shown = await git('diff', '--no-color', '--no-ext-diff', '--no-textconv', parent, commit);
  const sum = (of: 'added' | 'deleted') => changes.reduce((total, change) => total + (change[of] ?? 0), 0);
  return {
    commit,
    files: changes.map(({ path }) => path),
    ...{ added: sum('added'), deleted: sum('deleted'), diff: shown.length > MAX_SHOWN ? null : shown },
  };
}

async function applyToIndex(git: AskGit, diff: string): Promise<void> {
  const outside = await mkdtemp(join(tmpdir(), 'faultline-diff-'));
  try {
    const file = join(outside, 'fix.diff');
    await writeFile(file, diff);
    const apply = (...more: readonly string[]) => git('apply', '--cached', '--whitespace=nowarn', ...more, file);
    // Whoever writes a diff by hand counts its lines wrong.
    await apply().catch(() => apply('--recount'));
  } catch (cause) {
    throw new TriageError('invalid-input', `it does not apply: ${messageOf(cause).split(': error: ').at(-1)?.split('\n')[0] ?? ''}`, {
      cause,
    });
  } finally {
    await rm(outside, { recursive: true, force: true });
  }
}

export interface Change {
  readonly path: string;
  /** Of git, before and after: 120000 is a symbolic link, 160000 a submodule. */
  readonly modes: readonly string[];
  /** Lines; null for what is no text. */
  readonly added: number | null;
  readonly deleted: number | null;
}

async function stagedChanges(git: AskGit): Promise<Change[]> {
  const list = async (...how: readonly string[]) =>
    (await git('diff', '--cached', '--no-renames', '--no-ext-diff', '-z', ...how, 'HEAD')).split('\0').filter((text) => text !== '');
  const [raw, counts] = [await list('--raw'), await list('--numstat')];
  const lines = new Map(
    counts.map((text) => {
      const [added = '-', deleted = '-', ...path] = text.split('\t');
      return [path.join('\t'), { added, deleted }];
    }),
  );
  const numberOf = (text: string | undefined) => (text === undefined || text === '-' ? null : Number(text));
  return raw.flatMap((head, at) => {
    const path = raw[at + 1];
    if (at % 2 === 1 || path === undefined) return [];
    const count = lines.get(path);
    return [{ path, modes: head.slice(1).split(' ').slice(0, 2), added: numberOf(count?.added), deleted: numberOf(count?.deleted) }];
  });
}

/** Why a change of how tests run is not tried; null where it is none. */
async function setupRefusal(git: AskGit, changes: readonly Change[]): Promise<string | null> {
  for (const { path } of changes.filter((change) => !LOCK_FILES.test(basename(change.path)))) {
    const how = ['--no-renames', '--no-color', '--no-ext-diff', '--no-textconv', `--unified=${WHOLE_FILE}`];
    const diff = await git('diff', '--cached', ...how, 'HEAD', '--', path);
    if (changesHowTestsRun(path, diff)) return `${path} says how the tests run; allow it with --allow-tests`;
  }
  return null;
}

/** Lines around a change that are read with it: all of its file. */
const WHOLE_FILE = 1_000_000;

const LOCK_FILES =
  /^(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lock|(?:uv|poetry|Cargo|Gemfile|composer|Pipfile)\.lock|go\.sum)$/;
const SECRETS =
  /^(?:\.env(?:\.(?!example$|sample$|template$).*)?|\.npmrc|\.pypirc|\.netrc|\.git-credentials|\.htpasswd|kubeconfig|id_(?:rsa|dsa|ecdsa|ed25519).*|credentials?(?:\.\w+)?|secrets?\.\w+|.*\.(?:pem|key|p12|pfx|jks|keystore|kdbx))$/i;
const SECRET_FOLDERS = /(?:^|\/)\.(?:aws|ssh|gnupg|docker|kube)\//i;
const WORKFLOWS =
  /(?:^|\/)(?:\.(?:github|gitea|forgejo|gitlab|circleci|buildkite|azure-pipelines|woodpecker|husky|git-hooks|githooks)\/|(?:\.gitlab-ci|\.travis|\.drone|\.woodpecker|\.appveyor|appveyor|azure-pipelines|bitbucket-pipelines|\.pre-commit-config|lefthook)[^/]*\.ya?ml$|Jenkinsfile[^/]*$|CODEOWNERS$|\.gitattributes$)/i;
const TEST_FOLDERS = /(?:^|\/)(?:tests?|specs?|__tests__|__snapshots__|__mocks__|e2e|testdata|fixtures|golden|features|cypress)\//;
const TEST_NAMES =
  /^test_|^conftest\.py$|\.(?:test|spec|tests|cy|snap|golden|feature|bats)(?:\.|$)|_(?:test|tests|spec)\.\w{1,8}$|[a-z\d](?:Tests?|Spec|IT)\.[a-z]{1,8}$/;
const TEST_SETTINGS =
  /^(?:(?:jest|vitest|playwright|karma|cypress)\.(?:config|setup)\..*|\.mocharc.*|pytest\.ini|tox\.ini|phpunit\.xml.*|\.rspec)$/i;

/** Why a change is not tried; null where it is. */
export function refusalOf(changes: readonly Change[], allowed: Allowed): string | null {
  if (changes.length === 0) return 'it changes nothing';
  if (changes.length > MAX_FILES) return `it changes ${changes.length} files, more than ${MAX_FILES}`;
  const lines = changes.reduce(
    (sum, { path, added, deleted }) => sum + (LOCK_FILES.test(basename(path)) ? 0 : (added ?? 0) + (deleted ?? 0)),
    0,
  );
  if (lines > MAX_LINES) return `it changes ${lines} lines, more than ${MAX_LINES}`;
  for (const change of changes) {
    const why = whyNot(change, allowed);
    if (why !== null) return `${change.path} ${why}`;
  }
  return null;
}

function whyNot({ path, modes, added }: Change, allowed: Allowed): string | null {
  const [name, folders] = [basename(path), path.split('/')];
  if (path.startsWith('/') || path.includes('\\') || /\p{Cc}/u.test(path) || folders.includes('..')) return 'is no path of this repository';
  if (folders.some((folder) => folder.toLowerCase() === '.git')) return "belongs to git's own files";
  if (modes.includes('120000')) return 'is a symbolic link';
  if (modes.includes('160000') || name === '.gitmodules') return 'is a submodule';
  if (SECRETS.test(name) || SECRET_FOLDERS.test(path)) return 'may hold secrets';
  if (added === null) return 'is no text';
  if (!allowed.workflows && WORKFLOWS.test(path))
    return 'is part of the CI or of the settings of the repository; allow it with --allow-workflows';
  if (!allowed.tests && [TEST_FOLDERS.test(path), TEST_NAMES.test(name), TEST_SETTINGS.test(name)].includes(true))
    return 'says what the tests expect; allow it with --allow-tests';
  return null;
}
