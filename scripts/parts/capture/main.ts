import { access, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import { captureMixed } from './mixed.ts';
import { assertNeutral, neutralizeLog } from './neutral.ts';
import { type Run, runInSandbox } from './run.ts';
import { captureTools } from './tools.ts';
import { listCitedLines, Recipe } from './truth.ts';

const checkout = resolve(import.meta.dirname, '../../..');
const projects = join(import.meta.dirname, '../../../test/captures/projects');
const fixtures = join(checkout, 'test/fixtures/failures');

const [table, ...names] = process.argv.slice(2);
const failed = await captureTable();
if (failed.length > 0) {
  console.error(`not captured: ${failed.join(', ')}`);
  process.exitCode = 1;
}

async function captureTable(): Promise<string[]> {
  if (table === 'tools') return await captureTools(names, join(checkout, 'test/fixtures/tools'), checkout);
  if (table === 'mixed') return await captureMixed(names, join(checkout, 'test/fixtures/mixed'), checkout);
  return await captureProjects(process.argv.slice(2));
}

async function captureProjects(asked: readonly string[]): Promise<string[]> {
  const known = (await readdir(projects)).toSorted();
  const unknown = asked.filter((slug) => !known.includes(slug));
  if (unknown.length > 0)
    throw new Error(`no such project: ${unknown.join(', ')}; there are ${known.join(', ')}`);
  await mkdir(fixtures, { recursive: true });
  const rejected: string[] = [];
  for (const slug of asked.length > 0 ? asked : known) {
    try {
      await capture(slug);
    } catch (error) {
      rejected.push(slug);
      console.error(`${slug}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  for (const path of (await readdir(fixtures, { recursive: true })).filter((name) => name.includes('/'))) {
    assertNeutral(path, await readFile(join(fixtures, path)), checkout);
  }
  return rejected;
}

async function capture(slug: string): Promise<void> {
  const projectDir = join(projects, slug);
  const recipe = Recipe.parse(JSON.parse(await readFile(join(projectDir, 'truth.json'), 'utf8')));
  const hasGreen = await access(join(projectDir, 'before')).then(
    () => true,
    () => false,
  );
  const green = hasGreen ? await runInSandbox({ projectDir, checkout, recipe, variant: 'green' }) : undefined;
  const red = await runInSandbox({ projectDir, checkout, recipe, variant: 'red' });
  await write(slug, recipe, red, green);
}

async function write(slug: string, recipe: Recipe, red: Run, green: Run | undefined): Promise<void> {
  const log = neutralizeLog(red.log);
  const greenLog = green === undefined ? undefined : neutralizeLog(green.log);
  const report = red.report === undefined ? undefined : neutralizeLog(Buffer.from(red.report));
  try {
    if (green !== undefined && green.exitCode !== 0)
      throw new Error(`the healthy project failed with exit code ${green.exitCode}`);
    if (red.exitCode !== recipe.exitCode)
      throw new Error(`exit code ${red.exitCode}, expected ${recipe.exitCode}`);
    if (recipe.report !== undefined && report === undefined) throw new Error(`no report at ${recipe.report}`);
    for (const [label, text] of Object.entries({ log, greenLog, report })) {
      if (text !== undefined) assertNeutral(`${slug} ${label}`, text, checkout);
    }
    const truth = describe(slug, recipe, red, log);
    const folder = join(fixtures, slug);
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'log.txt'), log);
    if (greenLog !== undefined) await writeFile(join(folder, 'green.log.txt'), greenLog);
    if (report !== undefined) await writeFile(join(folder, 'report.xml'), report);
    await writeFile(join(folder, 'truth.json'), `${JSON.stringify(truth, null, 2)}\n`);
    console.log(
      `${slug}: ${truth.category}/${truth.kind}, ${log.toString('latin1').split('\n').length} lines`,
    );
  } catch (error) {
    const rejected = `/tmp/rejected-${slug}.log`;
    await writeFile(rejected, Buffer.concat([greenLog ?? Buffer.alloc(0), log]));
    throw new Error(`${error instanceof Error ? error.message : String(error)} (log kept in ${rejected})`, {
      cause: error,
    });
  }
}

function describe(slug: string, recipe: Recipe, red: Run, log: Buffer) {
  const { title, category, alsoOk, kind, cause, fix, failingTests, ci } = recipe;
  const mustCite = listCitedLines(log.toString('utf8'), recipe.mustCite);
  const evidence = {
    mustCite,
    tools: red.versions,
    ci,
    exitCode: red.exitCode,
    capturedAt: new Date().toISOString(),
  };
  return { slug, title, category, alsoOk, kind, cause, fix, failingTests, ...evidence };
}
