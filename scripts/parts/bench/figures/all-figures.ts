import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { choosePublished, isPublishedRoute } from '../../../../src/domain/publish-bound.ts';
import { getHeldOutcomes, getSourceOutcomes, type LeftOut } from '../../../../src/judge/outcomes.ts';
import { measureInventedTools } from '../../../../test/support/reading-gates.ts';
import { listSets } from '../open/sets.ts';
import { type ReplayedFigures, replaySet, runScript } from './replayed.ts';
import { readTraining } from './trained.ts';
import { replayWithDiff } from './upgrades-with-diff.ts';

/** A figure with a target, and its measured value. */
export interface AimedFigure {
  readonly figure: string;
  /** The group that was excluded from the training. "nothing" for the shipped models. */
  readonly leftOut: LeftOut | 'nothing';
  readonly reached: number | null;
  readonly aim: { readonly least: number } | { readonly most: number };
  /** The cases that missed the target, if they are known. */
  readonly missed: readonly string[];
}

interface Options {
  readonly data: string;
  readonly maxWrong: number;
  readonly floor: number;
}

const JUDGMENT = 'src/judge/judgement.json';
const RANKING = 'src/log/rank/model.json';
const TRANSIENT = 'src/judge/transient.json';
const LISTS = { project: 'crossValidatedByProject', source: 'crossValidatedBySource' } as const;

/** Measures every figure of the plan whose data is in the folder, one set after the other. */
export async function* measureAll(options: Options): AsyncGenerator<AimedFigure> {
  const path = (set: string) => join(options.data, `${set}.jsonl`);
  const has = (set: string) => existsSync(path(set));
  yield* measureJudged('actions/actions', [0.9, 0.86, 0.45], options);
  yield* measureJudged('other-ci/other-ci', [0.88, 0.82, null], options);
  yield fromTraining('`clean` macro-F1', 'classify/clean', 'macro-F1', 0.84);
  yield fromTraining('`issues` category', 'classify/issues', 'category', 0.84);
  if (has('actions/actions'))
    yield* measureExplained('actions', await replaySet(path('actions/actions')), 0.88, 0.75);
  if (has('other-ci/other-ci'))
    yield* measureExplained('other CI', await replaySet(path('other-ci/other-ci')), 0.8, 0.65);
  if (has('upgrades/upgrades')) yield* measureUpgrades(path('upgrades/upgrades'));
  if (has('transient/transient')) yield* measureReruns(await replaySet(path('transient/transient')));
  yield* measureReading(has('reduce/cidiff') ? await replaySet(path('reduce/cidiff'), '--only', 'read') : []);
  yield* measureInvented();
  yield* await measureSplits();
}

function* measureJudged(
  set: string,
  [category, useful, published]: readonly [number, number, number | null],
  options: Options,
): Generator<AimedFigure> {
  for (const leftOut of ['project', 'source'] as const) {
    const trained = readTraining(JUDGMENT, LISTS[leftOut], set);
    const figure = (name: string, reached: number | null, aim: AimedFigure['aim']): AimedFigure => ({
      figure: `${set.split('/')[0]}: ${name}`,
      leftOut,
      reached,
      aim,
      missed: [],
    });
    yield figure('category', trained.get('category') ?? null, { least: category });
    yield figure('useful', trained.get('useful') ?? null, { least: useful });
    const { share, wrong } = countPublished(set, leftOut, options);
    if (published !== null) yield figure('published within the bound', share, { least: published });
    yield figure('wrong of published', wrong, { most: options.maxWrong });
  }
}

/** Publishes the answers of a source by the routes that are chosen on the other sources. */
function countPublished(set: string, by: LeftOut, { maxWrong, floor }: Options) {
  const own = getHeldOutcomes().filter(({ leftOut, source }) => leftOut === by && source === set);
  const bound = choosePublished(
    getSourceOutcomes().filter(({ source }) => source !== set),
    { maxWrong, floor },
  );
  const published = own.filter(({ stated, route }) => stated >= floor && isPublishedRoute(bound, route));
  return {
    share: own.length === 0 ? null : published.length / own.length,
    wrong: published.length === 0 ? null : published.filter(({ right }) => !right).length / published.length,
  };
}

function fromTraining(figure: string, set: string, name: string, least: number): AimedFigure {
  const reached = readTraining(JUDGMENT, LISTS.source, set).get(name) ?? null;
  return { figure, leftOut: 'source', reached, aim: { least }, missed: [] };
}

function* measureExplained(
  set: string,
  figures: ReplayedFigures,
  cited: number,
  suspected: number,
): Generator<AimedFigure> {
  yield pick(figures, 'answers that quote a labelled line', `${set}: answers that quote a labeled line`, {
    least: cited,
  });
  yield pick(
    figures,
    'quotations on a labelled or helpful line',
    `${set}: quotations on a labeled or helpful line`,
    { least: cited },
  );
  yield pick(
    figures,
    'file of the log or of the fix in the first five',
    `${set}: a file among five suspects`,
    { least: suspected },
  );
}

async function* measureUpgrades(path: string): AsyncGenerator<AimedFigure> {
  const alone = await replaySet(path);
  yield pick(alone, 'useful answers', 'upgrades: artifact named, log alone', { least: 0.6 });
  yield pick(alone, 'published: wrong, or without the cause', 'upgrades: wrong of published', { most: 0.01 });
  const withDiff = await replayWithDiff(path);
  yield pick(withDiff, 'useful answers', 'upgrades: artifact named, with the diff', { least: 0.95 });
}

function* measureReruns(figures: ReplayedFigures): Generator<AimedFigure> {
  const list = 'figures';
  const reached = readTraining(TRANSIENT, list, 'by source: transient/transient').get('F1') ?? null;
  yield { figure: 'transient: F1', leftOut: 'source', reached, aim: { least: 0.88 }, missed: [] };
  yield pick(
    figures,
    'pass, and published as something else',
    'transient: passes, published as something else',
    { most: 0.03 },
  );
}

function* measureReading(cidiff: ReplayedFigures): Generator<AimedFigure> {
  const trained = readTraining(RANKING, LISTS.project, 'reduce/logchunks.jsonl');
  const kept = (tokens: string, least: number): AimedFigure => ({
    figure: `LogChunks: lines kept at ${tokens} tokens`,
    leftOut: 'project',
    reached: trained.get(tokens === '2,000' ? 'kept at 2,000 tokens' : 'at 8,000') ?? null,
    aim: { least },
    missed: [],
  });
  yield kept('2,000', 0.88);
  yield kept('8,000', 0.95);
  yield pick(cidiff, 'recall of labelled lines', 'cidiff, with the green log: lines kept', { least: 0.86 });
}

async function* measureInvented(): AsyncGenerator<AimedFigure> {
  const [harmless] = measureInventedTools(300);
  yield {
    figure: 'invented tools: the headline is the harmless line',
    leftOut: 'source',
    reached: harmless === undefined ? null : 1 - harmless.value,
    aim: { most: 0.01 },
    missed: harmless?.missed ?? [],
  };
  const { adapter } = await import('../open/faultline-rules.ts');
  const published: string[] = [];
  let count = 0;
  for await (const question of listSets(undefined)
    .find(({ name }) => name === 'invented tools')
    ?.questions() ?? []) {
    count++;
    if ((await adapter.answer(question)).published === true) published.push(question.id);
  }
  yield {
    figure: 'invented tools: published',
    leftOut: 'source',
    reached: published.length / count,
    aim: { most: 0.02 },
    missed: published,
  };
}

/** Reads the share of splits in which the bound held from the output of its check. */
async function measureSplits(): Promise<AimedFigure[]> {
  const printed = await runScript('scripts/train/check-bound.ts');
  return (['project', 'source'] as const).map((leftOut) => {
    const [, held, of] =
      new RegExp(`^\\| 3\\.0 % \\| ${leftOut} \\| (\\d+) of (\\d+)`, 'm').exec(printed) ?? [];
    const reached = held === undefined ? null : Number(held) / Number(of);
    return { figure: 'the bound of 3 % holds in splits', leftOut, reached, aim: { least: 0.9 }, missed: [] };
  });
}

function pick(figures: ReplayedFigures, name: string, figure: string, aim: AimedFigure['aim']): AimedFigure {
  const found = figures.find((one) => one.name === name);
  return { figure, leftOut: 'nothing', reached: found?.value ?? null, aim, missed: found?.against ?? [] };
}
