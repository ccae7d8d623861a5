import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { computeFisherProbability, isConditionName } from '../../src/domain/conditions.ts';
import { TriageError } from '../../src/domain/errors.ts';
import type { Arm, Experiment } from '../../src/domain/experiment.ts';
import { judgeRuns } from '../../src/domain/experiment-verdict.ts';
import {
  createZoneConditions,
  findNetworkOff,
  seedCommand,
  shiftClock,
} from '../../src/experiments/conditions.ts';
import { type ConfirmOptions, confirm } from '../../src/experiments/confirm.ts';
import { runCommand } from '../../src/experiments/run-command.ts';
import { readMasked } from '../../src/service/triage/read-build.ts';
import { createGitRepository, type GitRepository } from '../support/git-repository.ts';

const never = new AbortController().signal;
const NODE_TEST = [process.execPath, '--test'];
const read = async (text: string) =>
  readMasked([{ name: 'output', kind: 'log', text, notes: [] }], { budgetTokens: 500, secrets: 0 });

const HEAD = `const { test } = require('node:test');\nconst assert = require('node:assert');\n`;
const testFile = (...tests: readonly string[]) => `${HEAD}${tests.join('\n')}\n`;
const SUM_TEST = testFile(
  `test('adds', () => assert.equal(require('./sum.js').sum(2, 3), 5));`,
  `test('is quiet', () => {});`,
);
const RIGHT = 'exports.sum = (a, b) => a + b;\n';
const WRONG = 'exports.sum = (a, b) => a - b;\n';

/** Null where this machine cannot take the network from a command, or has none. */
const networkOf = Object.keys(networkInterfaces()).length > 1 ? await findNetworkOff() : null;

let repository: GitRepository;
beforeEach(() => {
  repository = createGitRepository();
});
afterEach(() => repository.remove());

const tryIt = (changes: Partial<ConfirmOptions> = {}, signal = never): Promise<Experiment> =>
  confirm(
    {
      argv: NODE_TEST,
      cwd: repository.folder,
      env: process.env,
      base: undefined,
      runs: 3,
      limitMs: 120_000,
      tests: [],
      conditions: false,
      ...changes,
    },
    { read },
    signal,
  );
const arms = ({ arms: all }: Experiment) =>
  all.map(({ where, what, failed, other, passed }) => [where, what, failed, other, passed]);
const worktrees = () => repository.git('worktree', 'list').split('\n').length;

describe('a failing command that is tried again', () => {
  test('that fails here and not on the base is a failure of this change, by the failing test alone', async () => {
    repository.commit({ 'sum.js': RIGHT, 'sum.test.js': SUM_TEST }, 'works');
    repository.git('checkout', '-q', '-b', 'work');
    repository.commit({ 'sum.js': WRONG }, 'breaks');
    const found = await tryIt();
    expect(found).toMatchObject({
      verdict: 'this-change',
      tests: ['adds'],
      dependsOnOthers: false,
      notes: [],
    });
    expect(found.sentence).toMatch(
      /^Fails 3 of 3 here, 0 of 3 on the base \(\w{7}\): introduced by this change\./,
    );
    expect(arms(found)).toEqual([
      ['here', 'suite', 1, 0, 0],
      ['here', 'alone', 3, 0, 0],
      ['base', 'alone', 0, 0, 3],
    ]);
    expect(worktrees()).toBe(1);
  });

  test('with uncommitted changes is compared with the last commit', async () => {
    const works = repository.commit({ 'sum.js': RIGHT, 'sum.test.js': SUM_TEST }, 'works');
    writeFileSync(join(repository.folder, 'sum.js'), WRONG);
    const found = await tryIt();
    expect([found.verdict, found.arms.at(-1)?.commit]).toEqual(['this-change', works]);
  });

  test('is not run without a base', async () => {
    repository.commit(
      { 'sum.test.js': `require('node:fs').writeFileSync('ran', '');\nprocess.exit(1);\n` },
      'the first commit',
    );
    await expect(tryIt()).rejects.toThrow(
      'There is no commit to compare with: name one with --base, or compare with nothing by --no-base.',
    );
    expect(existsSync(join(repository.folder, 'ran'))).toBe(false);
  });

  test('that fails on the base as well is not a failure of this change', async () => {
    repository.commit({ 'sum.js': WRONG, 'sum.test.js': SUM_TEST }, 'broken from the start');
    repository.git('checkout', '-q', '-b', 'work');
    repository.commit({ 'README.md': 'words' }, 'words');
    expect(await tryIt()).toMatchObject({
      verdict: 'not-this-change',
      sentence: expect.stringContaining('Fails 3 of 3 here and 3 of 3 on the base'),
    });
  });

  test('that fails differently on the base leads to no conclusion', async () => {
    repository.commit({ 'sum.test.js': `throw new Error('no such harbour');\n` }, 'another failure');
    repository.git('checkout', '-q', '-b', 'work');
    repository.commit({ 'sum.js': WRONG, 'sum.test.js': SUM_TEST }, 'breaks');
    expect(await tryIt()).toMatchObject({
      verdict: 'inconclusive',
      sentence: expect.stringContaining('0 of 3 runs failed this way on the base, 3 in another way'),
    });
  });

  test('that passes and fails without a change is flaky, with its rate', async () => {
    const counter = join(repository.folder, 'count');
    const odd = `const fs = require('node:fs'); const n = fs.existsSync(${JSON.stringify(counter)}) ? fs.readFileSync(${JSON.stringify(counter)}).length : 0; fs.appendFileSync(${JSON.stringify(counter)}, 'x');`;
    repository.commit(
      { 'odd.test.js': testFile(`test('tide', () => { ${odd} assert.ok(n % 3 === 1); });`) },
      'odd',
    );
    const found = await tryIt({ base: null });
    expect(found).toMatchObject({
      verdict: 'flaky',
      sentence: expect.stringMatching(/^Fails \d of \d here without any change: flaky, in \d+% of runs/),
    });
  });

  test('that passes alone and fails after another test depends on that test', async () => {
    const shared = testFile(
      `let lamp = 'off';`,
      ...[1, 2, 3, 4].map((quay) => `test('sweeps quay ${quay}', () => {});`),
      `test('lights the lamp', () => { lamp = 'on'; });`,
      `test('is quiet', () => {});`,
      `test('finds it dark', () => assert.equal(lamp, 'off'));`,
    );
    repository.commit({ 'lamp.test.js': shared }, 'shared state');
    const found = await tryIt({ base: null });
    expect(found).toMatchObject({
      verdict: 'reproduced',
      dependsOnOthers: true,
      polluters: ['lights the lamp'],
      notes: [],
    });
    expect(found.sentence).toContain(
      'It depends on other tests: fails 3 of 3 after 1 other test, 0 of 3 alone.',
    );
    expect(arms(found)).toEqual([
      ['here', 'suite', 3, 0, 0],
      ['here', 'alone', 0, 0, 3],
      ['here', 'after', 3, 0, 0],
    ]);
  });

  test('that fails only after two tests of a suite depends on both, which are named', async () => {
    const shared = `import { describe, expect, test } from 'vitest';
      let locks = 0;
      describe('gate', () => { test('sets a lock', () => { locks += 1; }); test('is (really) quiet', () => {}); });
      test('rests', () => {});
      describe('dam', () => { test('sets a lock', () => { locks += 1; }); });
      test('opens', () => { expect(locks).toBeLessThan(2); });`;
    symlinkSync(join(process.cwd(), 'node_modules'), join(repository.folder, 'node_modules'), 'dir');
    repository.commit({ '.gitignore': 'node_modules', 'locks.test.js': shared }, 'two locks');
    const found = await tryIt({
      base: null,
      argv: [join(process.cwd(), 'node_modules/.bin/vitest'), 'run', 'locks.test.js'],
    });
    expect(found).toMatchObject({
      dependsOnOthers: true,
      polluters: ['gate › sets a lock', 'dam › sets a lock'],
      notes: [],
    });
  });

  test('may depend on others that its tool cannot list', async () => {
    const shared = `import { expect, test } from 'vitest';
      let lamp = 'off';
      test('lights the lamp', () => { lamp = 'on'; });
      test('finds it dark', () => expect(lamp).toBe('off'));`;
    symlinkSync(join(process.cwd(), 'node_modules'), join(repository.folder, 'node_modules'), 'dir');
    const files = {
      '.gitignore': 'node_modules',
      'package.json': '{"scripts":{"test":"vitest run"}}',
      'lamp.test.js': shared,
    };
    repository.commit(files, 'shared state');
    const found = await tryIt({ base: null, argv: ['npm', 'test'] });
    expect(found).toMatchObject({
      dependsOnOthers: true,
      polluters: [],
      notes: [expect.stringContaining('cannot list its tests')],
    });
  });

  test('that fails at random, but always or never with one seed, depends on the seed', async () => {
    repository.commit(
      { 'dice.test.js': testFile(`test('rolls low', () => assert.ok(Math.random() < 0.5));`) },
      'dice',
    );
    const seeds = await tryIt({ base: null, runs: 12, conditions: true });
    expect(seeds).toMatchObject({ verdict: 'flaky', dependsOn: 'seed' });
    expect(seeds.sentence).toMatch(
      /flaky, in .* It depends on the seed: fails 13 of 13 with --random-seed=\d+, 0 of 13 with --random-seed=\d+\.$/,
    );
    expect(seeds.arms.filter(({ under }) => under !== undefined)).toHaveLength(2);
  });

  test('that fails each time, but not in another time zone, depends on the time zone', async () => {
    repository.commit(
      { 'zone.test.js': testFile(`test('is home', () => assert.notEqual(process.env.TZ, 'Mars/Base'));`) },
      'zone',
    );
    const found = await tryIt({ base: null, conditions: true, env: { ...process.env, TZ: 'Mars/Base' } });
    expect(found).toMatchObject({ verdict: 'reproduced', dependsOn: 'time zone' });
    expect(found.sentence).toContain(
      ' It depends on the time zone: fails 4 of 4 as it is, 0 of 4 with TZ=UTC.',
    );
  });

  if (networkOf !== null)
    test('that passes, but not without the network, depends on the network', async () => {
      const lone = `test('has a way out', () => assert.ok(Object.keys(require('node:os').networkInterfaces()).some((name) => name !== 'lo')));`;
      repository.commit({ 'net.test.js': testFile(lone) }, 'needs a network');
      const known = {
        framework: 'node',
        name: 'has a way out',
        suite: null,
        file: null,
        line: null,
        message: null,
        expected: null,
        actual: null,
        at: null,
      };
      const found = await tryIt({ base: null, conditions: true, tests: [known] });
      expect(found).toMatchObject({ verdict: 'not-reproduced', dependsOn: 'network' });
      expect(found.sentence).toContain('fails 4 of 4 with the network off, 0 of 4 with the network on.');
      expect((await tryIt({ base: null, within: networkOf })).verdict).toBe('reproduced');
    });

  test('that prints colors is still narrowed to its failing test', async () => {
    repository.commit({ 'sum.js': RIGHT, 'sum.test.js': SUM_TEST }, 'works');
    repository.git('checkout', '-q', '-b', 'work');
    repository.commit({ 'sum.js': WRONG }, 'breaks');
    const found = await tryIt({ env: { ...process.env, FORCE_COLOR: '1' } });
    expect([found.verdict, found.narrowed]).toEqual([
      'this-change',
      expect.arrayContaining(['--test-name-pattern=^adds$']),
    ]);
  });

  test('that does not fail here is not reproduced, with what that rules out', async () => {
    repository.commit({ 'sum.js': RIGHT, 'sum.test.js': SUM_TEST }, 'works');
    expect(await tryIt({ base: null })).toMatchObject({
      verdict: 'not-reproduced',
      sentence:
        'Passes 3 of 3 here: not reproduced. If it fails at random, it fails in fewer than 63% of runs (95% confidence).',
    });
  });

  test('that is interrupted reports the runs made by then, if requested', async () => {
    repository.commit({ 'sum.js': WRONG, 'sum.test.js': SUM_TEST }, 'broken');
    const stop = new AbortController();
    let runs = 0;
    const onRun = () => {
      runs += 1;
      if (runs === 3) stop.abort(new TriageError('cancelled', 'The job was canceled.'));
    };
    const options = {
      argv: NODE_TEST,
      cwd: repository.folder,
      env: process.env,
      base: null,
      runs: 50,
      limitMs: 120_000,
      tests: [],
      conditions: false,
    };
    const found = await confirm({ ...options, keepsPart: true }, { read, onRun }, stop.signal);
    expect(found).toMatchObject({ tests: ['adds'], notes: ['Interrupted before all runs were made.'] });
    expect(arms(found)).toEqual([
      ['here', 'suite', 1, 0, 0],
      ['here', 'alone', 2, 0, 0],
    ]);
    await expect(confirm(options, { read }, stop.signal)).rejects.toThrow('The job was canceled.');
  });

  test('is run as a whole if its tool is not known', async () => {
    repository.commit({ 'check.js': '' }, 'works');
    repository.git('checkout', '-q', '-b', 'work');
    repository.commit(
      { 'check.js': `console.error('error: the tariff table is empty'); process.exit(3);` },
      'breaks',
    );
    const found = await tryIt({ argv: [process.execPath, 'check.js'] });
    expect(found).toMatchObject({ verdict: 'this-change', narrowed: null, tests: [] });
    expect(found.arms[0]?.exitCodes).toEqual([3, 3, 3]);
  });

  test('shares the dependencies of the checkout, unless the lock file of the base differs', async () => {
    const uses = testFile(`test('adds', () => assert.equal(require('adder')(2, 3), 5));`);
    repository.commit(
      { 'package-lock.json': '{"a":1}', 'a.test.js': uses, '.gitignore': 'node_modules\n' },
      'one',
    );
    repository.git('checkout', '-q', '-b', 'work');
    repository.commit({ 'a.test.js': uses.replace('5', '6') }, 'breaks');
    mkdirSync(join(repository.folder, 'node_modules/adder'), { recursive: true });
    writeFileSync(
      join(repository.folder, 'node_modules/adder/index.js'),
      'module.exports = (a, b) => a + b;\n',
    );
    expect((await tryIt()).verdict).toBe('this-change');

    repository.commit({ 'package-lock.json': '{"a":2}' }, 'upgrades');
    const differing = await tryIt();
    expect(differing).toMatchObject({
      verdict: 'reproduced',
      notes: [expect.stringContaining('node_modules differ on the base')],
    });
    const copy = `require('node:fs').cpSync(${JSON.stringify(join(repository.folder, 'node_modules'))},'node_modules',{recursive:true})`;
    expect((await tryIt({ install: [process.execPath, '-e', copy] })).verdict).toBe('this-change');
  });
});

describe('a command that misbehaves', () => {
  test('is ended with all of its child processes at the time limit', async () => {
    const hang = `require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000) // left-alone-${process.pid}'], { stdio: 'inherit' }); setInterval(() => {}, 1000);`;
    repository.commit({ 'hang.js': hang }, 'hangs');
    const found = await tryIt({ argv: [process.execPath, 'hang.js'], limitMs: 1_500, base: null });
    expect(found.arms[0]?.exitCodes).toEqual([null]);
    expect(found.notes).toEqual(['Stopped at the time limit of 0 min.']);
    expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain(
      `left-alone-${process.pid} `,
    );
  });

  test('is not awaited if a daemon that it started keeps its output open', async () => {
    const daemon = `const { pid } = require('node:child_process').spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], { detached: true, stdio: 'inherit' }); require('node:fs').writeFileSync('pid', String(pid)); process.exit(0);`;
    repository.commit({ 'daemon.js': daemon }, 'leaves a daemon');
    const { arms: ran } = await tryIt({ argv: [process.execPath, 'daemon.js'], runs: 1, base: null });
    expect(ran[0]?.exitCodes).toEqual([0]);
    expect(ran[0]?.milliseconds[0]).toBeLessThan(30_000);
    const pid = readFileSync(join(repository.folder, 'pid'), 'utf8');
    // Ended, though nobody may have taken notice yet.
    expect(spawnSync('ps', ['-o', 'stat=', '-p', pid], { encoding: 'utf8' }).stdout.trim()).toMatch(
      /^(?:Z.*)?$/,
    );
  });

  test('is ended if the disk is nearly full', async () => {
    const options = {
      cwd: repository.folder,
      env: process.env,
      limitMs: 60_000,
      leastFree: Number.MAX_SAFE_INTEGER,
    };
    const running = runCommand([process.execPath, '-e', 'setInterval(() => {}, 1000)'], options, never);
    await expect(running).rejects.toMatchObject({
      code: 'storage-failed',
      message: expect.stringContaining('is nearly full'),
    });
  });

  test('is ended at once on abort, and no worktree remains', async () => {
    repository.commit({ 'sum.js': RIGHT, 'sum.test.js': SUM_TEST }, 'works');
    repository.git('checkout', '-q', '-b', 'work');
    repository.commit({ 'sum.js': WRONG }, 'breaks');
    const temporary = mkdtempSync(join(tmpdir(), 'faultline-own-'));
    vi.stubEnv('TMPDIR', temporary);
    onTestFinished(() => {
      vi.unstubAllEnvs();
      rmSync(temporary, { recursive: true });
    });
    const stop = new AbortController();
    const onRun = ({ where }: Arm) => (where === 'base' ? stop.abort() : undefined);
    const options = {
      argv: NODE_TEST,
      cwd: repository.folder,
      env: process.env,
      base: undefined,
      runs: 3,
      limitMs: 120_000,
      tests: [],
      conditions: false,
    };
    await expect(confirm(options, { read, onRun }, stop.signal)).rejects.toThrow();
    expect(worktrees()).toBe(1);
    expect(readdirSync(temporary).filter((name) => name.startsWith('faultline-base-'))).toEqual([]);
  });

  test('or a base that does not exist is refused with a sentence', async () => {
    repository.commit({ 'sum.js': WRONG, 'sum.test.js': SUM_TEST }, 'only');
    await expect(tryIt({ base: null, argv: ['no-such-program-anywhere'] })).rejects.toMatchObject({
      code: 'invalid-input',
      message: expect.stringContaining('no-such-program-anywhere could not be started'),
    });
    await expect(tryIt({ base: 'no-such-branch' })).rejects.toMatchObject({
      message: expect.stringContaining('no-such-branch is not a commit'),
    });
    await expect(tryIt({ base: '--upload-pack=x' })).rejects.toMatchObject({
      message: expect.stringContaining('is not a commit'),
    });
    await expect(tryIt()).rejects.toMatchObject({ message: expect.stringContaining('name one with --base') });
  });

  test('gets no settings of Faultline', async () => {
    process.env.FAULTLINE_PROBE = 'secret';
    repository.commit(
      {
        'env.js': `if (process.env.FAULTLINE_PROBE) { console.error('error: it sees the secret'); process.exit(1); }`,
      },
      'looks',
    );
    expect(
      (
        await tryIt({ base: null, argv: [process.execPath, 'env.js'] }).finally(
          () => delete process.env.FAULTLINE_PROBE,
        )
      ).verdict,
    ).toBe('not-reproduced');
  });
});

test('every condition that is tried has a name that the service knows', async () => {
  const argvs = [
    ['pytest'],
    ['jest'],
    ['vitest'],
    ['mocha'],
    ['go', 'test'],
    ['mvn', 'test'],
    ['rspec'],
    ['phpunit'],
    ['node', '--test'],
  ];
  const outputs = ['', 'Using --randomly-seed=1', 'Using --random-order-seed=1'];
  const seeds = argvs.flatMap((argv) => outputs.map((output) => seedCommand(argv, output, 7)));
  const conditions = [
    ...seeds,
    ...createZoneConditions(['true']),
    ...(await shiftClock(['true'], Date.now())),
  ];
  const names = conditions.map((condition) => condition?.name ?? 'none');
  expect(names.filter((name) => !isConditionName(name))).toEqual([]);
  expect(['', 'the network off', 'the network on'].every(isConditionName)).toBe(true);
  expect(
    ['safe to merge', '--seed=1 verified', 'TZ=Safe/To_Merge', 'the clock at noon UTC'].some(isConditionName),
  ).toBe(false);
});

test('the chance that only runs with the network pass is bounded although the network has no influence', () => {
  expect(computeFisherProbability({ passed: 5, failed: 0 }, { passed: 0, failed: 5 })).toBeCloseTo(1 / 252);
  expect(computeFisherProbability({ passed: 5, failed: 5 }, { passed: 0, failed: 10 })).toBeCloseTo(
    252 / 15504,
  );
  expect(computeFisherProbability({ passed: 4, failed: 6 }, { passed: 10, failed: 0 })).toBeCloseTo(
    210 / 38760,
  );
});

test('a randomly failing test is attributed to the change no more often than stated', () => {
  let seed = 7;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed / 2 ** 31;
  };
  const arm = (where: Arm['where'], outcomes: readonly boolean[]): Arm => {
    const failed = outcomes.filter(Boolean).length;
    return {
      where,
      what: 'suite',
      commit: null,
      failed,
      passed: outcomes.length - failed,
      other: 0,
      exitCodes: [],
      milliseconds: [],
    };
  };
  const runs = 5;
  const trials = 4_000;
  const shares = [0.1, 0.3, 0.5, 0.7, 0.9].map((rate) => {
    let wrong = 0;
    for (let trial = 0; trial < trials; trial += 1) {
      const [here, base] = [0, 0].map(() => Array.from({ length: runs }, () => random() < rate));
      const { verdict } = judgeRuns({
        arms: [arm('here', here ?? []), arm('base', base ?? [])],
        dependsOnOthers: null,
        polluters: [],
      });
      if (verdict === 'this-change') wrong += 1;
    }
    return wrong / trials;
  });
  console.info(`wrongly "this change", by rate of failure .1 .3 .5 .7 .9: ${shares.join(' ')}`);
  for (const share of shares) expect(share).toBeLessThan(3 * 4 ** -runs);
});
