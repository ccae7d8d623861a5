import { parseArgs } from 'node:util';
import {
  createJudge,
  createJudgeWithout,
  measureHarmlessJudgments,
  measureInventedToolJudgment,
  measureOwnToolLeftOut,
  measureRulesOnPassedLogs,
  measureUnknownToolJudgment,
} from '../../../test/support/judging-gates.ts';
import { measurePages } from '../../../test/support/page-gates.ts';
import {
  createCachedRead,
  measureHarmlessLines,
  measureInventedTools,
  measurePassedLogs,
  measureUnknownTools,
  readCapturedFailures,
} from '../../../test/support/reading-gates.ts';

/**
 * Checks reading and judging on the captured failures. `--each N` tries N kinds of harmless lines per failure
 * (there are 200), and `--list` prints the misses.
 */
const { values: asked } = parseArgs({
  options: { each: { type: 'string', default: '4' }, list: { type: 'boolean', default: false } },
});
const failures = readCapturedFailures();
const read = createCachedRead();
const judge = createJudge(read);
const figures = [
  ...measureHarmlessLines(failures, Number(asked.each), read),
  ...measureUnknownTools(failures, read),
  measurePassedLogs(failures),
  ...measureInventedTools(300),
  ...measureHarmlessJudgments(failures, Number(asked.each), judge),
  measureUnknownToolJudgment(failures, judge),
  measureOwnToolLeftOut(failures, createJudgeWithout(read)),
  measureInventedToolJudgment(300, judge),
  measureRulesOnPassedLogs(failures),
  ...(await measurePages(failures)),
];
for (const { name, value, bar, cases, missed } of figures) {
  const verdict = value >= bar ? 'held  ' : 'FAILED';
  console.log(`${verdict} ${value.toFixed(3)} (bar ${bar.toFixed(2)}, ${cases} cases) ${name}`);
  if (asked.list || value < bar)
    for (const label of missed.slice(0, asked.list ? missed.length : 10)) console.log(`         ${label}`);
}
const held = figures.filter(({ value, bar }) => value >= bar).length;
console.log(`reading and judging: ${held} of ${figures.length} bars held`);
if (held < figures.length) process.exitCode = 1;
