import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A small real git repository in a temporary folder. */
export interface GitRepository {
  readonly folder: string;
  /** Writes the files (`null` deletes one), commits them, and returns the commit's id. */
  commit(files: Readonly<Record<string, string | null>>, message: string, author?: string): string;
  git(...args: string[]): string;
  remove(): void;
}

/**
 * Creates a repository. Its commits are an hour apart, from 2026-01-01T00:00:00Z on, so that ids and order
 * never change.
 */
export function createGitRepository(): GitRepository {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-git-'));
  let hours = 0;
  const environment = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: folder, env: environment, encoding: 'utf8' }).trim();
  // Without sample hooks, and without the two processes that check after each commit whether maintenance is
  // needed.
  git('init', '--quiet', '--initial-branch=main', '--template=');
  appendFileSync(
    join(folder, '.git/config'),
    '[user]\n\temail = nobody@example.test\n[maintenance]\n\tauto = false\n',
  );
  return {
    folder,
    git,
    commit(files, message, author = 'Ada') {
      for (const [path, text] of Object.entries(files)) {
        const file = join(folder, path);
        mkdirSync(dirname(file), { recursive: true });
        if (text === null) rmSync(file);
        else writeFileSync(file, text);
      }
      const at = new Date(Date.UTC(2026, 0, 1, hours)).toISOString();
      hours += 1;
      const env = {
        ...environment,
        GIT_AUTHOR_DATE: at,
        GIT_COMMITTER_DATE: at,
        GIT_AUTHOR_NAME: author,
        GIT_COMMITTER_NAME: author,
      };
      git('add', '--all');
      execFileSync('git', ['commit', '--quiet', '--allow-empty', '-m', message], { cwd: folder, env });
      return git('rev-parse', 'HEAD');
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Runs git in a repository, and returns what it printed as bytes. */
export function readGitBytes({ folder }: GitRepository, ...args: string[]): Buffer {
  return execFileSync('git', args, { cwd: folder, maxBuffer: 256 * 1024 * 1024 });
}

/** Runs git in a repository, and returns what it printed, or null if it failed. */
export function tryGit({ folder }: GitRepository, ...args: string[]): string | null {
  try {
    const stdio = ['ignore', 'pipe', 'ignore'] as const;
    return execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: [...stdio] }).trim();
  } catch {
    return null;
  }
}
