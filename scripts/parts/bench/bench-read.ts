import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type BenchFigure, benchReading } from './read-bench.ts';

/**
 * Measures speed and memory of reading logs, compared with ripgrep, grep and Drain3 if they are installed. Without LOGS, generated ones are
 * read. Sizes in MiB: `--size` of the text that is searched, `--large` of the largest log (the smaller one is a fifth of it), `--hostile` of
 * each hostile log. `--rounds` interleaved rounds, of which the median is reported; `--budget` tokens kept of each log; `--python` with Drain3.
 */
const { values, positionals: logs } = parseArgs({
  allowPositionals: true,
  options: {
    size: { type: 'string', default: '200' },
    large: { type: 'string', default: '1024' },
    hostile: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '5' },
    budget: { type: 'string', default: '8000' },
    python: { type: 'string', default: 'python3' },
    json: { type: 'boolean', default: false },
  },
});
const MEBI = 1024 * 1024;
const large = readWhole('large');
const figures: BenchFigure[] = [];
await benchReading(
  {
    logs,
    matchBytes: readWhole('size') * MEBI,
    memoryBytes: [Math.ceil(large / 5) * MEBI, large * MEBI],
    hostileBytes: readWhole('hostile') * MEBI,
    rounds: readWhole('rounds'),
    budgetTokens: readWhole('budget'),
    python: values.python,
    // The arguments with which `scripts/faultline` starts it.
    readCommand: [
      '--max-semi-space-size=16',
      join(import.meta.dirname, '../../../src/cli/main.ts'),
      'read',
      '--json',
    ],
  },
  (figure) => {
    figures.push(figure);
    if (!values.json) console.log(getLine(figure));
  },
);
if (values.json) console.log(JSON.stringify({ ok: true, schema: 1, figures }));

function readWhole(name: 'size' | 'large' | 'hostile' | 'rounds' | 'budget'): number {
  const value = Number(values[name]);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new Error(`--${name}: use a whole number of at least 1`);
}

function getLine({ name, value, unit, note }: BenchFigure): string {
  const digits = unit === '×' ? 2 : 0;
  return `${name.padEnd(52)} ${value.toFixed(digits).padStart(8)} ${unit.padEnd(5)}${note === undefined ? '' : ` ${note}`}`;
}
