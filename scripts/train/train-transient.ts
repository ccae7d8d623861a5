import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { isUnstable } from '../../src/domain/category.ts';
import { classifyByRules } from '../../src/judge/classify.ts';
import {
  computeTransientSigns,
  TRANSIENT_SIGNS,
  type TransientModel,
  toProbability,
  weighSigns,
} from '../../src/judge/transient.ts';
import { resolveProject, splitIntoFolds } from '../../src/replay/cases/case.ts';
import { readDataset, readTexts } from '../../src/replay/cases/dataset.ts';
import { listCaptured, readSubject } from './judging/labelled-subjects.ts';
import { describeForecasts, type Forecast } from './transient/figures.ts';
import { fitTransient, type TransientLesson } from './transient/fit.ts';

/**
 * Trains the model that predicts whether a rerun passes. A training example is a job of which this is known:
 * it passed when it was run again (or a reader said that it would), or it needs a change. The file of the
 * model contains only numbers.
 */
const COMMAND = 'node scripts/train/train-transient.ts --data FOLDER --out src/judge/transient.json';
const USAGE = `Learns whether a re-run of a failed job would pass.

  --data FOLDER   the labelled failures (required)
  --out FILE      write the model, with its figures
  --check FILE    make it anew and say whether it is this file, byte for byte
  --list          name the failures that are told wrongly`;
const { values: asked } = parseArgs({
  options: {
    data: { type: 'string' },
    out: { type: 'string' },
    check: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});
if (asked.data === undefined) {
  console.error(USAGE);
  process.exit(2);
}

/**
 * The weights of the training examples of each set. Captured failures are many and similar, and so are jobs
 * of one project.
 */
const WEIGHTS: Readonly<Record<string, number>> = {
  'transient/transient': 0.5,
  'actions/actions': 1,
  'other-ci/other-ci': 1,
  captured: 0.1,
  'captured trouble': 0.5,
};

/**
 * The number of parts for cross-validation by groups. There are fewer sets than parts, so that each set is
 * left out alone.
 */
const FOLDS = 10;
const Labels = z.object({
  intermittent: z.boolean().nullish(),
  transient: z.enum(['yes', 'no', 'maybe', 'unknown']).nullish(),
});

const lessons = [...(await readLabelled(asked.data)), ...(await readCaptured())];
const bySource = leaveOut(({ set }) => set.split(' ')[0] ?? set);
const byProject = leaveOut(({ project }) => project);
const figures = [
  ...describeForecasts(bySource).map((line) => `by source: ${line}`),
  ...describeForecasts(byProject).map((line) => `by project: ${line}`),
];
for (const line of figures) console.log(line);
if (asked.list) for (const line of listWrong(bySource)) console.log(line);

const model = {
  provenance: { command: COMMAND, failures: countSets(), figures },
  signs: TRANSIENT_SIGNS,
  weights: fitTransient(lessons),
} satisfies TransientModel;
const text = `${JSON.stringify(model)}\n`;
if (asked.out !== undefined) writeFileSync(asked.out, text);
if (asked.check !== undefined) {
  const isSame = text === readFileSync(asked.check, 'utf8');
  console.log(`${asked.check} is ${isSame ? '' : 'not '}what these failures make.`);
  if (!isSame) process.exitCode = 1;
}

/** Reads the jobs of public sources for which it is known whether a rerun passes. */
async function readLabelled(data: string): Promise<TransientLesson[]> {
  const found: TransientLesson[] = [];
  for (const set of ['transient/transient', 'actions/actions', 'other-ci/other-ci']) {
    const path = join(data, `${set}.jsonl`);
    for await (const outcome of readDataset(path)) {
      if (!('row' in outcome)) continue;
      const { row, value } = outcome;
      const passes = readLabel(value);
      if (passes === null) continue;
      const { sources } = await readTexts(row, path, { maxBytes: 64 * 1024 * 1024, green: false });
      const project = resolveProject(row).split('/')[0] ?? row.id;
      const texts = sources.map(({ text: sourceText }) => sourceText);
      found.push(await toLesson({ id: row.id, set, project, texts, passes }));
    }
  }
  return found;
}

function readLabel(value: unknown): boolean | null {
  const { intermittent, transient } = Labels.parse(value);
  if (intermittent != null) return intermittent;
  return transient === 'yes' ? true : transient === 'no' ? false : null;
}

/**
 * Reads our own failing projects. Our scripts take a service or the time away for one run only, so failures
 * of these kinds pass when they are run again. Failures of machines, and of tools whose kind is not stated,
 * are left out. All others fail again.
 */
async function readCaptured(): Promise<TransientLesson[]> {
  const found: TransientLesson[] = [];
  for (const { id, project, texts, untaught, accepted, kind } of listCaptured()) {
    const passes = kind !== null && isUnstable(kind);
    if (untaught || (!passes && accepted.includes('INFRA_ERROR'))) continue;
    found.push(await toLesson({ id, set: passes ? 'captured trouble' : 'captured', project, texts, passes }));
  }
  return found;
}

async function toLesson(labelled: {
  readonly id: string;
  readonly set: string;
  readonly project: string;
  readonly texts: readonly string[];
  readonly passes: boolean;
}): Promise<TransientLesson> {
  const ruling = classifyByRules(await readSubject({ ...labelled, untaught: false }));
  const { id, set, project, passes } = labelled;
  const signs = computeTransientSigns(ruling);
  return { id, set, project, passes, weight: WEIGHTS[set] ?? 0, signs, told: ruling.classification };
}

/** Trains, for each part, on the groups of all other parts, and predicts the groups of that part. */
function leaveOut(getGroup: (lesson: TransientLesson) => string): Forecast[] {
  return splitIntoFolds(lessons, getGroup, FOLDS).flatMap((own) => {
    const inFold = new Set(own);
    const weights = fitTransient(lessons.filter((lesson) => !inFold.has(lesson)));
    return own.map((lesson) => ({ lesson, share: toProbability(weighSigns(lesson.signs, weights)) }));
  });
}

function listWrong(forecasts: readonly Forecast[]): string[] {
  return forecasts
    .filter(({ lesson, share }) => lesson.passes !== share >= 0.5)
    .map(({ lesson: { id, passes, told, signs }, share }) => {
      const met = TRANSIENT_SIGNS.flatMap((name, i) => (signs[i] ? `${name} ${signs[i].toFixed(2)}` : []));
      const truth = passes ? 'passes' : 'fails';
      return `${id} ${truth}, told ${share.toFixed(2)} (${told.category} ${told.kind}): ${met.join('; ')}`;
    });
}

function countSets(): Record<string, string> {
  const sets = [...Map.groupBy(lessons, ({ set }) => set)];
  return Object.fromEntries(
    sets.map(([set, own]) => [set, `${own.filter(({ passes }) => passes).length} of ${own.length} pass`]),
  );
}
