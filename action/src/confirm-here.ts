import { readFile } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import { TriageError } from '../../src/domain/errors.ts';
import type { Experiment } from '../../src/domain/experiment.ts';
import type { FailingTest } from '../../src/domain/failure.ts';
import { confirm } from '../../src/experiments/confirm.ts';
import { findDiff } from '../../src/experiments/fix-diff.ts';
import { FIX_RULES } from '../../src/experiments/fix-rules.ts';
import { type FollowUps, followUp } from '../../src/experiments/follow-up.ts';
import { findBaseCommit, readParents } from '../../src/experiments/history.ts';
import { formatProgressLine, outputReader } from '../../src/experiments/outcome.ts';
import { openRepository } from '../../src/experiments/repository.ts';
import { createMasker } from '../../src/log/mask/mask.ts';
import { readSources } from '../../src/log/read-sources.ts';
import { prepareSources, type UploadedFile } from '../../src/service/intake/upload.ts';
import { MAX_BYTES } from './gather-files.ts';
import type { Confirmation, Environment } from './inputs.ts';
import { compareByRun } from './run-facts.ts';

const BUDGET_TOKENS = 2_000;

/**
 * Runs a failing command of the job again, in its workspace and on the base commit of the event. If the job
 * is canceled in the meantime, returns the findings up to then. Throws `invalid-input` if the command cannot
 * be started or the workspace is not a checkout, and `invalid-config` for a directory outside the workspace.
 */
export async function confirmHere(
  confirmation: Confirmation,
  files: readonly UploadedFile[],
  environment: Environment,
  print: (text: string) => void,
): Promise<Experiment> {
  const { argv, directory, install, runs, limitMs } = confirmation;
  const until = performance.now() + limitMs;
  const cwd = resolveInWorkspace(environment.GITHUB_WORKSPACE ?? '.', directory);
  const tests = await listFailingTests(files);
  const { base, bad, note } = await resolveBase(cwd, confirmation, environment);
  const stop = new AbortController();
  const interrupt = () => stop.abort(new TriageError('cancelled', 'The job was canceled.'));
  for (const signal of SIGNALS) process.on(signal, interrupt);
  try {
    const options = {
      argv,
      cwd,
      env: createJobEnvironment(environment),
      base,
      runs,
      limitMs,
      tests,
      conditions: true,
      keepsPart: true,
      ...(install === null ? {} : { install }),
    };
    const onRun: NonNullable<Parameters<typeof confirm>[1]['onRun']> = (...run) =>
      print(`${formatProgressLine(...run)}\n`);
    const deps = { read: outputReader(), onRun };
    const experiment = await confirm(options, deps, stop.signal);
    const next = await readFollowUps(confirmation, cwd, bad);
    const say = (line: string) => print(`${line}\n`);
    const whole = await followUp(experiment, next, { ...options, until }, deps, say, stop.signal);
    return { ...whole, notes: [...whole.notes, ...note] };
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt);
  }
}

/** Diffs are read from files of the workspace, or of the directory in it. */
async function readFollowUps(
  { bisect, tryFix, suggest }: Confirmation,
  cwd: string,
  bad: string,
): Promise<FollowUps> {
  const files = tryFix === true || tryFix === null ? [] : tryFix;
  const proposals = await Promise.all(
    files.map(async (file) => ({ source: file, diff: await diffIn(cwd, file) })),
  );
  return {
    bisect: bisect === null ? null : { good: bisect === true ? null : bisect, bad },
    fix: tryFix === null ? null : { proposals, rules: tryFix === true ? FIX_RULES : [], suggest },
  };
}

/**
 * Returns the diff in a file. Returns an empty text if there is none: an empty diff does not apply, and the
 * attempt reports that.
 */
async function diffIn(cwd: string, file: string): Promise<string> {
  return findDiff(await readFile(resolve(cwd, file), 'utf8').catch(() => '')) ?? '';
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

async function listFailingTests(files: readonly UploadedFile[]): Promise<readonly FailingTest[]> {
  const { sources } = await prepareSources(files, MAX_BYTES, createMasker());
  return readSources(sources, { budgetTokens: BUDGET_TOKENS, maskedSecrets: 0 }).failingTests;
}

function resolveInWorkspace(workspace: string, directory: string): string {
  const path = resolve(workspace, directory);
  const way = relative(workspace, path);
  if (way.split('/')[0] !== '..' && !isAbsolute(way)) return path;
  throw new TriageError(
    'invalid-config',
    `The input "confirm-directory" must name a directory in the workspace, not ${directory}.`,
  );
}

async function resolveBase(
  cwd: string,
  { base: named }: Confirmation,
  environment: Environment,
): Promise<{
  readonly base: string | null | undefined;
  readonly bad: string;
  readonly note: readonly string[];
}> {
  const { pullHead, names } =
    named === null ? await compareByRun(environment) : { pullHead: null, names: [named] };
  const repository = await openRepository({ cwd, env: createJobEnvironment(environment) });
  const [into, merged] = await readParents(repository);
  // The parents of the trial merge are more reliable than the event, which may be older.
  const isTrial = into !== undefined && merged !== undefined && merged === pullHead;
  const candidates = isTrial ? [into, ...names] : names;
  const bad = isTrial ? merged : 'HEAD';
  for (const candidate of candidates) {
    const base = await findBaseCommit(repository, candidate);
    if (base !== null) return { base, bad, note: [] };
  }
  if (candidates.length === 0) return { base: undefined, bad, note: [] };
  const why = `this commit was not built on ${candidates.join(' or ')}, or its history could not be fetched`;
  return {
    base: null,
    bad,
    note: [
      `Not compared: ${why}. Set fetch-depth: 0 at the checkout, or name another base with confirm-base.`,
    ],
  };
}

/**
 * Inputs of this step, tokens that a step with `run:` does not have, and the files by which this step sets
 * its own outputs.
 */
const OF_THIS_STEP = /^(?:INPUT_|ACTIONS_|GITHUB_(?:ENV|OUTPUT|PATH|STATE|STEP_SUMMARY)$)/;

/** Returns the environment that a step with `run:` has. */
function createJobEnvironment(environment: Environment): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !OF_THIS_STEP.test(name)));
}
