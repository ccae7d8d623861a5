import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { append } from '../../../src/lib/collections.ts';

import { assertNeutral, neutralizeLog } from './neutral.ts';
import { installDebian, quote, writeFiles } from './project.ts';
import type { ToolRow } from './row.ts';
import { runInSandbox } from './run.ts';
import { listCitedLines } from './truth.ts';

/** The number of concurrent captures. */
const AT_ONCE = 2;
/** The maximum size of a log that is stored, in bytes. */
const MAX_LOG = 200_000;
/** The line that steps.sh prints after each of the two jobs, with the exit code of the job. */
const JOB_ENDS = /^\S{20,40} (?:\u001b\[0m){0,4}\u001e(\d{1,3})\n/m;
/** A line of the runner behind output that ended without a line break: the runner starts a new line. */
export const GLUED =
  /^(\S{20,40} )(.{1,4000})(##\[error\]Process completed with exit code|Post job cleanup\.|\u001e\d)/gm;

/**
 * Captures the rows of `tools/*.ts` with these slugs or tools, or all of them, into `fixtures`. Returns the
 * slugs that failed.
 */
export async function captureTools(
  asked: readonly string[],
  fixtures: string,
  checkout: string,
): Promise<string[]> {
  const rows = await readToolRows();
  const unknown = asked.filter((name) => !rows.some(({ slug, tool }) => slug === name || tool === name));
  if (unknown.length > 0) throw new Error(`no such slug or tool: ${unknown.join(', ')}`);
  const queue = rows.filter(
    ({ slug, tool }) => asked.length === 0 || asked.includes(slug) || asked.includes(tool),
  );
  const failed: string[] = [];
  async function work(): Promise<void> {
    for (let row = queue.shift(); row !== undefined; row = queue.shift()) {
      try {
        await captureTool(row, join(fixtures, row.slug), checkout);
      } catch (error) {
        failed.push(row.slug);
        console.error(`${row.slug}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return failed;
}

/** Reads the rows of all tables in `tools/`. Throws if two have the same slug. */
export async function readToolRows(): Promise<ToolRow[]> {
  const folder = join(import.meta.dirname, '../../../test/captures/tools');
  const rows: ToolRow[] = [];
  for (const file of (await readdir(folder)).toSorted()) {
    const table: { readonly rows: readonly ToolRow[] } = await import(join(folder, file));
    append(rows, table.rows);
  }
  const twice = rows.find(({ slug }, index) => rows.findIndex((row) => row.slug === slug) < index);
  if (twice !== undefined) throw new Error(`two rows are called ${twice.slug}`);
  return rows;
}

async function captureTool(row: ToolRow, folder: string, checkout: string): Promise<void> {
  installDebian(row.debian ?? []);
  const projectDir = await mkdtemp(join(tmpdir(), 'capture-project-'));
  try {
    await writeFiles(join(projectDir, 'project'), row.files);
    if (row.green !== undefined) await writeFiles(join(projectDir, 'before'), listHealthyFiles(row));
    await writeFile(join(projectDir, 'capture.sh'), createJobScript(row));
    const tools: Record<string, string> = row.version === undefined ? {} : { [row.tool]: row.version };
    const recipe = {
      tools,
      report: undefined,
      ci: 'github',
      project: findProjectName(row.slug),
      cold: false,
    } as const;
    const { log, versions } = await runInSandbox({ projectDir, checkout, recipe, variant: 'red' });
    await keep(row, folder, neutralizeLog(log).toString('latin1'), versions[row.tool], checkout);
  } finally {
    await rm(projectDir, { recursive: true, force: true });
  }
}

async function keep(
  row: ToolRow,
  folder: string,
  recorded: string,
  version: string | undefined,
  checkout: string,
): Promise<void> {
  try {
    const [red = '', redCode, green = '', greenCode] = recorded.replace(GLUED, '$1$2\n$1$3').split(JOB_ENDS);
    if (redCode === undefined) throw new Error('the setup failed');
    if (Number(redCode) !== row.exitCode) throw new Error(`exit code ${redCode}, expected ${row.exitCode}`);
    if (row.green !== undefined && greenCode !== '0')
      throw new Error(`the healthy project failed with exit code ${greenCode}`);
    if (red.length > MAX_LOG || green.length > MAX_LOG)
      throw new Error(`a log has more than ${MAX_LOG} bytes`);
    const log = Buffer.from(red, 'latin1');
    const greenLog = Buffer.from(green, 'latin1');
    assertNeutral(`${row.slug} log`, log, checkout);
    assertNeutral(`${row.slug} green log`, greenLog, checkout);
    const { slug, tool, heldOut, category, alsoOk = [], exitCode } = row;
    const telling = listInformativeLines(log.toString('utf8'), row);
    const truth = {
      slug,
      tool,
      heldOut,
      category,
      alsoOk,
      exitCode,
      telling,
      version,
      capturedAt: new Date().toISOString(),
    };
    await rm(folder, { recursive: true, force: true });
    await writeFiles(folder, { 'truth.json': `${JSON.stringify(truth, null, 2)}\n` });
    await writeFile(join(folder, 'log.txt'), log);
    if (row.green !== undefined) await writeFile(join(folder, 'green.log.txt'), greenLog);
    console.log(
      `${slug}: ${version ?? 'no version'}, ${red.split('\n').length} lines, green ${green.split('\n').length}`,
    );
  } catch (error) {
    const rejected = join(tmpdir(), `rejected-${row.slug}.log`);
    await writeFile(rejected, recorded, 'latin1');
    throw new Error(`${error instanceof Error ? error.message : String(error)} (log kept in ${rejected})`, {
      cause: error,
    });
  }
}

function listHealthyFiles({ slug, files, green = {} }: ToolRow): Record<string, string> {
  const changed = Object.entries(green).map(([path, change]): [string, string] => {
    if (typeof change === 'string') return [path, change];
    const [words, instead] = change;
    const text = files[path];
    if (text === undefined || !text.includes(words))
      throw new Error(`${slug}: ${path} does not hold ${words}`);
    return [path, text.replace(words, () => instead)];
  });
  return Object.fromEntries(changed);
}

/** Lists the informative lines within the failing step's output, so that no quote comes from an echo or an earlier step. */
function listInformativeLines(text: string, { run, telling }: ToolRow): Array<[number, number]> {
  const lines = text.split('\n');
  const head = lines.findLastIndex((line) => line.endsWith(`##[group]Run ${run.split('\n')[0]}`));
  const output = lines.findIndex((line, index) => index > head && line.endsWith('##[endgroup]')) + 1;
  return listCitedLines(lines.slice(output).join('\n'), telling).map(([from, to]) => [
    from + output,
    to + output,
  ]);
}

/**
 * Returns the capture.sh of a row. Whether a row begins with a checkout or ends with a clean-up is the same
 * in every capture.
 */
function createJobScript({
  slug,
  setup = 'true',
  env = {},
  before,
  run,
  network,
  cancelAfter,
}: ToolRow): string {
  const steps = [
    slug.length % 2 === 0 ? 'checkout_step' : undefined,
    before === undefined ? undefined : `step Prepare ${quote(before)}`,
    network === undefined ? undefined : 'isolate',
    network === undefined || network === 'none' ? undefined : `upstream ${network}`,
    cancelAfter === undefined ? undefined : `RUN_LIMIT=${cancelAfter}`,
    `step Run ${quote(run)}`,
    'end_job',
  ].filter((line) => line !== undefined);
  return [
    `quietly ${quote(setup)}`,
    `STEP_ENV=(${Object.entries(env)
      .map(([name, value]) => quote(`${name}=${value}`))
      .join(' ')})`,
    `job() {\n${steps.join('\n')}\n}`,
    `red_then_green ${slug.length % 3 === 0 ? 'cleanup_lines' : 'true'}`,
    '',
  ].join('\n'); // prettier-ignore
}

/**
 * Returns an invented name of a repository that does not contain the tool's name, so that logs do not differ
 * by it.
 */
function findProjectName(slug: string): string {
  const names = [
    'ledger',
    'orchard',
    'harbor',
    'timetable',
    'recipes',
    'library',
    'greenhouse',
    'parcels',
    'weather',
    'tickets',
  ];
  return names[slug.length % names.length] ?? 'ledger';
}
