import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const ROOT = join(import.meta.dirname, '../../../..');
const Trained = z.object({ provenance: z.record(z.string(), z.unknown()) });
/** A name and its value in a line such as "classify/clean: 214, category 0.925, macro-F1 0.9". */
const NAMED = /^(\D.*?) (\d(?:\.\d+)?)(?= |$)/;

/**
 * Returns the figures of a set that the training wrote into its model, by name. Returns an empty map if there
 * are none.
 */
export function readTraining(model: string, list: string, set: string): ReadonlyMap<string, number> {
  const { provenance } = Trained.parse(JSON.parse(readFileSync(join(ROOT, model), 'utf8')));
  const lines = z.array(z.string()).catch([]).parse(provenance[list]);
  const line = lines.find((one) => one.startsWith(`${set}:`)) ?? '';
  const parts = line.slice(set.length).split(/[:;,] (?=[^\d,])/);
  const named = parts.flatMap((part) => {
    const [, name, value] = NAMED.exec(part) ?? [];
    return name === undefined ? [] : [[name, Number(value)] as const];
  });
  return new Map(named);
}
