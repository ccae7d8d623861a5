import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { countDifferences, createLab, type Lab, listExperiments, quoteShellWords, readState } from './lab.ts';

/** An experiment in a place where git or another program has set git's variables, with its findings. */
export interface PlaceCase {
  readonly name: string;
  run(): Promise<string[]>;
}

type Place = (lab: Lab, words: string, output: string) => string[];

const PLACES: Readonly<Record<string, Place>> = {
  'a pre-commit hook': (lab, words, output) => commitWithHook(lab, lab.repository, words, output, []),
  'a pre-commit hook of commit --all': (lab, words, output) =>
    commitWithHook(lab, lab.repository, words, output, ['--all']),
  'a pre-commit hook of a linked worktree': (lab, words, output) => {
    const linked = join(lab.root, 'linked');
    lab.git('worktree', 'add', '--quiet', '-b', 'linked', linked);
    return commitWithHook(lab, linked, words, output, []);
  },
  'a pre-commit hook of a submodule': (lab, words, output) => {
    const outer = join(lab.root, 'outer');
    lab.gitIn(lab.root, 'init', '--quiet', '--initial-branch=main', outer);
    lab.gitIn(
      outer,
      '-c',
      'protocol.file.allow=always',
      'submodule',
      '--quiet',
      'add',
      lab.repository,
      'inner',
    );
    lab.gitIn(outer, 'commit', '--quiet', '-m', 'add a submodule');
    return commitWithHook(lab, join(outer, 'inner'), words, output, []);
  },
  'rebase --exec': (lab, words, output) => {
    lab.git('checkout', '--quiet', '-b', 'work');
    lab.write('other.txt', 'one\n');
    lab.commit('write another note');
    const before = readState(lab);
    const command = join(lab.root, 'exec.sh');
    lab.write(command, `#!/bin/sh\n${words} >'${output}' 2>&1\nexit 0\n`, 0o755);
    lab.git(
      'rebase',
      '--quiet',
      '--force-rebase',
      '--committer-date-is-author-date',
      '--exec',
      command,
      'HEAD~1',
    );
    return countDifferences(before, readState(lab));
  },
  'a bare GIT_INDEX_FILE': (lab, words, output) => {
    const index = join(lab.root, 'other-index');
    copyFileSync(join(lab.repository, '.git/index'), index);
    return runInShell(lab, `GIT_INDEX_FILE='${index}' ${words}`, output, index);
  },
  'GIT_DIR and GIT_WORK_TREE': (lab, words, output) =>
    runInShell(
      lab,
      `GIT_DIR='${lab.repository}/.git' GIT_WORK_TREE='${lab.repository}' ${words}`,
      output,
      null,
    ),
};

/** Every place with every experiment. */
export const PLACE_CASES: readonly PlaceCase[] = Object.entries(PLACES).flatMap(([where, place]) =>
  ['confirm', 'bisect', 'try-fix'].map((name) => ({
    name: `${name} in ${where}`,
    run: () => runCase(name, place),
  })),
);

async function runCase(name: string, place: Place): Promise<string[]> {
  const lab = createLab();
  try {
    const experiment = listExperiments(lab).find((one) => one.name === name);
    if (experiment === undefined) return [`there is no experiment ${name}`];
    const output = join(lab.root, 'output.txt');
    const changed = place(lab, quoteShellWords(experiment.args), output);
    const said = existsSync(output) ? readFileSync(output, 'utf8') : 'nothing';
    return [
      ...changed.map((what) => `changed: ${what}`),
      ...lab.left().map((what) => `left: ${what}`),
      ...(experiment.says.test(said) && !said.includes('ATTENTION') ? [] : [`said: ${said}`]),
    ];
  } finally {
    lab.remove();
  }
}

/**
 * Commits a staged change while an experiment runs in the hook. A file that is changed but not staged must
 * not be in the commit.
 */
function commitWithHook(
  lab: Lab,
  folder: string,
  words: string,
  output: string,
  options: readonly string[],
): string[] {
  const hook = join(
    lab.gitIn(folder, 'rev-parse', '--path-format=absolute', '--git-path', 'hooks'),
    'pre-commit',
  );
  lab.write(hook, `#!/bin/sh\n${words} >'${output}' 2>&1\nexit 0\n`, 0o755);
  lab.write(join(folder, 'note.txt'), 'two\n');
  lab.gitIn(folder, 'add', 'note.txt');
  if (options.length === 0)
    lab.write(
      join(folder, 'sum.test.js'),
      `${readFileSync(join(folder, 'sum.test.js'), 'utf8')}// not staged\n`,
    );
  const [before, tree] = [readState(lab, folder), lab.gitIn(folder, 'write-tree')];
  lab.gitIn(folder, 'commit', '--quiet', ...options, '-m', 'write a second note');
  const after = readState(lab, folder);
  const { commit: parent } = before;
  const isChild = lab.gitIn(folder, 'rev-parse', 'HEAD^') === parent;
  const isStaged = lab.gitIn(folder, 'rev-parse', 'HEAD^{tree}') === tree;
  // The user requested the commit, so the commit itself, the references and the list of worktrees may change.
  const unasked = countDifferences(before, after).filter(
    (name) => !['commit', 'references', 'worktrees'].includes(name),
  );
  const count = (state: Record<string, string>) => state.worktrees?.split('\n').length;
  return [
    ...unasked,
    ...(isChild ? [] : ['the parent of the commit']),
    ...(isStaged ? [] : ['what was committed']),
    ...(count(before) === count(after) ? [] : ['number of worktrees']),
  ];
}

function runInShell(lab: Lab, words: string, output: string, index: string | null): string[] {
  const before = readState(lab);
  const bytes = index === null ? null : readFileSync(index, 'base64');
  execFileSync('sh', ['-c', `${words} >'${output}' 2>&1; exit 0`], { cwd: lab.repository, env: lab.env });
  const isSame = index === null || readFileSync(index, 'base64') === bytes;
  return [
    ...countDifferences(before, readState(lab)),
    ...(isSame ? [] : ['the index that GIT_INDEX_FILE names']),
  ];
}
