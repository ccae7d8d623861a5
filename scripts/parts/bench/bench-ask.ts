import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openLocalRepository, openRepositoryExplorer } from '../../../src/app/explore-app.ts';
import { readConfig } from '../../../src/cli/settings.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { SECOND_HELD_OUT_PACKAGES } from './ask-held-out.ts';
import { ASKED_PACKAGES, type AskedPackage, HELD_OUT_PACKAGES } from './ask-questions.ts';

/**
 * Measures answers to questions about published packages without a model: right and cited, silent, or
 * wrong. The packages are downloaded with their ordinary clients to a temporary folder, or reused from
 * `--data`.
 */
const { values } = parseArgs({ options: { data: { type: 'string' }, list: { type: 'boolean' } } });
const FETCH_MS = 300_000;
const folder =
  values.data === undefined ? mkdtempSync(join(tmpdir(), 'faultline-ask-')) : resolve(values.data);
const config = readConfig(join(folder, 'data'));
const signal = new AbortController().signal;
const CARGO =
  '[package]\nname = "asked"\nversion = "0.1.0"\nedition = "2021"\n' +
  '[dependencies]\nsemver = "=1.0.23"\nsmallvec = "=1.13.2"\n';

const seen = await measureAll('All', ASKED_PACKAGES);
const heldOut = await measureAll('Held out', HELD_OUT_PACKAGES);
const second = await measureAll('Held out a second time', SECOND_HELD_OUT_PACKAGES);
if (values.data === undefined) rmSync(folder, { recursive: true, force: true });
if (seen.wrong + heldOut.wrong + second.wrong > 0) process.exitCode = 1;

/** Measures packages one by one and prints the sum of their counts. */
async function measureAll(name: string, packages: readonly AskedPackage[]) {
  const totals = { right: 0, silent: 0, wrong: 0 };
  for (const asked of packages) {
    const counts = await measurePackage(asked, fetchPackage(asked));
    for (const outcome of ['right', 'silent', 'wrong'] as const) totals[outcome] += counts[outcome];
    console.log(`${asked.name}: ${counts.right} right, ${counts.silent} silent, ${counts.wrong} wrong`);
  }
  const all = totals.right + totals.silent + totals.wrong;
  console.log(`${name}: ${totals.right} of ${all} right, ${totals.silent} silent, ${totals.wrong} wrong`);
  return totals;
}

/** Downloads a package unless it is already there, and returns its folder. */
function fetchPackage({ fetch, folder: inside }: AskedPackage): string {
  const target = join(folder, inside);
  if (existsSync(target)) return target;
  mkdirSync(join(folder, 'src'), { recursive: true });
  writeFileSync(join(folder, 'Cargo.toml'), CARGO);
  writeFileSync(join(folder, 'src/lib.rs'), '');
  const env = { ...process.env, GOMODCACHE: join(folder, 'go'), GOFLAGS: '-modcacherw' };
  for (const [program = '', ...args] of fetch)
    execFileSync(program, args, {
      cwd: folder,
      env,
      timeout: FETCH_MS,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  return target;
}

async function measurePackage({ questions }: AskedPackage, path: string) {
  const counts = { right: 0, silent: 0, wrong: 0 };
  const explorer = await openRepositoryExplorer(
    config,
    await openLocalRepository(path, signal),
    silentLogger,
  );
  for (const [question, holds] of questions) {
    const { turn } = await explorer.ask(question, null, 'bench', {}, signal);
    const isSilent = turn.citations.length === 0;
    const isRight =
      holds === null ? isSilent : !isSilent && holds.every((words) => turn.text.includes(words));
    const outcome = isRight ? 'right' : isSilent ? 'silent' : 'wrong';
    counts[outcome] += 1;
    if (values.list === true || outcome !== 'right') console.log(`  ${outcome}: ${question}\n${turn.text}`);
  }
  return counts;
}
