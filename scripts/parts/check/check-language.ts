import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { FIGURES, type Finding, readLanguage } from './language/read-language.ts';

/**
 * Counts where the code leaves plain language (functions begin with a verb, comments are sentences) and compares each count
 * with its limit in test/gate/language.json, which may only fall.
 *
 *     node scripts/parts/check/check-language.ts                   # fails if a count is above its limit
 *     node scripts/parts/check/check-language.ts --list of         # every place that counts for one figure
 *     node scripts/parts/check/check-language.ts --at 50e708fb     # the counts of a commit
 */
const FOLDERS = ['src', 'graphs', 'action/src'] as const;
const LIMITS = 'test/gate/language.json';

const { values } = parseArgs({ options: { at: { type: 'string' }, list: { type: 'string' } } });
const files = values.at === undefined ? readFiles() : readCommit(values.at);
const report = readLanguage(files);

if (values.list !== undefined) list(values.list);
else if (values.at !== undefined) print(null);
else {
  const limits = z.record(z.string(), z.number()).parse(JSON.parse(readFileSync(LIMITS, 'utf8')));
  print(limits);
  const above = FIGURES.filter(({ name }) => report.findings[name].length > (limits[name] ?? 0));
  for (const { name } of above)
    console.error(`${name}: above its limit; see node scripts/parts/check/check-language.ts --list ${name}`);
  const below = FIGURES.filter(({ name }) => report.findings[name].length < (limits[name] ?? 0));
  for (const { name } of below)
    console.log(`${name}: lower its limit in ${LIMITS} to ${report.findings[name].length}`);
  process.exit(above.length > 0 ? 1 : 0);
}

function list(name: string): void {
  const figure = FIGURES.find((other) => other.name === name);
  if (figure === undefined) {
    console.error(
      `There is no figure "${name}". There are: ${FIGURES.map((other) => other.name).join(', ')}.`,
    );
    process.exit(2);
  }
  for (const { file, line, text } of report.findings[figure.name]) console.log(`${file}:${line}: ${text}`);
}

function print(limits: Readonly<Record<string, number>> | null): void {
  for (const { name, title, among } of FIGURES) {
    const found: readonly Finding[] = report.findings[name];
    const whole =
      among === null ? '' : ` of ${report.totals[among]} (${share(found.length, report.totals[among])})`;
    const limit = limits === null ? '' : `, limit ${limits[name] ?? 0}`;
    console.log(`${title}: ${found.length}${whole}${limit}`);
  }
}

function share(part: number, whole: number): string {
  return `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;
}

function readFiles(): Map<string, string> {
  const names = FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(
      (name) => `${folder}/${name.replaceAll('\\', '/')}`,
    ),
  );
  return new Map(names.filter(isSource).map((name) => [name, readFileSync(name, 'utf8')]));
}

function readCommit(commit: string): Map<string, string> {
  const names = runGit(['ls-tree', '-r', '--name-only', '-z', commit, '--', ...FOLDERS])
    .split('\0')
    .filter(isSource);
  return new Map(names.map((name) => [name, runGit(['show', `${commit}:${name}`])]));
}

function runGit(args: readonly string[]): string {
  const run = spawnSync('git', args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (run.status !== 0) {
    console.error(`git ${args[0]}: ${run.stderr.trim()} (is this a whole clone?)`);
    process.exit(2);
  }
  return run.stdout;
}

function isSource(name: string): boolean {
  return name.endsWith('.ts') && !name.endsWith('.d.ts');
}
