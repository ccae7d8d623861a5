import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { BARE } from '../bare-environment.ts';

const MAIN = resolve(import.meta.dirname, '../../../src/cli/main.ts');
const RIGHT = 'exports.sum = (a, b) => a + b;\n';
const WRONG = 'exports.sum = (a, b) => a - b;\n';
const SUM_TEST = `const { test } = require('node:test');
test('adds', () => require('node:assert').equal(require('./sum.js').sum(2, 3), 5));
`;
/** A token in the environment of the command line, which must not reach any process that it starts. */
export const TOKEN = 'token-of-the-job';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The text of both output streams. */
  readonly said: string;
}

/**
 * A separate checkout with a temporary directory and a home directory of its own, in which the command line
 * runs experiments.
 */
export interface Lab {
  readonly root: string;
  readonly repository: string;
  readonly temporary: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  git(...args: readonly string[]): string;
  gitIn(folder: string, ...args: readonly string[]): string;
  write(path: string, text: string, mode?: number): string;
  commit(message: string): string;
  /** Runs the command line. `options.signal` is sent once it has printed text that matches `at`. */
  faultline(args: readonly string[], options?: LabOptions): Promise<Ended>;
  /** Returns what is left in the temporary directory. */
  left(): string[];
  remove(): void;
}

interface LabOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number;
  /** A file that the command creates when it runs, and the signal that is sent then. */
  readonly when?: { readonly exists: string; readonly send: NodeJS.Signals };
}

/** Creates three commits on `main`. The first, tagged `good`, works; the last does not. */
export function createLab(): Lab {
  const root = mkdtempSync(join(tmpdir(), 'faultline-lab-'));
  const [repository, temporary, home] = ['repository', 'temporary', 'home'].map((name) =>
    join(root, name),
  ) as [string, string, string];
  for (const folder of [repository, temporary, home]) mkdirSync(folder);
  const env = {
    ...BARE,
    PATH: process.env.PATH ?? '',
    HOME: home,
    TMPDIR: temporary,
    FAULTLINE_TOKEN: TOKEN,
  };
  const who = {
    GIT_AUTHOR_NAME: 'Ada',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.test',
    GIT_COMMITTER_EMAIL: 'ada@example.test',
  };
  const gitIn: Lab['gitIn'] = (cwd, ...args) =>
    execFileSync('git', args, {
      cwd,
      env: { ...env, ...who },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  const lab: Lab = {
    root,
    repository,
    temporary,
    home,
    env,
    gitIn,
    git: (...args) => gitIn(repository, ...args),
    write(path, text, mode) {
      const file = resolve(repository, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      if (mode !== undefined) chmodSync(file, mode);
      return file;
    },
    commit(message) {
      gitIn(repository, 'add', '--all');
      gitIn(repository, 'commit', '--quiet', '--allow-empty', '-m', message);
      return gitIn(repository, 'rev-parse', 'HEAD');
    },
    faultline: (args, options) => runFaultline(lab, args, options),
    left: () => readdirSync(temporary).filter((name) => name.startsWith('faultline')),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
  // Without this setting, git starts two processes after each commit that check whether maintenance is
  // needed.
  lab.write('../home/.gitconfig', '[maintenance]\n\tauto = false\n');
  lab.git('init', '--quiet', '--initial-branch=main');
  lab.write('sum.js', RIGHT);
  lab.write('sum.test.js', SUM_TEST);
  lab.commit('work');
  lab.git('tag', 'good');
  lab.write('note.txt', 'one\n');
  lab.commit('write a note');
  lab.write('sum.js', WRONG);
  lab.commit('turn the sum around');
  lab.write('../fix.diff', `--- a/sum.js\n+++ b/sum.js\n@@ -1 +1 @@\n-${WRONG}+${RIGHT}`);
  return lab;
}

export const NODE_TEST: readonly string[] = [process.execPath, '--test'];

/** Returns every experiment, with what it must say about the lab's commits. */
export function listExperiments(
  lab: Lab,
  command = NODE_TEST,
): readonly { name: string; args: readonly string[]; says: RegExp }[] {
  const confirm = ['confirm', '--no-conditions', '--runs', '3', '--base', 'good', '--', ...command];
  return [
    { name: 'confirm', args: confirm, says: /introduced by this change/ },
    {
      name: 'bisect',
      args: ['bisect', '--good', 'good', '--', ...command],
      says: /Broken by (\w+) [\s\S]*Commit\s+\1 turn the sum around/,
    },
    {
      name: 'try-fix',
      args: ['try-fix', '--patch', join(lab.root, 'fix.diff'), '--', ...command],
      says: /Fixed: fails 0 of 3/,
    },
  ];
}

/** Quotes the words of our command line for a shell. */
export function quoteShellWords(args: readonly string[]): string {
  return [process.execPath, MAIN, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
}

async function runFaultline(lab: Lab, args: readonly string[], options: LabOptions = {}): Promise<Ended> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: options.cwd ?? lab.repository,
    env: { ...lab.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  const { when } = options;
  const watch = setInterval(() => {
    if (when === undefined || !existsSync(when.exists)) return;
    clearInterval(watch);
    child.kill(when.send);
  }, 50);
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((end) =>
    child.once('close', (...how) => end(how)),
  );
  clearInterval(watch);
  return { code, signal, said };
}

/**
 * Returns the state that must be the same before and after: branches, index, stashes, worktrees,
 * configuration and all files.
 */
export function readState(lab: Lab, folder = lab.repository): Record<string, string> {
  const ask = (...args: string[]) => {
    try {
      return lab.gitIn(folder, '-c', 'core.fsmonitor=false', '-c', 'alias.x=', ...args);
    } catch {
      return 'none';
    }
  };
  const common = resolve(folder, ask('rev-parse', '--git-common-dir'));
  return {
    branch: ask('symbolic-ref', 'HEAD'),
    commit: ask('rev-parse', 'HEAD'),
    references: ask('for-each-ref'),
    index: ask('ls-files', '--stage'),
    stashes: ask('stash', 'list'),
    worktrees: ask('worktree', 'list'),
    settings: readFileSync(join(common, 'config'), 'utf8'),
    files: listFilesIn(folder).join('\n'),
  };
}

/** Returns the names of the differences. */
export function countDifferences(before: Record<string, string>, after: Record<string, string>): string[] {
  return Object.keys(before).filter((name) => before[name] !== after[name]);
}

function listFilesIn(folder: string, below = ''): string[] {
  return readdirSync(join(folder, below)).flatMap((name) => {
    const path = join(below, name);
    if (name === '.git') return [];
    const found = lstatSync(join(folder, path));
    if (found.isDirectory()) return listFilesIn(folder, path);
    return `${path} ${found.isFile() ? readFileSync(join(folder, path), 'base64') : 'link'}`;
  });
}
