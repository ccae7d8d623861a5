import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { createTerminalApp } from '../../../src/app/terminal-app.ts';
import { getDataDirectory, readConfig } from '../../../src/cli/settings.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { replayConfig } from '../../../src/replay/commands/answering.ts';
import {
  countAbsentValues,
  countGeneric,
  countMisleading,
} from '../../../test/support/advice/advice-gates.ts';
import { adviseWith } from '../../../test/support/advice/advise-with.ts';

/**
 * Checks advice: its names occur in the log, logs that misled it before do not, and there is no advice
 * without a basis. The limits are numbers of wrong cases in test/gate/advice-bars.json, and may only fall.
 * `--list` prints each wrong case.
 */
const { values: asked } = parseArgs({ options: { list: { type: 'boolean', default: false } } });
const path = join(import.meta.dirname, '../../../test/gate/advice-bars.json');
const { bars } = z
  .object({ bars: z.record(z.string(), z.int().min(0)) })
  .parse(JSON.parse(readFileSync(path, 'utf8')));
const config = replayConfig(
  { analyst: 'rules', concurrency: 1, green: false },
  readConfig(getDataDirectory(undefined)),
);
const advise = adviseWith(await createTerminalApp(config, silentLogger));
const counts = [
  ...(await countAbsentValues(advise)),
  ...(await countMisleading(advise)),
  await countGeneric(advise),
];

let missed = 0;
for (const { name, cases, broken } of counts) {
  const bar = bars[name] ?? 0;
  const isHeld = broken.length <= bar;
  if (!isHeld) missed++;
  const note = broken.length < bar ? `; lower the bar to ${broken.length}` : '';
  console.log(
    `${isHeld ? 'held  ' : 'FAILED'} ${String(broken.length).padStart(4)} of ${cases} broken (bar ${bar}${note}): ${name}`,
  );
  if (asked.list || !isHeld) for (const sentence of broken) console.log(`         ${sentence}`);
}
console.log(`advice: ${counts.length - missed} of ${counts.length} bars held`);
if (missed > 0) process.exitCode = 1;
