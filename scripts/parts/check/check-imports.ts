import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { z } from 'zod';

/**
 * Checks the import rules. Fails if fewer modules were read than there are source files, because such a check
 * would be meaningless.
 */
const FOLDERS = ['src', 'graphs', 'prompts', 'action/src'] as const;

const Result = z.object({
  modules: z.array(z.object({ source: z.string() })),
  summary: z.object({
    violations: z.array(z.object({ from: z.string(), to: z.string(), rule: z.object({ name: z.string() }) })),
  }),
});

const run = spawnSync(
  'node_modules/.bin/depcruise',
  ['--config', '.dependency-cruiser.cjs', '--output-type', 'json', ...FOLDERS],
  {
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  },
);
if (run.stdout === '') {
  console.error(run.stderr);
  process.exit(1);
}
const { modules, summary } = Result.parse(JSON.parse(run.stdout));
const read = new Set(modules.map((module) => module.source));
const unread = FOLDERS.flatMap(listSourceFiles).filter((file) => !read.has(file));
for (const { from, to, rule } of summary.violations) console.error(`${rule.name}: ${from} → ${to}`);
if (unread.length > 0)
  console.error(`dependency-cruiser did not read ${unread.length} source files, such as ${unread[0]}`);
console.log(`${read.size} modules read, ${summary.violations.length} violations`);
process.exit(summary.violations.length > 0 || unread.length > 0 ? 1 : 0);

function listSourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`);
}
