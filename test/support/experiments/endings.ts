import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, lstatSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createLab, type Lab, listExperiments, readState } from './lab.ts';

/** An experiment that ends in an unusual way, or whose command leaves something behind, with its findings. */
export interface EndingCase {
  readonly name: string;
  run(): Promise<string[]>;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
/** The user id of an unprivileged user. Unlike root, it cannot write to read-only folders. */
const NOBODY = 65_534;
const HEAD = `const { test } = require('node:test'); const { spawn } = require('node:child_process'); const fs = require('node:fs');\n`;
const ADDS = `test('adds', () => require('node:assert').equal(require('./sum.js').sum(2, 3), 5));\n`;

export const ENDING_CASES: readonly EndingCase[] = [
  ...SIGNALS.map(
    (signal): EndingCase => ({
      name: `${signal} while a command runs`,
      run: () => runInLab((lab) => endBy(lab, signal)),
    }),
  ),
  ...['confirm', 'bisect', 'try-fix'].map(
    (name): EndingCase => ({
      name: `a read-only folder, in ${name}`,
      run: () => runInLab((lab) => makeReadOnly(lab, name)),
    }),
  ),
  { name: 'a link that leads nowhere where dependencies are shared', run: () => runInLab(linkNowhere) },
  {
    name: 'a process that leaves its session',
    run: () =>
      runInLab((lab) =>
        leaveBehind(lab, `spawn('sleep', ['98765'], { detached: true, stdio: 'ignore' }).unref();`),
      ),
  },
  {
    name: 'a process that leaves its session and its environment',
    run: () =>
      runInLab((lab) =>
        leaveBehind(
          lab,
          `spawn('setsid', ['--fork', 'env', '-i', 'sleep', '98765'], { stdio: 'ignore', env: { PATH: process.env.PATH } }).unref();`,
        ),
      ),
  },
];

async function runInLab(run: (lab: Lab) => Promise<string[]>): Promise<string[]> {
  const lab = createLab();
  try {
    const findings = await run(lab);
    return [...findings, ...lab.left().map((name) => `left: ${name}`)];
  } finally {
    for (const pid of listSleepers()) process.kill(pid, 'SIGKILL');
    lab.remove();
  }
}

async function endBy(lab: Lab, send: NodeJS.Signals): Promise<string[]> {
  const started = join(lab.root, 'started');
  lab.write(
    'sum.test.js',
    `${HEAD}if (__dirname !== ${JSON.stringify(lab.repository)}) { fs.writeFileSync(${JSON.stringify(started)}, ''); spawn('sleep', ['98765'], { detached: true, stdio: 'ignore' }); }
test('adds', async () => { if (fs.existsSync(${JSON.stringify(started)})) await new Promise((end) => setTimeout(end, 60_000)); throw new Error('never'); });\n`,
  );
  lab.commit('work');
  const before = readState(lab);
  const base = ['confirm', '--no-conditions', '--base', 'HEAD', '--', process.execPath, '--test'];
  const ended = await lab.faultline(base, { when: { exists: started, send } });
  return [
    ...(ended.code === 130 ? [] : [`ended with ${ended.code ?? ended.signal}: ${ended.said}`]),
    ...(listSleepers().length === 0 ? [] : ['a process was left']),
    ...Object.entries(readState(lab)).flatMap(([what, now]) =>
      now === before[what] ? [] : [`changed: ${what}`],
    ),
  ];
}

async function makeReadOnly(lab: Lab, name: string): Promise<string[]> {
  const make = `if (!fs.existsSync('cache')) { fs.mkdirSync('cache/module', { recursive: true }); fs.writeFileSync('cache/module/file', ''); fs.chmodSync('cache/module', 0o555); fs.chmodSync('cache', 0o555); }\n`;
  tryInNewLab(lab, `${HEAD}${make}${ADDS}`, () => lab.write('.gitignore', 'cache\n'));
  give(lab.root);
  const { args, says } = listExperiments(lab).find((one) => one.name === name) ?? { args: [], says: /^$/ };
  const { said } = await lab.faultline(args, process.getuid?.() === 0 ? { uid: NOBODY } : {});
  return says.test(said) ? [] : [`said: ${said}`];
}

async function linkNowhere(lab: Lab): Promise<string[]> {
  tryInNewLab(lab, `${HEAD}${ADDS}`, () => {
    lab.write('package.json', '{}\n');
    symlinkSync('/nowhere/at/all', join(lab.repository, 'node_modules'));
  });
  lab.git('rm', '--quiet', 'node_modules');
  lab.commit('remove the link');
  lab.write('.gitignore', 'node_modules\n');
  mkdirSync(join(lab.repository, 'node_modules'), { recursive: true });
  const { args, says } = listExperiments(lab)[0] ?? { args: [], says: /^$/ };
  const { said } = await lab.faultline(args);
  return says.test(said) ? [] : [`said: ${said}`];
}

async function leaveBehind(lab: Lab, start: string): Promise<string[]> {
  lab.write('sum.test.js', `${HEAD}${start}\n${ADDS}`);
  lab.commit('leave a process');
  const { said } = await lab.faultline([
    'confirm',
    '--no-conditions',
    '--no-base',
    '--runs',
    '3',
    '--',
    process.execPath,
    '--test',
  ]);
  return [
    ...(listSleepers().length === 0 ? [] : ['a process was left']),
    ...(/Fails 3 of 3 here/.test(said) ? [] : [`said: ${said}`]),
  ];
}

/** Creates the history again with another test, from the first commit on. */
function tryInNewLab(lab: Lab, test: string, make: () => unknown): void {
  lab.git('checkout', '--quiet', '-B', 'main', 'good');
  make();
  lab.write('sum.test.js', test);
  lab.commit('work');
  lab.git('tag', '--force', 'good');
  lab.write('sum.js', 'exports.sum = (a, b) => a - b;\n');
  lab.commit('turn the sum around');
}

function give(path: string): void {
  if (process.getuid?.() !== 0) return;
  chownSync(path, NOBODY, NOBODY);
  if (!lstatSync(path).isDirectory()) return;
  for (const name of readdirSync(path)) if (existsSync(join(path, name))) give(join(path, name));
}

function listSleepers(): number[] {
  const listed = execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' }).split('\n');
  return listed.flatMap((line) => (/ sleep 98765$/.test(line) ? Number(line.trim().split(' ')[0]) : []));
}
