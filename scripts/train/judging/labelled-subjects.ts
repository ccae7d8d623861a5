import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type Build, createSparseBuild } from '../../../src/domain/build.ts';
import { Category, Kind } from '../../../src/domain/category.ts';
import type { TriageSubject } from '../../../src/domain/triage.ts';
import { readCauses } from '../../../src/log/causes/read-causes.ts';
import { listToolReaders } from '../../../src/log/extract/run.ts';
import { createMasker } from '../../../src/log/mask/mask.ts';
import { rankModel, useRankModel } from '../../../src/log/rank/model.ts';
import { resolveProject, splitIntoFolds } from '../../../src/replay/cases/case.ts';
import { readDataset, readTexts } from '../../../src/replay/cases/dataset.ts';
import { groupFailures } from '../../../src/service/triage/group-failures.ts';
import { maskSources } from '../../../src/service/triage/read-build.ts';
import { createSubject } from '../../../src/service/triage/triage-subject.ts';
import { readLabeledLogs } from '../ranking/labelled-logs.ts';
import { train } from '../ranking/train.ts';

/** A labeled failure as the analyst sees it. */
export interface LabelledSubject {
  readonly id: string;
  /** The data set, such as "classify/clean". */
  readonly set: string;
  readonly project: string;
  /** True if it was read and judged without any reader for its tool. */
  readonly untaught: boolean;
  /** True if it is reserved for the gates and not used for training. */
  readonly heldOut: boolean;
  readonly category: Category;
  /** The label, and other acceptable categories. */
  readonly accepted: readonly Category[];
  /** The lines of the log that state the cause. Empty if none are labeled. */
  readonly telling: readonly (readonly [number, number])[];
  /** Words that any good explanation contains, each with its spellings. */
  readonly mentions: readonly (readonly string[])[];
  readonly subject: TriageSubject;
}

const SETS = [
  'actions/actions',
  'other-ci/other-ci',
  'classify/clean',
  'classify/silver',
  'classify/issues',
] as const;
const FOLDS = 5;
const MOST = 64 * 1024 * 1024;

interface Labelled extends Omit<LabelledSubject, 'subject'> {
  readonly texts: readonly string[];
}

/** Reads every labeled failure with a ranking that did not see its project. */
export async function readLabeledSubjects(data: string): Promise<LabelledSubject[]> {
  const labelled = [...(await readRows(data)), ...listCaptured()];
  const logs = await readLabeledLogs(data);
  const shipped = rankModel();
  const subjects: LabelledSubject[] = [];
  for (const fold of splitIntoFolds(labelled, ({ project }) => project, FOLDS)) {
    const projects = new Set(fold.map(({ project }) => project));
    useRankModel(
      train(
        logs.filter(({ project }) => !projects.has(project)),
        ({ project }) => project,
      ),
    );
    for (const one of fold) subjects.push({ ...one, subject: await readSubject(one) });
  }
  useRankModel(shipped);
  return subjects;
}

async function readRows(data: string): Promise<Labelled[]> {
  const rows: Labelled[] = [];
  for (const set of SETS) {
    const path = join(data, `${set}.jsonl`);
    for await (const outcome of readDataset(path)) {
      if (!('row' in outcome)) continue;
      const { row } = outcome;
      if (row.category == null) continue;
      const { sources } = await readTexts(row, path, { maxBytes: MOST, green: false });
      const owner =
        set === 'actions/actions' || set === 'other-ci/other-ci'
          ? (resolveProject(row).split('/')[0] ?? row.id)
          : resolveProject(row);
      rows.push({
        id: row.id,
        set,
        project: owner,
        untaught: false,
        heldOut: false,
        category: row.category,
        accepted: [row.category, row.also_ok ?? [], row.category_alternatives ?? []].flat(),
        telling: row.expected_lines ?? [],
        mentions: row.required_mentions_any ?? [],
        texts: sources.map(({ text }) => text),
      });
    }
  }
  return rows;
}

const FIXTURES = new URL('../../../test/fixtures/', import.meta.url).pathname;
const Range = z.tuple([z.int(), z.int()]);
const Truth = z.object({
  tool: z.string().optional(),
  heldOut: z.boolean().default(false),
  mustCite: z.array(Range).optional(),
  telling: z.array(Range).optional(),
  category: Category.optional(),
  kind: Kind.optional(),
  alsoOk: z.array(Category).default([]),
});

/** Reads our captured failures twice: as the product does, and without the readers of specific tools. */
export function listCaptured(): (Labelled & { readonly kind: Kind | null })[] {
  return ['failures', 'tools'].flatMap((set) => {
    const slugs = readdirSync(join(FIXTURES, set), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    return slugs.flatMap(({ name }) => {
      const folder = join(FIXTURES, set, name);
      const { category, ...truth } = Truth.parse(
        JSON.parse(readFileSync(join(folder, 'truth.json'), 'utf8')),
      );
      if (category === undefined) return [];
      const text = readFileSync(join(folder, 'log.txt'), 'utf8');
      return [false, true].map((untaught) => ({
        id: `${set}/${name}`,
        set,
        project: truth.tool ?? name,
        untaught,
        heldOut: truth.heldOut,
        category,
        kind: truth.kind ?? null,
        accepted: [category, ...truth.alsoOk],
        telling: truth.telling ?? truth.mustCite ?? [],
        mentions: [],
        texts: [text],
      }));
    });
  });
}

const masker = createMasker();

/** Reads the logs of one failure as the product does. Returns its first cause as it is judged. */
export async function readSubject(
  one: Pick<Labelled, 'id' | 'project' | 'untaught' | 'texts'>,
): Promise<TriageSubject> {
  const raw = one.texts.map((text, i) => ({
    name: i === 0 ? 'log' : `log ${i + 1}`,
    kind: 'log' as const,
    text,
    notes: [],
  }));
  const { sources, secrets } = await maskSources(raw, masker);
  const read = readCauses(sources, {
    budgetTokens: 2_000,
    maskedSecrets: secrets,
    ...(one.untaught ? { leftOut: listToolReaders() } : {}),
  });
  const build: Build = {
    ...createSparseBuild({ repository: one.project, pipeline: 'train', number: one.id }),
    id: one.id,
    receivedAt: new Date(0).toISOString(),
  };
  const [group] = groupFailures(read, one.id);
  if (group === undefined) throw new Error(`${one.id} has no group`);
  const reading = read.causes[0]?.reading ?? read.reading;
  return createSubject({ triageId: one.id, build, group, reading, notes: [] });
}
