import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { Category } from '../../src/domain/category.ts';

const FOLDER = resolve(import.meta.dirname, '../fixtures/failures');

const Truth = z.object({
  slug: z.string(),
  title: z.string(),
  category: Category,
  alsoOk: z.array(Category).default([]),
  kind: z.string(),
  mustCite: z.array(z.tuple([z.int(), z.int()])),
});

/** A failure that was produced on purpose, so that the truth about it is known. */
export interface CapturedFailure extends z.infer<typeof Truth> {
  readonly log: string;
}

export function readCapturedFailures(): CapturedFailure[] {
  return readdirSync(FOLDER, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => readCapturedFailure(entry.name));
}

export function readCapturedFailure(slug: string): CapturedFailure {
  const truth = Truth.parse(JSON.parse(readFileSync(join(FOLDER, slug, 'truth.json'), 'utf8')));
  return { ...truth, log: readFileSync(join(FOLDER, slug, 'log.txt'), 'utf8') };
}
