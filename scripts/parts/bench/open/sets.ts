import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { Category } from '../../../../src/domain/category.ts';
import { DatasetRow } from '../../../../src/replay/cases/case.ts';
import { readDataset, readTexts } from '../../../../src/replay/cases/dataset.ts';
import { inventLogs } from '../../../../test/support/invented-tools.ts';
import type { Question } from './adapter.ts';

/** A set of the open benchmark. */
export interface OpenSet {
  readonly name: string;
  /** True if Faultline learned from these rows, or if its rules were written with knowledge of them. */
  readonly isLearned: boolean;
  questions(): AsyncGenerator<Question>;
}

const FIXTURES = new URL('../../../../test/fixtures/', import.meta.url).pathname;
const MAX_BYTES = 64 * 1024 * 1024;
/** The number of invented tools, and the seed from which they are generated. The gates use another seed. */
const [INVENTED, SEED] = [300, 20_261_128];

/** Lists the available sets: those in `data`, and those of this repository. */
export function listSets(data: string | undefined): OpenSet[] {
  const outside = [
    ['GitHub Actions', 'actions/actions.jsonl', true],
    ['other CI', 'other-ci/other-ci.jsonl', true],
    ['upgrades', 'upgrades/upgrades.jsonl', false],
    ['transient', 'transient/transient.jsonl', true],
  ] as const;
  const own = [
    ['mixed builds', join(FIXTURES, 'mixed/mixed.jsonl'), true],
    ['experiments', join(FIXTURES, 'experiments/cases.jsonl'), true],
  ] as const;
  const files =
    data === undefined ? [] : outside.map(([name, path, known]) => [name, join(data, path), known] as const);
  const sets = [...files, ...own].filter(([, path]) => existsSync(path));
  return [
    ...sets.map(([name, path, isLearned]) => ({ name, isLearned, questions: () => readFileSet(path) })),
    { name: 'tools without a rule', isLearned: false, questions: readHeldTools },
    { name: 'invented tools', isLearned: false, questions: readInvented },
  ];
}

async function* readFileSet(path: string): AsyncGenerator<Question> {
  for await (const outcome of readDataset(path)) {
    if (!('row' in outcome)) throw new Error(outcome.error);
    const { row } = outcome;
    const { sources } = await readTexts(row, path, { maxBytes: MAX_BYTES, green: false });
    yield { id: row.id, texts: sources, row };
  }
}

const Truth = z.object({
  heldOut: z.boolean().default(false),
  category: Category.optional(),
  alsoOk: z.array(Category).default([]),
  telling: z.array(z.tuple([z.int(), z.int()])).default([]),
});

/**
 * Yields captured failures of tools without a rule. The labeled lines are the information that an answer
 * should contain.
 */
async function* readHeldTools(): AsyncGenerator<Question> {
  for (const { name } of readdirSync(join(FIXTURES, 'tools'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  )) {
    const folder = join(FIXTURES, 'tools', name);
    const truth = Truth.parse(JSON.parse(readFileSync(join(folder, 'truth.json'), 'utf8')));
    if (!truth.heldOut || truth.category === undefined) continue;
    const text = readFileSync(join(folder, 'log.txt'), 'utf8');
    const row = { id: name, category: truth.category, also_ok: truth.alsoOk, expected_lines: truth.telling };
    yield toQuestion(row, text);
  }
}

/** Yields logs of invented tools. Half of them contain a harmless line that looks like an error. */
async function* readInvented(): AsyncGenerator<Question> {
  for (const [at, log] of inventLogs(INVENTED, SEED).entries()) {
    const lines = log.telling.map((line): [number, number] => [line, line]);
    const labels = log.category === null ? {} : { category: log.category, also_ok: [...log.alsoOk] };
    yield toQuestion({ id: `${at} ${log.name}`, ...labels, expected_lines: lines }, log.lines.join('\n'));
  }
}

function toQuestion(row: z.input<typeof DatasetRow>, text: string): Question {
  const source = { name: 'log.txt', kind: 'log' as const, text, notes: [] };
  return { id: row.id, texts: [source], row: DatasetRow.parse(row) };
}
