import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createLab, type Lab, listExperiments, readState, TOKEN } from './lab.ts';

/**
 * A malicious checkout, and what an experiment in it must do; its findings, and the number of planted
 * programs.
 */
export interface HostileCase {
  readonly name: string;
  readonly planted: number;
  run(): Promise<string[]>;
}

/** The settings that name a program that git starts. */
const PROGRAMS = [
  'alias.checkout',
  'alias.clean',
  'alias.rev-parse',
  'alias.status',
  'core.alternateRefsCommand',
  'core.askPass',
  'core.editor',
  'core.fsmonitor',
  'core.gitProxy',
  'core.pager',
  'core.sshCommand',
  'credential.helper',
  'credential.https://example.test.helper',
  'diff.external',
  'diff.planted.command',
  'diff.planted.textconv',
  'gpg.program',
  'gpg.ssh.program',
  'interactive.diffFilter',
  'merge.planted.driver',
  'pager.log',
  'pager.rev-parse',
  'remote.origin.receivepack',
  'remote.origin.uploadpack',
  'sequence.editor',
  'uploadpack.packObjectsHook',
];
const FLAGS = {
  'commit.gpgSign': 'true',
  'log.showSignature': 'true',
  'protocol.ext.allow': 'always',
  'tag.gpgSign': 'true',
};
const HOOKS = [
  'fsmonitor-watchman',
  'post-checkout',
  'post-commit',
  'post-index-change',
  'pre-auto-gc',
  'reference-transaction',
];
const FILTERS = ['smudge', 'clean', 'process'];

export const HOSTILE_CASES: readonly HostileCase[] = [
  {
    name: 'settings and hooks that start programs',
    planted: PROGRAMS.length + 2 * HOOKS.length,
    run: () =>
      runInEach((lab, evil) => {
        for (const name of PROGRAMS) lab.git('config', name, name.startsWith('alias.') ? `!${evil}` : evil);
        for (const [name, value] of Object.entries(FLAGS)) lab.git('config', name, value);
        lab.git('config', 'remote.origin.url', 'ext::sh -c evil');
        for (const hook of HOOKS)
          for (const folder of ['.git/hooks', '.evil-hooks'])
            lab.write(join(folder, hook), `#!/bin/sh\n${evil}\n`, 0o755);
        lab.git('config', 'core.hooksPath', join(lab.repository, '.evil-hooks'));
        lab.write('.git/info/attributes', '* diff=planted merge=planted\n');
        lab.write('.git/info/exclude', '.evil-hooks\n');
      }),
  },
  {
    name: 'a filter that a test plants while it is run',
    planted: FILTERS.length,
    run: () =>
      runInEach(
        (lab, evil) => {
          const plant = FILTERS.map(
            (kind) =>
              `git('config', '--file', common + '/config', 'filter.planted.${kind}', ${JSON.stringify(evil)});`,
          );
          const body = `const { execFileSync } = require('node:child_process'); const { mkdirSync, readFileSync, writeFileSync } = require('node:fs');
const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim();
const folders = [git('rev-parse', '--path-format=absolute', '--git-common-dir'), ${JSON.stringify(join(lab.repository, '.git'))}];
try { folders.push(readFileSync(folders[0] + '/objects/info/alternates', 'utf8').trim() + '/..'); } catch {}
for (const common of folders) { mkdirSync(common + '/info', { recursive: true }); writeFileSync(common + '/info/attributes', '* filter=planted\\n'); ${plant.join(' ')} }
`;
          lab.git('checkout', '--quiet', '--detach', 'good');
          for (const [at, commit] of ['good', 'main~1', 'main'].entries()) {
            // The same history, in which every commit's test plants the program.
            lab.git('checkout', commit, '--', '.');
            lab.write('sum.test.js', `${body}${readFileSync(join(lab.repository, 'sum.test.js'), 'utf8')}`);
            lab.commit(at === 0 ? 'work' : at === 1 ? 'write a note' : 'turn the sum around');
            if (at === 0) lab.git('tag', '--force', 'good');
          }
          lab.git('checkout', '--quiet', '-B', 'main');
        },
        ['settings'],
      ),
  },
  {
    name: 'a filter that was planted before',
    planted: FILTERS.length,
    run: () =>
      runInEach(
        (lab, evil) => {
          for (const kind of FILTERS) lab.git('config', `filter.planted.${kind}`, evil);
          lab.write('.git/info/attributes', '* filter=planted\n');
        },
        [],
        /goes through the filter "planted" of your git configuration/,
      ),
  },
  {
    name: 'a partial clone whose remote is a program',
    planted: 2,
    run: () =>
      runInEach(
        (lab, evil) => {
          lab.git('config', 'extensions.partialClone', 'origin');
          lab.git('config', 'remote.origin.promisor', 'true');
          lab.git('config', 'remote.origin.url', `ext::${evil}`);
          lab.git('config', 'remote.origin.vcs', 'ext');
          lab.git('config', 'protocol.ext.allow', 'always');
          // Git would fetch the missing objects.
          for (const name of ['good:sum.js', 'main:sum.js']) {
            const id = lab.git('rev-parse', name);
            rmSync(join(lab.repository, '.git/objects', id.slice(0, 2), id.slice(2)));
          }
        },
        [],
        /This partial clone lacks \d+ files/,
      ),
  },
  {
    name: 'a program named git in the checkout',
    planted: 2,
    run: () =>
      runInEach((lab, evil) => {
        for (const folder of ['node_modules/.bin', 'bin'])
          lab.write(join(folder, 'git'), `#!/bin/sh\n${evil}\nexec /usr/bin/git "$@"\n`, 0o755);
        lab.write('.git/info/exclude', 'node_modules\nbin\n');
        lab.path = ['node_modules/.bin', 'bin', '.'].map((folder) => join(lab.repository, folder)).join(':');
      }),
  },
  {
    name: 'a work tree elsewhere',
    planted: 1,
    run: () =>
      runInEach(
        (lab) => lab.git('config', 'core.worktree', lab.home),
        ['branch', 'index', 'files'],
        /is not in the work tree that its repository names/,
      ),
  },
];

interface HostileLab extends Lab {
  /** The folder before the search path. */
  path?: string;
}

/**
 * Plants the program in a new checkout for every experiment. No planted program may run. The result must be
 * as in any other checkout, or as `refusal` says.
 */
async function runInEach(
  plant: (lab: HostileLab, evil: string) => unknown,
  mayChange: readonly string[] = [],
  refusal?: RegExp,
): Promise<string[]> {
  const findings: string[] = [];
  for (const at of [0, 1, 2]) {
    const lab: HostileLab = createLab();
    try {
      const ran = join(lab.root, 'ran.txt');
      const evil = lab.write(
        join(lab.root, 'evil.sh'),
        `#!/bin/sh\n{ echo "$0 $*"; env; } >>'${ran}'\ncat\n`,
        0o755,
      );
      plant(lab, evil);
      const { name, args, says } = listExperiments(lab)[at] ?? { name: '', args: [], says: /^$/ };
      const before = readState(lab);
      const { said } = await lab.faultline(
        args,
        lab.path === undefined ? {} : { env: { PATH: `${lab.path}:${lab.env.PATH}` } },
      );
      const changed = Object.entries(readState(lab)).flatMap(([what, now]) =>
        now === before[what] || mayChange.includes(what) ? [] : what,
      );
      findings.push(
        ...changed.map((what) => `${name} changed: ${what}`),
        ...lab.left().map((what) => `${name} left: ${what}`),
      );
      findings.push(...listProgramsRun(name, ran));
      if (!(refusal ?? says).test(said)) findings.push(`${name} said: ${said}`);
    } finally {
      lab.remove();
    }
  }
  return findings;
}

function listProgramsRun(name: string, ran: string): string[] {
  if (!existsSync(ran)) return [];
  const text = readFileSync(ran, 'utf8');
  return [`${name} ran ${text.split('\n')[0]}${text.includes(TOKEN) ? ', with the token' : ''}`];
}
