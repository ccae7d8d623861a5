import { parseArgs } from 'node:util';
import { getDataDirectory } from '../../../src/cli/settings.ts';
import { readCapturedParts } from '../../../test/support/composition/captured-parts.ts';
import { chooseJoins } from '../../../test/support/composition/choose-joins.ts';
import { openJoinedRequests } from '../../../test/support/composition/joined-requests.ts';

/**
 * Joins captured failures into one build and counts the lines of other failures in the requests about each
 * failure. The scripted model looks at everything that the tools show of a log. `--every N` takes every Nth
 * join (8 if absent), `--list` prints foreign lines, and `--max SHARE` sets the share of the requests with
 * foreign lines above which it exits with 1 (0.1 if absent).
 */
const { values } = parseArgs({
  options: {
    every: { type: 'string', default: '8' },
    list: { type: 'boolean', default: false },
    max: { type: 'string', default: '0.1' },
  },
});
const joins = chooseJoins(readCapturedParts(), false).filter(
  ({ parts }, at) => at % Number(values.every) === 0 && new Set(parts).size === parts.length,
);
const kinds = new Map<
  string,
  { joins: number; requests: number; bad: number; lines: number; foreign: number }
>();
const joined = await openJoinedRequests(getDataDirectory(undefined));
try {
  for (const join of joins) {
    const figures = kinds.get(join.kind) ?? { joins: 0, requests: 0, bad: 0, lines: 0, foreign: 0 };
    kinds.set(join.kind, figures);
    figures.joins += 1;
    for (const { name, lines, foreign } of await joined.ask(join)) {
      figures.requests += 1;
      figures.lines += lines;
      figures.foreign += foreign.length;
      if (foreign.length === 0) continue;
      figures.bad += 1;
      if (!values.list) continue;
      console.log(`${join.id}, ${name}: ${foreign.length} lines`);
      for (const { line, text } of foreign.slice(0, 5)) console.log(`    ${line}| ${text.slice(0, 140)}`);
    }
  }
} finally {
  await joined.close();
}
console.log(
  "| joined | builds | requests | with lines of another failure | lines | of them another failure's |",
);
console.log('|---|---|---|---|---|---|');
let [requests, bad] = [0, 0];
for (const [kind, one] of kinds) {
  console.log(`| ${kind} | ${one.joins} | ${one.requests} | ${one.bad} | ${one.lines} | ${one.foreign} |`);
  requests += one.requests;
  bad += one.bad;
}
const share = requests === 0 ? 0 : bad / requests;
console.log(`${bad} of ${requests} requests (${(100 * share).toFixed(1)} %) have lines of another failure`);
if (share > Number(values.max)) process.exitCode = 1;
