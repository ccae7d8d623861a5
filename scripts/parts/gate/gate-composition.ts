import { parseArgs } from 'node:util';
import { createTerminalApp } from '../../../src/app/terminal-app.ts';
import { getDataDirectory, readConfig } from '../../../src/cli/settings.ts';
import { findMax } from '../../../src/lib/collections.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { replayConfig } from '../../../src/replay/commands/answering.ts';
import { answerWith } from '../../../test/support/composition/answer-logs.ts';
import { readCapturedParts } from '../../../test/support/composition/captured-parts.ts';
import {
  countKinds,
  findMissedBars,
  judgeJoins,
  type KindFigures,
  readBars,
} from '../../../test/support/composition/composition-gate.ts';

/**
 * Checks that captured failures that are joined into one build are answered as they are alone. `--all` tries
 * every join instead of 300, `--list` prints what is wrong with each join, and `--measure` ignores the
 * limits.
 */
const flag = { type: 'boolean', default: false } as const;
const { values: asked } = parseArgs({ options: { all: flag, list: flag, measure: flag } });
const config = replayConfig(
  { analyst: 'rules', concurrency: 1, green: false },
  readConfig(getDataDirectory(undefined)),
);
const app = await createTerminalApp(config, silentLogger);
const judged = await judgeJoins(readCapturedParts(), asked.all, answerWith(app));
const figures = countKinds(judged);

if (asked.list) {
  for (const { join, faults } of judged)
    if (faults.length > 0) console.log([join.id, ...faults].join('\n    '));
}
for (const row of renderTable(figures)) console.log(row);
const missed = asked.measure ? [] : findMissedBars(figures, asked.all ? readBars().all : readBars().short);
for (const sentence of missed) console.log(`FAILED ${sentence}`);
const faithful = judged.filter(({ faults }) => faults.length === 0).length;
const verdict = missed.length === 0 ? 'all bars held' : `${missed.length} bars missed`;
console.log(
  `composition: ${faithful} of ${judged.length} joins are faithful${asked.measure ? '' : `, ${verdict}`}`,
);
if (missed.length > 0) process.exitCode = 1;

function renderTable(kinds: readonly KindFigures[]): string[] {
  const columns = ['faithful', 'same', 'missing', 'bleed', 'misgrouped'] as const;
  const width = findMax(kinds.map(({ kind }) => kind.length));
  const head = `${'joined'.padEnd(width)}  joins  ${columns.join('  ')}`;
  const rows = kinds.map((figure) => {
    const cells = columns.map((name) => figure[name].toFixed(3).padStart(name.length));
    return `${figure.kind.padEnd(width)}  ${String(figure.joins).padStart(5)}  ${cells.join('  ')}`;
  });
  return [head, ...rows];
}
