import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { BUCKETS } from '../../src/log/rank/features.ts';
import { COLUMNS, type RankModel, scoreCandidates, type Tree } from '../../src/log/rank/model.ts';
import { placeRanked, rankMessages } from '../../src/log/rank/rank.ts';
import { reduceLogs } from '../../src/log/reduce/reduce.ts';
import { splitIntoFolds } from '../../src/replay/cases/case.ts';
import { computeCoveredShare } from '../../src/replay/figures/reading.ts';
import { type LabelledLog, readLabeledLogs } from './ranking/labelled-logs.ts';
import { train } from './ranking/train.ts';

const FOLDS = 5;
const USAGE = `Learns the ranking of lines from labelled logs.

  --data FOLDER   the labelled logs (required)
  --out FILE      write the model, with its cross-validated figures
  --check FILE    make the model anew and say whether it is this file, byte for byte
  --by WHAT       what a fold leaves out: project (default), language or source; other than project, nothing is written
  --no-folds      no cross-validation, to try something`;

/** The result for a log that the model did not see. */
interface Held {
  readonly set: string;
  readonly group: string;
  readonly augmented: boolean;
  readonly short: number;
  readonly long: number;
  readonly first: number;
}

const { values: asked } = parseArgs({
  allowNegative: true,
  options: {
    data: { type: 'string' },
    out: { type: 'string' },
    check: { type: 'string' },
    by: { type: 'string', default: 'project' },
    folds: { type: 'boolean', default: true },
  },
});
if (asked.data === undefined || !['project', 'language', 'source'].includes(asked.by)) {
  console.error(USAGE);
  process.exit(2);
}
const logs = await readLabeledLogs(asked.data);
const ids = new Set(logs.map(({ id }) => id));
console.log(
  `${logs.length} readings of ${ids.size} logs, ${logs.reduce((sum, log) => sum + log.candidates.lines.length, 0)} candidate lines`,
);
const held = asked.folds ? crossValidate() : [];
const figures = [false, true].flatMap((augmented) =>
  readFigures(held.filter((one) => one.augmented === augmented)),
);
for (const line of figures) console.log(line);
if (asked.by === 'language') for (const line of formatByGroup(held)) console.log(line);
if (asked.by === 'project' && asked.out !== undefined)
  writeFileSync(asked.out, formatModel(train(logs, findGroup)));
if (asked.by === 'project' && asked.check !== undefined) {
  const isSame = formatModel(train(logs, findGroup)) === readFileSync(asked.check, 'utf8');
  console.log(
    isSame
      ? `${asked.check} is what these logs make, byte for byte.`
      : `${asked.check} is not what these logs make.`,
  );
  if (!isSame) process.exitCode = 1;
}

/** Trains, for each group, on the logs of all other groups, and returns which labeled lines are kept. */
function crossValidate(): Held[] {
  return splitIntoFolds(logs, findGroup, FOLDS).flatMap((fold) => {
    const groups = new Set(fold.map(findGroup));
    const model = train(
      logs.filter((log) => !groups.has(findGroup(log))),
      findGroup,
    );
    return fold.flatMap((labelledLog): Held[] => {
      if (labelledLog.again) return [];
      const { keeping, proving } = scoreCandidates(model, labelledLog.candidates);
      const [short = 0, long = 0] = [2_000, 8_000].map((budget) =>
        computeKeptShare(labelledLog, keeping, budget),
      );
      return [
        {
          set: labelledLog.set,
          group: findGroup(labelledLog),
          augmented: labelledLog.augmented,
          short,
          long,
          first: isFirstInformative(labelledLog, proving) ? 1 : 0,
        },
      ];
    });
  });
}

function readFigures(own: readonly Held[]): string[] {
  return Array.from(
    Map.groupBy(own, ({ set }) => set),
    ([set, some]) => {
      const readers = some[0]?.augmented === true ? ' without readers of named tools' : '';
      return `${set}${readers}: ${some.length} logs, kept at 2,000 tokens ${computeMean(some, 'short')}, at 8,000 ${computeMean(some, 'long')}, first line labelled ${computeMean(some, 'first')}`;
    },
  );
}

function formatByGroup(own: readonly Held[]): string[] {
  const read = own.filter(({ augmented }) => !augmented);
  return Array.from(
    Map.groupBy(read, ({ group }) => group),
    ([group, some]) =>
      `  ${group}: ${some.length} logs, ${computeMean(some, 'short')}, ${computeMean(some, 'long')}`,
  );
}

function computeMean(some: readonly Held[], figure: 'short' | 'long' | 'first'): string {
  return (some.reduce((sum, one) => sum + one[figure], 0) / some.length).toFixed(3);
}

/** Returns the share of the labeled lines that the reader keeps within a token budget. */
function computeKeptShare(
  { log, wanted, weighed, candidates }: LabelledLog,
  scores: Float32Array,
  budget: number,
): number {
  const ranked = candidates.lines.map((line, i) => ({ ...line, score: scores[i] ?? 0, proof: 0 }));
  const { excerpts } = reduceLogs([{ log, blocks: placeRanked(ranked, weighed) }], budget);
  return computeCoveredShare(
    wanted,
    excerpts.map(({ lineStart, lineEnd }) => [lineStart, lineEnd]),
  );
}

/** Tells whether the headline is a labeled line. */
function isFirstInformative(
  { log, candidates, found, structure, wanted }: LabelledLog,
  proving: Float32Array,
): boolean {
  const ranked = candidates.lines.map((candidate, i) => ({ ...candidate, score: 0, proof: proving[i] ?? 0 }));
  const line = rankMessages({ log, found, structure }, ranked)[0]?.at?.line ?? 0;
  return wanted.some(([start, end]) => line >= start && line <= end);
}

function findGroup(labelledLog: LabelledLog): string {
  if (asked.by === 'source') return labelledLog.set;
  return asked.by === 'language' ? (labelledLog.language ?? labelledLog.project) : labelledLog.project;
}

function toTreeRow({ columns, thresholds, rights }: Tree) {
  return [Array.from(columns), Array.from(thresholds), Array.from(rights)];
}

/** Formats the model's file. It contains only numbers, with their data sets and their figures. */
function formatModel({ wordScale, wordWeights, keeping, proving }: RankModel): string {
  const read = logs.filter(({ augmented, again }) => !augmented && !again);
  const sizes = Object.fromEntries(
    Array.from(
      Map.groupBy(read, ({ set }) => set),
      ([set, own]) => [set, own.length],
    ),
  );
  const provenance = {
    command: 'node scripts/train/train-ranking.ts --data FOLDER --out src/log/rank/model.json',
    logs: sizes,
    crossValidatedByProject: figures,
  };
  const words = Buffer.from(wordWeights.buffer, wordWeights.byteOffset, wordWeights.length).toString(
    'base64',
  );
  const file = {
    provenance,
    buckets: BUCKETS,
    columns: COLUMNS,
    wordScale,
    words,
    keeping: keeping.map(toTreeRow),
    proving: proving.map(toTreeRow),
  };
  return `${JSON.stringify(file)}\n`;
}
