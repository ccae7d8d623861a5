import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createLab, type Lab, listExperiments, NODE_TEST, readState } from './lab.ts';

/**
 * A checkout whose files git writes in an unusual way. Every experiment must use the same files as the
 * checkout, or refuse.
 */
export interface HonestCase {
  readonly name: string;
  run(): Promise<string[]>;
}

const SUM_TEST = `const { test } = require('node:test'); const assert = require('node:assert'); const { existsSync, readFileSync } = require('node:fs');\n`;
const ADDS = `test('adds', () => assert.equal(require('./sum.js').sum(2, 3), 5));\n`;

export const HONEST_CASES: readonly HonestCase[] = [
  {
    name: "line endings of a person's own configuration",
    run: () =>
      runInEach((lab) => {
        lab.gitIn(lab.home, 'config', '--global', 'core.autocrlf', 'true');
        testNeed(lab, `assert.match(readFileSync('note.txt', 'latin1'), /\\r\\n/)`, () =>
          lab.write('note.txt', 'one\r\n'),
        );
      }),
  },
  {
    name: 'line endings of info/attributes',
    run: () =>
      runInEach((lab) => {
        lab.write('.git/info/attributes', '*.txt text eol=crlf\n');
        testNeed(lab, `assert.match(readFileSync('note.txt', 'latin1'), /\\r\\n/)`, () =>
          lab.write('note.txt', 'one\r\n'),
        );
      }),
  },
  {
    name: 'Git LFS',
    run: () =>
      runInEach((lab) => {
        useLargeFiles(lab);
      }),
  },
  {
    name: 'Git LFS that has not fetched the base',
    run: () =>
      runInEach((lab) => {
        useLargeFiles(lab);
        lab.write('large.bin', 'y'.repeat(5_000));
        lab.commit('turn the sum around');
        rmSync(join(lab.repository, '.git/lfs/objects'), { recursive: true });
      }, /Git LFS has not fetched large\.bin/),
  },
  {
    name: 'Git LFS with pointers here as well',
    run: () =>
      runInEach((lab) => {
        useLargeFiles(lab);
        lab.git('lfs', 'install', '--local', '--skip-smudge', '--force');
        rmSync(join(lab.repository, 'large.bin'));
        lab.git('checkout', '--', 'large.bin');
        rmSync(join(lab.repository, '.git/lfs/objects'), { recursive: true });
      }, null),
  },
  {
    name: 'a partial clone',
    run: () => runInEach((lab) => clonePartially(lab)),
  },
  {
    name: 'a partial clone whose remote is away',
    run: () =>
      runInEach((lab) => {
        clonePartially(lab);
        lab.git('config', 'remote.origin.url', `file://${lab.root}/away`);
      }, /This partial clone lacks \d+ files/),
  },
  {
    name: 'a sparse checkout',
    run: () =>
      runInEach((lab) => {
        testNeed(lab, `assert.ok(!existsSync('docs/guide.txt'))`, () =>
          lab.write('docs/guide.txt', 'guide\n'),
        );
        lab.git('sparse-checkout', 'set', '--no-cone', '/*', '!/docs/');
      }),
  },
  {
    name: 'submodules',
    run: () =>
      runInEach((lab) => {
        const inner = join(lab.root, 'inner');
        lab.gitIn(lab.root, 'init', '--quiet', inner);
        lab.write(join(inner, 'data.txt'), 'data\n');
        lab.gitIn(inner, 'add', '--all');
        lab.gitIn(inner, 'commit', '--quiet', '-m', 'data');
        testNeed(lab, `assert.equal(readFileSync('inner/data.txt', 'utf8'), 'data\\n')`, () =>
          lab.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'inner'),
        );
      }),
  },
  {
    name: 'a split index',
    run: () => runInEach((lab) => lab.git('update-index', '--split-index')),
  },
  {
    name: 'tags and remotes that a command asks git for',
    run: () =>
      runInEach((lab) => {
        lab.git('remote', 'add', 'origin', 'https://example.test/harbour.git');
        testNeed(
          lab,
          `assert.match(require('node:child_process').execFileSync('git', ['describe', '--tags'], { encoding: 'utf8' }), /^good/); assert.equal(require('node:child_process').execFileSync('git', ['remote', 'get-url', 'origin'], { encoding: 'utf8' }), 'https://example.test/harbour.git\\n'); assert.equal(require('node:child_process').execFileSync('git', ['status', '--porcelain', '--untracked-files=no'], { encoding: 'utf8' }), '')`,
          () => undefined,
        );
      }),
  },
];

/**
 * Creates the history again with a test that needs something from the first commit on. The sum is wrong only
 * in the last commit.
 */
function testNeed(lab: Lab, needed: string, make: () => unknown): void {
  lab.git('checkout', '--quiet', '-B', 'main', 'good');
  make();
  lab.write('sum.test.js', `${SUM_TEST}test('has what it needs', () => { ${needed}; });\n${ADDS}`);
  lab.commit('work');
  lab.git('tag', '--force', 'good');
  lab.write('other.txt', 'one\n');
  lab.commit('write a note');
  lab.write('sum.js', 'exports.sum = (a, b) => a - b;\n');
  lab.commit('turn the sum around');
}

function useLargeFiles(lab: Lab): void {
  lab.git('lfs', 'install', '--local');
  testNeed(lab, `assert.match(readFileSync('large.bin', 'utf8'), /^[xy]{5000}$/)`, () => {
    lab.write('.gitattributes', '*.bin filter=lfs diff=lfs merge=lfs -text\n');
    lab.write('large.bin', 'x'.repeat(5_000));
  });
}

function clonePartially(lab: Lab): void {
  const origin = join(lab.root, 'origin');
  lab.gitIn(lab.root, 'clone', '--quiet', '--bare', lab.repository, origin);
  for (const name of ['uploadpack.allowFilter', 'uploadpack.allowAnySHA1InWant'])
    lab.gitIn(origin, 'config', name, 'true');
  rmSync(lab.repository, { recursive: true });
  lab.gitIn(lab.root, 'clone', '--quiet', '--filter=blob:none', `file://${origin}`, lab.repository);
}

/**
 * Creates the checkout for every experiment. If `refusal` is null, the counts must be those of a failure that
 * the change did not cause.
 */
async function runInEach(make: (lab: Lab) => unknown, refusal?: RegExp | null): Promise<string[]> {
  const findings: string[] = [];
  for (const at of [0, 1, 2]) {
    const lab = createLab();
    try {
      make(lab);
      const before = readState(lab);
      const { name, args, says } = listExperiments(lab, NODE_TEST)[at] ?? { name: '', args: [], says: /^$/ };
      const { said } = await lab.faultline(args);
      const changed = Object.entries(readState(lab)).flatMap(([what, now]) =>
        now === before[what] ? [] : what,
      );
      findings.push(
        ...changed.map((what) => `${name} changed: ${what}`),
        ...lab.left().map((what) => `${name} left: ${what}`),
      );
      // If there are only pointers on both sides, the large file makes no difference.
      const isRight = refusal === null ? !/Git LFS has not fetched/.test(said) : (refusal ?? says).test(said);
      // try-fix starts from the state of the checkout, which has its files.
      if (!isRight && !(refusal instanceof RegExp && name === 'try-fix' && says.test(said)))
        findings.push(`${name} said: ${said}`);
      if (said.includes('ATTENTION')) findings.push(`${name} said: ${said}`);
    } finally {
      lab.remove();
    }
  }
  return findings;
}
