import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { formatComparison, readJudgments } from './advice/compare-readings.ts';
import { formatEvidence } from './advice/evidence.ts';
import { pickAnswers } from './advice/pick-answers.ts';
import { readAnswered } from './advice/read-answered.ts';

const USAGE = `Measures advice against known fixes, and prepares and compares readings by people.

  scripts/bench advice figures --dataset FILE --results FILE [--list]
      prints the Markdown of docs/evidence/advice.md for one data set: figures and misses in groups; --list names the cases of each
      group with the names that were missed
  scripts/bench advice pick --dataset FILE --results FILE --out FILE [--count 100] [--owners FILE]
      writes answers for readers, one JSON object a line: by category, published and not, in the shares of the whole; always the
      same ones. --owners: only projects of these owners, a line each (those that were left out of the work on rules)
  scripts/bench advice compare FIRST SECOND
      prints the table of two readings and where they disagree. A reading is JSON lines:
      {"id","cause":"right|partly|wrong|empty","advice":"right|direction|generic|misleading|none","english":"good|awkward"}

FILE of --results is what \`replay --out\` wrote for the data set. What pick writes quotes logs: do not commit it.`;

const { values: asked, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    dataset: { type: 'string' },
    results: { type: 'string' },
    out: { type: 'string' },
    owners: { type: 'string' },
    count: { type: 'string', default: '100' },
    list: { type: 'boolean', default: false },
  },
});
const [command, first, second] = positionals;
if (command === 'compare' && first !== undefined && second !== undefined) {
  console.log(formatComparison(readJudgments(first), readJudgments(second)));
} else if (command === 'figures' && asked.dataset !== undefined && asked.results !== undefined) {
  console.log(formatEvidence(await readAnswered(asked.dataset, asked.results), asked.list));
} else if (
  command === 'pick' &&
  asked.dataset !== undefined &&
  asked.results !== undefined &&
  asked.out !== undefined
) {
  const owners =
    asked.owners === undefined
      ? null
      : new Set(readFileSync(asked.owners, 'utf8').split(/\s+/).filter(Boolean));
  const picked = pickAnswers(await readAnswered(asked.dataset, asked.results), Number(asked.count), owners);
  writeFileSync(asked.out, picked.map((answer) => `${JSON.stringify(answer)}\n`).join(''), { mode: 0o600 });
  console.log(`${asked.out} has ${picked.length} answers.`);
} else {
  console.error(USAGE);
  process.exit(2);
}
