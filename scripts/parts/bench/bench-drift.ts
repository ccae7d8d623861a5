import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createTerminalApp } from '../../../src/app/terminal-app.ts';
import { createEmbeddedPreset } from '../../../src/config/load.ts';
import { parseConfig } from '../../../src/config/schema.ts';
import type { Analysis } from '../../../src/domain/analysis.ts';
import { createSparseBuild } from '../../../src/domain/build.ts';
import { findExplaining, formatVersionChange } from '../../../src/domain/version-changes.ts';
import { computeProportion } from '../../../src/lib/statistics.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { DRIFT_CASES, type DriftCase } from './drift/cases.ts';

/**
 * Reads pairs of logs of the same commit, of which one failed because of what was installed
 * (test/fixtures/drift, captured by scripts/parts/capture/capture-drift.ts). Checks whether the change that
 * caused the failure is named first. `--other-commit` states that the commits differ, and `--list` prints
 * each pair. Exits with 1 if fewer than 0.90 are right or if an innocent change is blamed.
 */
const { values: options } = parseArgs({
  options: {
    list: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    'other-commit': { type: 'boolean', default: false },
  },
});
const MIN_NAMED = 0.9;
const FIXTURES = join(import.meta.dirname, '../../../test/fixtures/drift');
const KNOWLEDGE = join(import.meta.dirname, '../../../knowledge');
const COMMIT = '4f0e2d1c9b8a7f6e5d4c3b2a1f0e9d8c7b6a5f4e';

const captured = new Set(readdirSync(FIXTURES));
const cases = DRIFT_CASES.filter(({ id }) => captured.has(id) && id.includes(options.only));
const folder = mkdtempSync(join(tmpdir(), 'faultline-bench-drift-'));
try {
  const app = await createTerminalApp(parseConfig(createEmbeddedPreset(folder, KNOWLEDGE)), silentLogger);
  const answered: { readonly one: DriftCase; readonly named: string | null; readonly listed: boolean }[] = [];
  for (const one of cases) {
    const analyses = await answer(one);
    const explaining = analyses.flatMap(({ changes }) => findExplaining(changes) ?? []);
    const all = analyses.flatMap(({ changes }) => changes?.changes ?? []);
    const named = explaining[0]?.name ?? null;
    answered.push({ one, named, listed: all.some(({ name }) => one.guilty.includes(name)) });
    if (options.list) printPair(one, named, analyses);
  }
  process.exitCode = print(answered);

  async function answer({ id }: DriftCase): Promise<Analysis[]> {
    const [green, red] = ['green', 'red'].map((side) =>
      readFileSync(join(FIXTURES, id, `${side}.log`), 'utf8'),
    );
    const build = {
      ...createSparseBuild({ repository: 'drift/app', pipeline: 'ci', number: '2' }),
      commit: COMMIT,
      id,
      receivedAt: new Date().toISOString(),
    };
    const { analyses } = await app.triage(
      build,
      [{ name: 'log', kind: 'log', text: red ?? '', notes: [] }],
      AbortSignal.timeout(60_000),
      { greenText: green ?? '', greenCommit: options['other-commit'] ? 'f'.repeat(40) : COMMIT },
    );
    return analyses;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

type Answered = { readonly one: DriftCase; readonly named: string | null; readonly listed: boolean };

function printPair({ id, guilty }: DriftCase, named: string | null, analyses: readonly Analysis[]): void {
  const isRight = guilty.length === 0 ? named === null : named !== null && guilty.includes(named);
  console.log(
    `${isRight ? 'right' : 'WRONG'}  ${id}: named ${named ?? 'nothing'}, guilty ${guilty.join(' or ') || 'nothing'}`,
  );
  if (isRight) return;
  for (const { answer, changes } of analyses) {
    console.log(`       ${answer.title}`);
    for (const one of changes?.changes.slice(0, 6) ?? [])
      console.log(
        `       ${formatVersionChange(one)}${one.link === null ? '' : ` ← ${one.link.split('\n')[0]}`}`,
      );
  }
}

function print(answered: readonly Answered[]): number {
  const guilty = answered.filter(({ one }) => one.guilty.length > 0);
  const right = guilty.filter(({ one, named }) => named !== null && one.guilty.includes(named));
  const wrongly = answered.filter(({ one, named }) => named !== null && !one.guilty.includes(named));
  const innocent = answered.filter(({ one }) => one.guilty.length === 0);
  const say = (what: string, hits: number, of: number) => {
    const { share, low, high } = computeProportion(hits, of);
    console.log(
      `${what}: ${hits} of ${of} (${share.toFixed(3)}; 95 %: ${low.toFixed(3)} to ${high.toFixed(3)})`,
    );
  };
  for (const [kind, all] of Map.groupBy(guilty, ({ one }) => one.kind))
    say(`named first, ${kind}`, all.filter((one) => right.includes(one)).length, all.length);
  const held = guilty.filter(({ one }) => one.held === true);
  say('named first, captured after the rules', held.filter((one) => right.includes(one)).length, held.length);
  say('named first', right.length, guilty.length);
  say('listed at least', guilty.filter(({ listed }) => listed).length, guilty.length);
  say('an innocent change blamed, of all pairs', wrongly.length, answered.length);
  say(
    'an innocent change blamed, of pairs that no version broke',
    innocent.filter(({ named }) => named !== null).length,
    innocent.length,
  );
  return right.length >= MIN_NAMED * guilty.length && wrongly.length === 0 ? 0 : 1;
}
