import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { FIGURES, type Finding, type LanguageReport, readLanguage } from './language/read-language.ts';

/**
 * Counts where the code leaves plain language (functions begin with a verb, comments are sentences) and compares
 * each count with its limit in test/gate/language.json, which may only fall. The product has limits of its own;
 * scripts and tests have others.
 *
 *     node scripts/parts/check/check-language.ts                   # fails if a count is above its limit
 *     node scripts/parts/check/check-language.ts --list of         # every place that counts for one figure
 *     node scripts/parts/check/check-language.ts --at 50e708fb     # the counts of a commit
 */
const GROUPS = [
  { group: 'product', title: 'the product', folders: ['src', 'graphs', 'action/src'] },
  { group: 'tests', title: 'scripts and tests', folders: ['scripts', 'test'] },
] as const;
const LIMITS = 'test/gate/language.json';
/** Folders of recorded data, which is not ours to word. */
const DATA = /^test\/(?:fixtures|captures)\//;

const Counts = z.record(z.string(), z.number());
const Limits = z.object({ product: Counts, tests: Counts });

const { values } = parseArgs({ options: { at: { type: 'string' }, list: { type: 'string' } } });
const { at, list: listed } = values;
const reports = GROUPS.map(({ group, title, folders }) => ({
  group,
  title,
  report: readLanguage(at === undefined ? readFiles(folders) : readCommit(at, folders)),
}));

if (listed !== undefined) list(listed);
else if (at !== undefined) for (const { title, report } of reports) print(title, report, null);
else process.exit(compareWithLimits() ? 0 : 1);

/** Prints all counts, and those that differ from their limits. Returns whether none is above its limit. */
function compareWithLimits(): boolean {
  const all = Limits.parse(JSON.parse(readFileSync(LIMITS, 'utf8')));
  let isWithin = true;
  for (const { group, title, report } of reports) {
    const limits = all[group];
    print(title, report, limits);
    for (const { name } of FIGURES) {
      const count = report.findings[name].length;
      const limit = limits[name] ?? 0;
      if (count < limit) console.log(`${name}: lower its limit for ${title} in ${LIMITS} to ${count}`);
      if (count <= limit) continue;
      isWithin = false;
      console.error(
        `${name}: above its limit; see node scripts/parts/check/check-language.ts --list ${name}`,
      );
    }
  }
  return isWithin;
}

function list(name: string): void {
  const figure = FIGURES.find((other) => other.name === name);
  if (figure === undefined) {
    console.error(
      `There is no figure "${name}". There are: ${FIGURES.map((other) => other.name).join(', ')}.`,
    );
    process.exit(2);
  }
  for (const { report } of reports)
    for (const { file, line, text } of report.findings[figure.name]) console.log(`${file}:${line}: ${text}`);
}

function print(title: string, report: LanguageReport, limits: Readonly<Record<string, number>> | null): void {
  console.log(`${title}:`);
  for (const { name, title: figure, among } of FIGURES) {
    const found: readonly Finding[] = report.findings[name];
    const whole =
      among === null ? '' : ` of ${report.totals[among]} (${share(found.length, report.totals[among])})`;
    const limit = limits === null ? '' : `, limit ${limits[name] ?? 0}`;
    console.log(`  ${figure}: ${found.length}${whole}${limit}`);
  }
}

function share(part: number, whole: number): string {
  return `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;
}

function readFiles(folders: readonly string[]): Map<string, string> {
  const names = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(
      (name) => `${folder}/${name.replaceAll('\\', '/')}`,
    ),
  );
  return new Map(names.filter(isSource).map((name) => [name, readFileSync(name, 'utf8')]));
}

function readCommit(commit: string, folders: readonly string[]): Map<string, string> {
  const names = runGit(['ls-tree', '-r', '--name-only', '-z', commit, '--', ...folders])
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
  return name.endsWith('.ts') && !name.endsWith('.d.ts') && !DATA.test(name);
}
