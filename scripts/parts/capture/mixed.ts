import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { append } from '../../../src/lib/collections.ts';
import { keepRow, labelAgain, type MixedResult } from './mixed-results.ts';
import type { MixedBuild, MixedJob, MixedStep } from './mixed-row.ts';
import { type CapturedLog, describeBuild } from './mixed-truth.ts';
import { assertNeutral, neutralizeLog } from './neutral.ts';
import { installDebian, quote, writeFiles } from './project.ts';
import { type Run, runInSandbox } from './run.ts';
import { GLUED } from './tools.ts';

/** The maximum size of a log that is stored, in bytes. */
const MAX_LOG = 300_000;

/**
 * Captures the builds of `mixed/*.ts` with these ids or runners, or all of them, into `fixtures`. With
 * `labels`, only labels the stored logs again. Returns the ids that failed.
 */
export async function captureMixed(
  asked: readonly string[],
  fixtures: string,
  checkout: string,
): Promise<string[]> {
  const builds = await readMixedBuilds();
  if (asked[0] === 'labels') return await labelAgain(builds, fixtures);
  const unknown = asked.filter((name) => !builds.some(({ id, runner }) => id === name || runner === name));
  if (unknown.length > 0) throw new Error(`no such build or runner: ${unknown.join(', ')}`);
  const failed: string[] = [];
  for (const build of builds.filter(
    ({ id, runner }) => asked.length === 0 || asked.includes(id) || asked.includes(runner),
  )) {
    try {
      const row = await captureBuild(build, fixtures, checkout);
      await keepRow(row, builds, fixtures);
    } catch (error) {
      failed.push(build.id);
      console.error(`${build.id}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return failed;
}

/** Reads the builds of all tables in `mixed/`. Throws if two have the same id. */
export async function readMixedBuilds(): Promise<MixedBuild[]> {
  const folder = join(import.meta.dirname, '../../../test/captures/mixed');
  const builds: MixedBuild[] = [];
  for (const file of (await readdir(folder)).toSorted()) {
    const table: { readonly builds: readonly MixedBuild[] } = await import(join(folder, file));
    append(builds, table.builds);
  }
  const twice = builds.find(({ id }, index) => builds.findIndex((build) => build.id === id) < index);
  if (twice !== undefined) throw new Error(`two builds are called ${twice.id}`);
  return builds;
}

async function captureBuild(build: MixedBuild, fixtures: string, checkout: string): Promise<MixedResult> {
  installDebian(build.debian ?? []);
  const runs: Array<{ name: string; run: Run }> = [];
  for (const job of listJobsToRun(build))
    runs.push({ name: job.name, run: await runJob(build, job, checkout) });
  const logs = runs.map(({ name, run }) => ({
    name,
    path: runs.length === 1 ? 'log.txt' : `${name.replace(/\W+/g, '-')}.log`,
    text: neutralizeLog(run.log).toString('latin1').replace(GLUED, '$1$2\n$1$3'),
  }));
  try {
    const folder = join(fixtures, build.id);
    const report = runs.map(({ run }) => run.report).find((text) => text !== undefined);
    const row = createRow(build, runs, logs, report);
    await rm(folder, { recursive: true, force: true });
    const kept: Record<string, Buffer> = Object.fromEntries(
      logs.map(({ path, text }) => [path, Buffer.from(text, 'latin1')]),
    );
    if (report !== undefined) kept['report.xml'] = neutralizeLog(Buffer.from(report));
    for (const [path, text] of Object.entries(kept)) assertNeutral(`${build.id} ${path}`, text, checkout);
    await mkdir(folder, { recursive: true });
    for (const [path, text] of Object.entries(kept)) await writeFile(join(folder, path), text);
    console.log(
      `${build.id}: ${row.failures.length} failures, ${logs.map(({ text }) => text.split('\n').length).join(' + ')} lines`,
    );
    return row;
  } catch (error) {
    const rejected = join(tmpdir(), `rejected-${build.id}.log`);
    await writeFile(rejected, logs.map(({ text }) => text).join('\n'), 'latin1');
    throw new Error(`${error instanceof Error ? error.message : String(error)} (log kept in ${rejected})`, {
      cause: error,
    });
  }
}

function listJobsToRun({ jobs, run, exitCode = 1 }: MixedBuild): readonly MixedJob[] {
  return jobs ?? [{ name: 'log', exitCode, steps: typeof run === 'string' ? [{ run }] : (run ?? []) }];
}

async function runJob(build: MixedBuild, job: MixedJob, checkout: string): Promise<Run> {
  const projectDir = await mkdtemp(join(tmpdir(), 'capture-project-'));
  try {
    await writeFiles(join(projectDir, 'project'), build.files);
    await writeFile(join(projectDir, 'capture.sh'), createJobScript(build, job));
    const { runner, version, report, ci = 'github', project } = build;
    const tools: Record<string, string> = version === undefined ? {} : { [runner]: version };
    const result = await runInSandbox({
      projectDir,
      checkout,
      recipe: { tools, report, ci, project, cold: false },
      variant: 'red',
    });
    if (result.exitCode === job.exitCode) return result;
    const rejected = join(tmpdir(), `rejected-${build.id}.log`);
    await writeFile(rejected, result.log);
    throw new Error(
      `exit code ${result.exitCode} of ${job.name}, expected ${job.exitCode} (log kept in ${rejected})`,
    );
  } finally {
    await rm(projectDir, { recursive: true, force: true });
  }
}

function createJobScript(
  { id, setup = 'true', env = {}, before, network, keepGoing, skipped = [], ci }: MixedBuild,
  job: MixedJob,
): string {
  const shown = Object.entries(env).map(([name, value]) => quote(`${name}=${value}`));
  const lines = [
    `quietly ${quote(setup)}`,
    `STEP_ENV=(${shown.join(' ')})`,
    (ci ?? 'github') === 'github' && id.length % 2 === 0 ? 'checkout_step' : '',
    before === undefined ? '' : `step Prepare ${quote(before)}`,
    network === undefined ? '' : 'isolate',
    network === undefined || network === 'none' ? '' : `upstream ${network}`,
    keepGoing === true ? 'KEEP_GOING=yes' : '',
    ...job.steps.map(formatStepLine),
    ...skipped.map((name) => `skipped_stage ${quote(name)}`),
    'end_job',
  ];
  return `${lines.filter((line) => line !== '').join('\n')}\n`;
}

function formatStepLine({ name = 'Test', run, cancelAfter }: MixedStep): string {
  const limit = cancelAfter === undefined ? '' : `RUN_LIMIT=${cancelAfter}\n`;
  return `${limit}step ${quote(name)} ${quote(run)}`;
}

function createRow(
  build: MixedBuild,
  runs: ReadonlyArray<{ run: Run }>,
  logs: readonly CapturedLog[],
  report: string | undefined,
): MixedResult {
  if (build.report !== undefined && report === undefined) throw new Error(`no report at ${build.report}`);
  if (logs.some(({ text }) => text.length > MAX_LOG)) throw new Error(`a log has more than ${MAX_LOG} bytes`);
  const read = logs.map((log) => ({ ...log, text: Buffer.from(log.text, 'latin1').toString('utf8') }));
  const placed = logs.map(({ name, path }) => ({ name, log_path: `${build.id}/${path}` }));
  return {
    id: build.id,
    ...describeBuild(build, read),
    version: runs[0]?.run.versions[build.runner],
    ...(build.jobs === undefined ? { log_path: placed[0]?.log_path } : { logs: placed }),
    report_path: report === undefined ? undefined : `${build.id}/report.xml`,
    captured_at: new Date().toISOString(),
  };
}
