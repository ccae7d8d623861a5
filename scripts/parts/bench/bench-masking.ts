import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { createMasker } from '../../../src/log/mask/mask.ts';
import {
  computeShare,
  countMasks,
  measureGeneratedRecall,
  measureRealisticRecall,
  type Recall,
  readGitleaksSamples,
} from '../../../test/support/masking-gates.ts';

/**
 * Measures how much masking hides, and what it hides wrongly: gitleaks' generated secrets by rule, kinds of
 * secrets as logs show them, and the places masked in
 * ordinary logs, each counted as a false one. `--data FOLDER`: logs below it (`.log`, `.txt`, and those with `.gz`) instead of our captured ones;
 * `--list`: every line that was missed or masked.
 */
const { values: asked } = parseArgs({
  options: { data: { type: 'string' }, list: { type: 'boolean', default: false } },
});
const masker = createMasker();
const { version, samples } = readGitleaksSamples();

report(`secrets that gitleaks ${version} generates, by rule`, await measureGeneratedRecall(masker));
const harmless = await countMasks(
  masker,
  samples.flatMap((sample) => sample.harmless),
);
console.log(
  `  masked in ${samples.flatMap((sample) => sample.harmless).length} texts that its rules must leave: ${harmless.places} places`,
);
report('kinds of secrets as logs show them', await measureRealisticRecall(masker));

const folder = asked.data ?? join(import.meta.dirname, '../../../test/fixtures');
const { places, megabytes, lines } = await countMasks(masker, listLogsBelow(folder));
console.log(
  `${megabytes.toFixed(1)} MB of ordinary logs: ${places} places masked, ${(places / megabytes).toFixed(2)} a megabyte`,
);
if (asked.list) for (const line of lines) console.log(`    ${line.slice(0, 400)}`);

function report(what: string, recalls: readonly Recall[]): void {
  const { lines: share, kinds } = computeShare(recalls);
  const count = recalls.reduce((sum, recall) => sum + recall.lines, 0);
  console.log(
    `${what}: ${share.toFixed(4)} of ${count} lines; of ${recalls.length} kinds ${kinds.toFixed(3)} with every line`,
  );
  for (const { kind, lines: all, missed } of recalls) {
    if (missed.length > 0) console.log(`  ${kind}: ${all - missed.length} of ${all}`);
    if (asked.list) for (const line of missed) console.log(`    ${JSON.stringify(line.slice(0, 400))}`);
  }
}

function* listLogsBelow(path: string): Generator<string> {
  for (const entry of readdirSync(path, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !/\.(?:log|txt)(?:\.gz)?$/.test(entry.name)) continue;
    const bytes = readFileSync(join(entry.parentPath, entry.name));
    yield (entry.name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  }
}
