import { extname, join } from 'node:path';
import type { BenchFigure } from '../replay/bench/read-bench.ts';
import { benchReading } from '../replay/bench/read-bench.ts';
import { print, say } from './terminal.ts';

export interface BenchReadOptions {
  readonly size: number;
  readonly large: number;
  readonly hostile: number;
  readonly rounds: number;
  readonly budget: number;
  readonly python: string;
  readonly json?: boolean;
}

const MEBI = 1024 * 1024;

/** `faultline bench read`: speed and memory of reading, beside other programs in the same run. */
export async function runBenchRead(logs: readonly string[], options: BenchReadOptions): Promise<void> {
  const figures: BenchFigure[] = [];
  await benchReading(
    {
      logs,
      matchBytes: options.size * MEBI,
      memoryBytes: [Math.ceil(options.large / 5) * MEBI, options.large * MEBI],
      hostileBytes: options.hostile * MEBI,
      rounds: options.rounds,
      budgetTokens: options.budget,
      python: options.python,
      // As `scripts/faultline` starts it.
      readCommand: ['--max-semi-space-size=16', join(import.meta.dirname, `main${extname(import.meta.filename)}`), 'read', '--json'],
    },
    (figure) => {
      figures.push(figure);
      if (!options.json) say(lineOf(figure));
    },
  );
  if (options.json) await print(JSON.stringify({ ok: true, schema: 1, figures }));
}

function lineOf({ name, value, unit, note }: BenchFigure): string {
  const digits = unit === '×' ? 2 : 0;
  return `${name.padEnd(52)} ${value.toFixed(digits).padStart(8)} ${unit.padEnd(5)}${note === undefined ? '' : ` ${note}`}`;
}
