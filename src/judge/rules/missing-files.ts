import { getProjectPath } from '../../log/paths.ts';
import type { Fact, Facts } from '../facts.ts';
import { defineRules, type RuleRow } from '../rule.ts';
import type { Wording } from '../sentence.ts';

/** The wording for a missing path. */
const MISSING_PATH: Wording = {
  reads: [
    /no such file or directory, \w{1,10} '(?<path>[^'\n]{1,300})'/i,
    /Could not read package\.json: .{0,80}open '\/home\/runner\/work\/[^/\s]{1,100}\/[^/\s]{1,100}\/(?<packageFolder>[^'\n]{1,160})\/package\.json'/,
    /Could not read package\.json: .{0,80}open '(?<packageFolder>[^'\n]{1,200})\/package\.json'/,
    /(?<npm>Could not read package\.json)/,
    /(?:cd|pushd): (?<folder>(?!\/)[\w.@/-]{1,160}): No such file or directory/,
    /(?:ba|z|da)?sh: (?:line )?(?:\d{1,5}: )?(?<script>\.\/[\w./-]{1,160}): (?:No such file|not found)/,
    /can't open file '(?<script>[\w./-]{1,200})'/,
    /Error: Cannot find module '\/home\/runner\/work\/[^/\s]{1,100}\/[^/\s]{1,100}\/(?<script>[\w./-]{1,200}\.[cm]?js)'/,
    /cannot (?:stat|access|open) ['‘"](?<path>(?!\/(?:tmp|var|proc))[\w.@/*-]{1,200})['’"]/,
    /No such file or directory: ['"](?<path>[\w.@/-]{1,200})['"]/,
    /['"(: ](?<path>[\w@+-][\w@.+/-]{0,160}\.[a-z]\w{0,7})['")]? (?:does not exist|\((?:No such file|The system cannot find))/,
    /tar: (?<path>[\w@.+/-]{2,160}): Cannot (?:open|stat)/,
    /(?:stat|open|lstat) (?<path>[\w.@/-]{2,200}): no such file or directory/,
    /(?<pom>no POM in this directory)/,
  ],
  title: [
    '{npm?}npm was run in a folder without package.json',
    'The folder {folder} does not exist',
    'The script {script} does not exist',
    '{pom?}There is no pom.xml where Maven runs',
    'The step cannot find {path}',
  ],
  cause: [
    '`{command}` needs package.json, but {packageFolder} does not contain one.',
    'npm needs package.json, but {packageFolder} does not contain one.',
    '{npm?}npm needs package.json, but the folder that it runs in does not contain one.',
    'The step changes to the folder {folder}, which does not exist where it runs.',
    'The step runs {script}, which does not exist where it looks.',
    '{pom?}Maven was run in a folder without pom.xml.',
    '`{command}` looks for {path}, which does not exist.',
    'The step looks for {path}, which does not exist.',
  ],
  fix: [
    [
      'configuration',
      'Run npm in the folder that contains package.json (`working-directory` of the step); ' +
        '{packageFolder} does not contain one.',
    ],
    [
      'configuration',
      '{npm?}Run npm in the folder that contains package.json (`working-directory` of the step).',
    ],
    ['configuration', 'Commit the folder {folder}, or correct its name where the step changes to it.'],
    ['configuration', 'Commit {script}, or correct its path in the step.'],
    ['configuration', '{pom?}Run Maven in the folder that contains pom.xml (`working-directory` or `-f`).'],
    ['configuration', providePath],
  ],
};

/** Folders into which builds write. */
const WRITTEN = /^(?:.{0,160}\/)?(?:dist|build|target|out|coverage|node_modules|reports?|artifacts?)\//;

/**
 * Advises on a missing path of the checkout. Returns null for a path outside of it, or if there is a file
 * where a folder is expected.
 */
function providePath(read: (slot: string) => string | null): string | null {
  const stated = read('path');
  const path = stated === null || /^\.{1,2}\//.test(stated) ? stated : getProjectPath(stated);
  if (path === null || !/^(?:\.\/)?\.?[\w@][\w@./-]*$/.test(path) || /\.\w{1,5}\//.test(path)) return null;
  return WRITTEN.test(path)
    ? `Make an earlier step create ${path}, or correct its path.`
    : `Commit or create ${path} before this step, or correct its path.`;
}

/** Rules for files and folders that a step does not find. */
export const MISSING_FILE_RULES: readonly RuleRow[] = defineRules('CONFIG_ERROR', {
  'path-missing': {
    kind: 'missing_file',
    strength: 3.2,
    patterns: [
      /no such file\b|File not found/i,
      /can't open file|could not open|cannot (?:stat|access)|Unable to (?:open|read) file/i,
      /does not (?:exist|appear to be a)/i,
      /FileNotFound(?:Exception|Error)|NoSuchFileException|Cannot find path/i,
      /cannot find the (?:path|file)/i,
      /Could not find (?:file|a part of the path)/i,
      /Bad file: /i,
      /Couldn't download/i,
    ],
    when: isNotOfCode,
    ...MISSING_PATH,
    matches: ["cp: cannot stat 'pears.csv': No such file or directory"],
    ignores: [
      'javac: cannot access org.fruit.Pear',
      "Property 'pear' does not exist on type 'Basket'.",
      '✓ warns when the file does not exist',
      "rm: cannot remove 'pears.tmp': No such file or directory (ignored)",
    ],
  },
  'script-path-missing': {
    kind: 'missing_file',
    strength: 4.2,
    patterns: [
      /(?:^|[\s:])(?:\/\S{1,40}\/)?(?:ba|z|da|k)?sh: (?:line \d{1,5}: |\d{1,5}: )?(?:cd: |pushd: )?\S{1,200}: No such file or directory/i,
      /\.sh: (?:line )?\d{1,5}: (?:cd: |pushd: |source: |\.: )?\S{1,200}: No such file/i,
      /python3?: can't open file/i,
      /(?:cd|pushd|source|chmod|cat|cp|mv|tar): .{0,120}No such file/i,
      /Error: Cannot find module '\/\S{1,200}\.[cm]?js'$/i,
      /CMake Error: The source directory/i,
      /There is no POM in this directory/i,
      /Could not read package\.json/i,
      /no such file or directory, open '.{1,200}package\.json'/i,
      /stat \S{1,160}: no such file/i,
      /No such file or directory: '[^']{0,200}(?:\.ya?ml|\.toml|\.json|\.ini|\.cfg|\.env)'/i,
    ],
    ...MISSING_PATH,
    matches: ['bash: ./ci/weigh.sh: No such file or directory'],
    ignores: ['cat: pears.txt: No such file or directory (ignored)'],
    says: [
      {
        log: 'bash: ./ci/weigh.sh: No such file or directory',
        title: 'The script ./ci/weigh.sh does not exist',
        cause: 'The step runs ./ci/weigh.sh, which does not exist where it looks.',
        fix: 'Commit ./ci/weigh.sh, or correct its path in the step.',
      },
      {
        log: '/bin/bash: line 1: cd: scales: No such file or directory',
        title: 'The folder scales does not exist',
        fix: 'Commit the folder scales, or correct its name where the step changes to it.',
      },
      {
        log: "cp: cannot stat 'ci/pears.csv': No such file or directory",
        fix: 'Commit or create ci/pears.csv before this step, or correct its path.',
      },
      {
        log: "cp: cannot stat 'dist/scales.js': No such file or directory",
        fix: 'Make an earlier step create dist/scales.js, or correct its path.',
      },
      { log: 'cat: /srv/pears.csv: No such file or directory', fix: null },
    ],
  },
});

/**
 * Checks that a missing file is not an include, a library, or a module, and that no failing test was looking
 * for it.
 */
function isNotOfCode(fact: Fact, facts: Facts): boolean {
  if (
    /\.(?:c|cc|cpp|h|hpp):\d|shared object|\.so\b|fatal error:|ModuleNotFound|Cannot find module/.test(
      fact.text,
    )
  )
    return false;
  if (/package \S{1,160} does not exist|does not exist on type|cannot access (?!['"/.])/.test(fact.text))
    return false;
  const thrown = fact.origin === 'test' || fact.origin === 'exception' || fact.origin === 'headline';
  return !(thrown && facts.subject.failingTests.length > 0);
}
