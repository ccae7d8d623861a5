import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  describeCommand,
  generateBashCompletion,
  generateFishCompletion,
  generateZshCompletion,
  listEveryCommand,
} from '../../src/cli/completion.ts';
import { createProgram } from '../../src/cli/program.ts';
import { runFaultline } from './faultline.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'faultline-completion-'));
const program = describeCommand(createProgram());
const SCRIPTS = {
  bash: generateBashCompletion(program),
  zsh: generateZshCompletion(program),
  fish: generateFishCompletion(program),
};
type Shell = keyof typeof SCRIPTS;
const FILES = '<files>';

beforeAll(() => {
  for (const [shell, script] of Object.entries(SCRIPTS)) writeFileSync(join(FOLDER, shell), script);
});

/** Words that each shell has to complete, and what must come of it. */
const CASES: readonly (readonly [words: string, found: readonly string[]])[] = [
  ['faultline re', ['read', 'recordings', 'replay', 'report', 'retain', 'review']],
  ['faultline review a', ['answer', 'accept']],
  ['faultline triage --pl', ['--plain']],
  ['faultline triage --json --analyst ', ['rules', 'llm']],
  ['faultline review list --state ', ['waiting', 'claimed', 'decided']],
  ['faultline completion ', ['bash', 'zsh', 'fish']],
  ['faultline triage --budget ', []],
];
const FILE_CASES = ['faultline triage ', 'faultline read --junit ', 'faultline serve --data '];

/** Real bash, with the variables that it sets when somebody presses Tab; `compopt` says what readline is asked to do. */
function completeInBash(line: string): string[] {
  const words = line.split(' ');
  const script = `source ${join(FOLDER, 'bash')}; compopt() { echo '${FILES}'; }; COMP_WORDS=("$@"); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _faultline; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return run('bash', ['--norc', '-c', script, 'bash', ...words]);
}

/** zsh's own helpers print what they are given. */
function completeInZsh(line: string): string[] {
  const stubs = `compdef() { :; }; compadd() { shift; print -l -- $@; }; _files() { print '${FILES}'; }; _describe() { print -l -- \${\${(P)argv[-1]}%%:*}; }`;
  const words = line.split(' ');
  const script = `${stubs}; source ${join(FOLDER, 'zsh')}; words=("$@"); CURRENT=$#words; _faultline`;
  const last = words.at(-1) ?? '';
  return run('zsh', ['-f', '-c', script, 'zsh', ...words]).filter(
    (word) => word === FILES || word.startsWith(last),
  );
}

function completeInFish(line: string): string[] {
  const found = run('fish', ['--no-config', '-c', `source ${join(FOLDER, 'fish')}; complete -C '${line}'`]);
  return found.map((row) => row.split('\t')[0] ?? '');
}

function run(command: Shell, args: readonly string[]): string[] {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', cwd: FOLDER });
  expect({ command, status, stderr }).toEqual({ command, status: 0, stderr: '' });
  return stdout.split('\n').filter((row) => row !== '');
}

/** bash must be there; the others are tried where they are. */
const AT_HAND = (
  [
    ['bash', completeInBash],
    ['zsh', completeInZsh],
    ['fish', completeInFish],
  ] as const
).filter(([shell]) => shell === 'bash' || spawnSync(shell, ['--version']).status === 0);

describe.each(AT_HAND)('the completion in %s', (shell, complete) => {
  it('has a script that the shell can parse', () => {
    run(shell, ['-n', join(FOLDER, shell)]);
  });

  it.each(CASES)('completes %s', (line, found) => {
    expect(complete(line).toSorted()).toEqual([...found].toSorted());
  });

  it.each(FILE_CASES)('completes file names for %s', (line) => {
    expect(complete(line)).toContain(shell === 'fish' ? 'bash' : FILES);
  });
});

it('splits --option=value in bash', () => {
  const words = ['faultline', 'triage', '--analyst', '=', 'l'];
  const script = `source ${join(FOLDER, 'bash')}; COMP_WORDS=("$@"); COMP_CWORD=4; _faultline; printf '%s\\n' "\${COMPREPLY[@]}"`;
  expect(run('bash', ['--norc', '-c', script, 'bash', ...words])).toEqual(['llm']);
});

it('includes every command and option of the program in every script', () => {
  for (const { path, options } of listEveryCommand(program)) {
    for (const script of Object.values(SCRIPTS))
      expect(script).toContain(`'${path.includes(' ') ? path : 'faultline triage'}'`);
    for (const { names } of options) {
      for (const name of names) {
        for (const script of [SCRIPTS.bash, SCRIPTS.zsh]) expect(script).toContain(name);
        expect(SCRIPTS.fish).toContain(
          name.startsWith('--') ? ` -l ${name.slice(2)}` : ` -s ${name.slice(1)}`,
        );
      }
    }
  }
});

it('is printed for the supported shells only', async () => {
  expect(await runFaultline(['completion', 'zsh'])).toMatchObject({
    code: 0,
    stderr: '',
    stdout: SCRIPTS.zsh,
  });
  const other = await runFaultline(['completion', 'tcsh']);
  expect(other).toMatchObject({ code: 2, stdout: '' });
  expect(other.stderr).toContain('Allowed choices are bash, zsh, fish');
});
