import { readRecordingsIn } from '../../../src/replay/recording/read-recordings.ts';
import { countRequested } from '../../../test/support/requested-lines.ts';

/** Counts the lines that the calls of recorded models returned, and those that today's next page lacks. */
const totals = { runs: 0, requested: 0, lacking: 0 };
for (const path of process.argv.slice(2)) {
  for await (const source of readRecordingsIn(path)) {
    if ('error' in source) {
      console.error(`${source.name}: ${source.error}`);
      continue;
    }
    const { requested, lacking } = countRequested(source.recording);
    totals.runs += 1;
    totals.requested += requested;
    totals.lacking += lacking.length;
    for (const line of lacking) console.log(`${source.name}: ${line.slice(0, 160)}`);
  }
}
console.log(`${totals.runs} runs, ${totals.requested} lines requested, ${totals.lacking} lacking`);
if (totals.lacking > 0) process.exitCode = 1;
