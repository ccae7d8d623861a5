import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isDrawn } from '../../../../src/lib/statistics.ts';
import { createBlameCases } from './blame-cases.ts';
import type { LoopCase } from './case.ts';
import { createChangeCases } from './change-cases.ts';
import { createCodeCases } from './code-cases.ts';
import { createHistoryCases } from './history-cases.ts';
import { createKnownCases } from './known-cases.ts';
import { plantCases } from './planted-cases.ts';
import { createTestCases } from './test-cases.ts';

/**
 * Writes the repositories, logs, documents and truths of all cases below `parent`, or reads existing ones.
 * This happens before any design runs.
 */
export function writeSet(parent: string): LoopCase[] {
  const folder = resolve(parent);
  mkdirSync(folder, { recursive: true });
  const list = join(folder, 'cases.json');
  if (!existsSync(list)) writeFileSync(list, JSON.stringify(createCases(folder), null, 1));
  return readSet(list);
}

function createCases(folder: string): LoopCase[] {
  return [
    plantCases(folder),
    createBlameCases(folder),
    createCodeCases(folder),
    createTestCases(folder),
    createChangeCases(folder),
    createHistoryCases(),
    createKnownCases(),
  ].flat();
}

function readSet(list: string): LoopCase[] {
  return JSON.parse(readFileSync(list, 'utf8'), (key, value) =>
    key === 'bytes' ? Buffer.from(value.data ?? value) : value,
  );
}

/** The half that was used to choose the order of the tools, and the half that was held back. */
export type Half = 'work' | 'held';

export function chooseHalf({ project }: Pick<LoopCase, 'project'>): Half {
  return isDrawn(project, 2) ? 'held' : 'work';
}
