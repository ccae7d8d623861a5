import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import type { FailingTest } from '../../../src/domain/failure.ts';
import { Findings } from '../../../src/log/extract/extraction.ts';
import { EXTRACTORS, openScanned, TEST_EXTRACTORS } from '../../../src/log/extract/run.ts';
import { toLogBytes } from '../../../src/log/lines/bytes.ts';
import { mergeTests } from '../../../src/log/merge-test-results.ts';
import { countNamed } from '../../../src/replay/figures/reading.ts';

/**
 * Counts the failing tests that are still named if the reader of their runner is left out, so that only the
 * structural reader can name them: `node scripts/parts/bench/leave-out-tests.ts [DATASET.jsonl…]`. Without a data set, the captured failures are read.
 */
const STRUCTURAL = 'tests';

const Row = z.object({
  id: z.string(),
  log: z.string().optional(),
  log_path: z.string().nullish(),
  failing_tests: z.array(z.string()).nullish(),
});
const Truth = z.object({
  failingTests: z.array(z.object({ name: z.string(), suite: z.string().nullish() })).default([]),
});

interface Case {
  readonly id: string;
  readonly text: string;
  readonly truth: readonly string[];
}

interface Counts {
  cases: number;
  wanted: number;
  whole: number;
  left: number;
  named: number;
}

const files = process.argv.slice(2);
const cases = files.length === 0 ? readCapturedCases('test/fixtures/failures') : files.flatMap(selectCases);
const byReader = new Map<string, Counts>();
for (const loopCase of cases) count(loopCase);
print();

function count(loopCase: Case): void {
  const whole = readTestsWithout(loopCase.text, new Set());
  const hits = countNamed(loopCase.truth, whole.tests);
  for (const reader of [...whole.readers, `all but ${STRUCTURAL}`]) {
    const off = reader.startsWith('all')
      ? new Set(TEST_EXTRACTORS.map(({ name }) => name).filter((name) => name !== STRUCTURAL))
      : new Set([reader]);
    if (reader === STRUCTURAL) continue;
    const { tests } = readTestsWithout(loopCase.text, off);
    const left = countNamed(loopCase.truth, tests);
    const sum = byReader.get(reader) ?? { cases: 0, wanted: 0, whole: 0, left: 0, named: 0 };
    byReader.set(reader, {
      cases: sum.cases + 1,
      wanted: sum.wanted + new Set(loopCase.truth).size,
      whole: sum.whole + hits,
      left: sum.left + left,
      named: sum.named + tests.length,
    });
    if (left < hits && process.env.VERBOSE !== undefined)
      console.error(`${loopCase.id}: ${reader} left out: ${left} of ${hits}`);
  }
}

/**
 * Reads the tests of a log without some readers. Also returns which readers found a test when none is left
 * out.
 */
function readTestsWithout(
  text: string,
  off: ReadonlySet<string>,
): { readonly tests: readonly FailingTest[]; readonly readers: readonly string[] } {
  const { log, scan } = openScanned('log', toLogBytes(text));
  const found = new Findings('log');
  const readers: string[] = [];
  for (const [group, extractor] of EXTRACTORS.entries()) {
    const lines = scan.hits[group] ?? [];
    if (lines.length === 0 || off.has(extractor.name)) continue;
    const before = found.failingTests.length;
    extractor.extract(log, lines, found);
    if (found.failingTests.length > before) readers.push(extractor.name);
  }
  return { tests: mergeTests([], found.failingTests), readers };
}

function selectCases(file: string): Case[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => Row.parse(JSON.parse(line)))
    .flatMap((row) => {
      const truth = [...new Set(row.failing_tests ?? [])];
      if (truth.length === 0) return [];
      const text =
        row.log ?? gunzipSync(readFileSync(resolve(dirname(file), row.log_path ?? ''))).toString('utf8');
      return [{ id: row.id, text, truth }];
    });
}

function readCapturedCases(folder: string): Case[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (!entry.isDirectory()) return [];
    const id = entry.name;
    const truth =
      Truth.safeParse(JSON.parse(readFileSync(join(folder, id, 'truth.json'), 'utf8'))).data?.failingTests ??
      [];
    if (truth.length === 0) return [];
    return [
      { id, text: readFileSync(join(folder, id, 'log.txt'), 'utf8'), truth: truth.map(({ name }) => name) },
    ];
  });
}

function print(): void {
  console.log('reader left out               cases  tests  with it  without  share  named');
  for (const [reader, { cases: n, wanted, whole, left, named }] of [...byReader].sort(
    (a, b) => b[1].wanted - a[1].wanted,
  )) {
    const share = whole === 0 ? '-' : (left / whole).toFixed(3);
    console.log(
      `${reader.padEnd(28)} ${String(n).padStart(6)} ${String(wanted).padStart(6)} ${String(whole).padStart(8)} ${String(left).padStart(8)} ${share.padStart(6)} ${String(named).padStart(6)}`,
    );
  }
}
