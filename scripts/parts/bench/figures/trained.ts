import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const ROOT = join(import.meta.dirname, '../../../..');
const Trained = z.object({ provenance: z.record(z.string(), z.unknown()) });
/** The values behind their names in a line such as "classify/clean: 214, category 0.925, macro-F1 0.9". */
const VALUE = /(?:^|[,;:] )([a-zA-Z][^:,;()]*?) (\d(?:\.\d+)?)(?=[,; (]|$)/g;

/** Returns the figures of a set that a training wrote into its model, by name. Empty if there are none. */
export function readTraining(model: string, list: string, set: string): ReadonlyMap<string, number> {
  const { provenance } = Trained.parse(JSON.parse(readFileSync(join(ROOT, model), 'utf8')));
  const lines = z.array(z.string()).catch([]).parse(provenance[list]);
  const line = lines.find((one) => one.startsWith(`${set}:`)) ?? '';
  return new Map(
    Array.from(line.slice(set.length).matchAll(VALUE), ([, name = '', value]) => [
      name.trim(),
      Number(value),
    ]),
  );
}
