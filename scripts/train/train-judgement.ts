import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { isFounded } from '../../src/domain/analysis.ts';
import { CATEGORIES, type Category } from '../../src/domain/category.ts';
import { composeAnswer } from '../../src/judge/answer.ts';
import { classifyByRules, findMatches } from '../../src/judge/classify.ts';
import {
  extractFeatures,
  FACTS,
  type Judged,
  type JudgmentModel,
  judge,
  SIGNS,
  useJudgmentModel,
} from '../../src/judge/judgement.ts';
import type { LeftOut, OutcomesFile } from '../../src/judge/outcomes.ts';
import { splitIntoFolds } from '../../src/replay/cases/case.ts';
import { mentionFinder } from '../../src/replay/run/check-case.ts';
import { fitJudgment, type Lesson } from './judging/fit.ts';
import { type LabelledSubject, readLabeledSubjects } from './judging/labelled-subjects.ts';

const FOLDS = 5;
/** The confidences from which an answer counts as published in the table. */
const SURE = [0.8, 0.85, 0.9, 0.95] as const;
/**
 * The weights of a set's examples for the category and for the certainty. Rules were written with the sets of
 * "classify".
 */
const WEIGHTS: Readonly<Record<string, readonly [category: number, sureness: number]>> = {
  'actions/actions': [3, 1.5],
  'other-ci/other-ci': [3, 1.5],
  'classify/clean': [0.7, 0.4],
  'classify/silver': [0.7, 0.4],
  'classify/issues': [0.7, 0.4],
};
const CAPTURED = [0.2, 0.35] as const;
/** The minimum share of its label's words that an answer must contain to show the cause. */
const SHOWN_FROM = 0.2;
const COMMAND = 'node scripts/train/train-judgement.ts --data FOLDER --out src/judge/judgement.json';
const USAGE = `Learns the judgement of failures: categories and how sure they are.

  --data FOLDER   the labelled failures (required)
  --out FILE      write the model, with its cross-validated figures, and outcomes.json beside it
  --check FILE    make both anew and say whether they are these files, byte for byte
  --no-folds      no cross-validation`;

const { values: asked } = parseArgs({
  allowNegative: true,
  options: {
    data: { type: 'string' },
    out: { type: 'string' },
    check: { type: 'string' },
    folds: { type: 'boolean', default: true },
  },
});
if (asked.data === undefined) {
  console.error(USAGE);
  process.exit(2);
}
const subjects = await readLabeledSubjects(asked.data);
const lessons = subjects.map(createLesson);
const learned = lessons.filter((_, i) => subjects[i]?.heldOut === false);
console.log(`${lessons.length} readings of ${new Set(subjects.map(({ id }) => id)).size} failures`);
const held = {
  project: asked.folds ? crossValidateBy('project') : [],
  source: asked.folds ? crossValidateBy('source') : [],
};
const figures = { project: readFigures(held.project), source: readFigures(held.source) };
for (const line of figures.project) console.log(`by project: ${line}`);
for (const line of figures.source) console.log(`by source: ${line}`);
const wanted = asked.out ?? asked.check;
const made =
  wanted === undefined
    ? []
    : [
        [wanted, formatModel(fitJudgment(learned))] as const,
        [findOutcomesFile(wanted), formatOutcomes()] as const,
      ];
for (const [path, text] of made) {
  if (asked.out !== undefined) writeFileSync(path, text);
  else checkSame(path, text);
}

function findOutcomesFile(model: string): string {
  return join(dirname(model), 'outcomes.json');
}

function checkSame(path: string, text: string): void {
  const isSame = text === readFileSync(path, 'utf8');
  console.log(
    isSame
      ? `${path} is what these failures make, byte for byte.`
      : `${path} is not what these failures make.`,
  );
  if (!isSame) process.exitCode = 1;
}

interface Held {
  readonly subject: LabelledSubject;
  readonly judged: Judged;
  readonly right: boolean;
  /** True if the category is right and the answer shows the cause. */
  readonly good: boolean;
  /**
   * True if the category is right and the answer contains half of the words of a good explanation. Null if
   * none are labeled.
   */
  readonly useful: boolean | null;
}

/** Trains, for each group, on all other groups, and judges the group that was left out. */
function crossValidateBy(by: LeftOut): Held[] {
  const pairs = lessons.map((lesson, i) => ({ lesson, subject: subjects[i] as LabelledSubject }));
  const group = ({ subject }: { readonly subject: LabelledSubject }) =>
    by === 'source' ? subject.set : subject.project;
  return splitIntoFolds(pairs, group, by === 'source' ? Number.MAX_SAFE_INTEGER : FOLDS).flatMap((fold) => {
    const groups = new Set(fold.map(group));
    const model = fitJudgment(
      pairs.filter((pair) => !groups.has(group(pair)) && !pair.subject.heldOut).map(({ lesson }) => lesson),
    );
    return fold.map(({ lesson, subject }): Held => {
      const judged = judge(lesson.facts, lesson.matches, model);
      const right = subject.accepted.includes(judged.category);
      useJudgmentModel(model);
      // A ruling is cached for its subject, so a copy is judged by this model.
      const share = computeMentionShare({ ...subject, subject: { ...subject.subject } });
      return {
        subject,
        judged,
        right,
        good: right && (share ?? 1) >= SHOWN_FROM,
        useful: share === null ? null : right && share >= 0.5,
      };
    });
  });
}

/**
 * Returns the outcomes of both protocols, without any text. A failure that is read twice counts once, as the
 * product reads it.
 */
function formatOutcomes(): string {
  const numbers = new Map(
    [...new Set(subjects.map(({ project }) => project))].map((project, at) => [project, at]),
  );
  const leftOut = {
    source: createOutcomes(held.source, numbers),
    project: createOutcomes(held.project, numbers),
  };
  return `${JSON.stringify({ command: COMMAND, leftOut } satisfies OutcomesFile)}\n`;
}

function createOutcomes(
  all: readonly Held[],
  numbers: ReadonlyMap<string, number>,
): OutcomesFile['leftOut'][LeftOut] {
  const read = all.filter(({ subject }) => !subject.untaught);
  const sources = Map.groupBy(
    read,
    ({ subject: { set, heldOut } }) => `${set}${heldOut ? ', held out' : ''}`,
  );
  return Object.fromEntries(
    Array.from(sources, ([source, own]) => [
      source,
      own.map(({ judged, good, subject }) => [
        judged.route,
        Math.round(judged.sureness * 1000),
        good ? 1 : 0,
        numbers.get(subject.project) ?? -1,
      ]),
    ]),
  );
}

function readFigures(all: readonly Held[]): string[] {
  const sets = Map.groupBy(
    all,
    ({ subject }) =>
      `${subject.set}${subject.heldOut ? ', held out' : ''}${subject.untaught ? ', no named reader' : ''}`,
  );
  return Array.from(sets, ([name, own]) => formatFigure(name, own));
}

/** Returns the share of the label's words that the answer contains. Returns null if none are labeled. */
function computeMentionShare({ subject, mentions }: LabelledSubject): number | null {
  if (mentions.length === 0) return null;
  const evidence = subject.excerpts.map((excerpt, i) => ({
    id: `E${i + 1}`,
    tool: 'log',
    title: excerpt.reason,
    ...excerpt,
  }));
  const { classification } = classifyByRules(subject);
  const answer = composeAnswer({ subject, classification, evidence, outcomes: [], round: 1, gaps: [] });
  const claims = answer.claims.flatMap(({ text, quotes }) => [text, ...quotes.map((quote) => quote.text)]);
  const tests = subject.failingTests.flatMap(({ name, file }) => [name, file ?? '']);
  const said = [
    answer.rootCause,
    ...claims,
    answer.fixRecommendation,
    ...tests,
    ...answer.suspects.map(({ path }) => path),
  ];
  const isSaid = mentionFinder(said.join('\n').slice(0, 4_000));
  return mentions.filter((spellings) => spellings.some(isSaid)).length / mentions.length;
}

function formatFigure(name: string, own: readonly Held[]): string {
  const share = (some: readonly Held[], of = own.length) => (some.length / of).toFixed(3);
  const sure = SURE.map((least) => {
    const published = own.filter(({ judged }) => judged.sureness >= least && isFounded(judged));
    const wrong = published.filter(({ good }) => !good).length;
    return `${least}: ${share(published)}, ${wrong} of ${published.length} wrong`;
  });
  const told = own.filter(({ useful }) => useful !== null);
  const useful = told.length === 0 ? '' : `, useful ${share(told.filter(({ useful }) => useful === true))}`;
  return `${name}: ${own.length}, category ${share(own.filter(({ right }) => right))}, macro-F1 ${formatMacroF1(own)}, ECE ${formatCalibrationError(own)}${useful}; published from ${sure.join('; ')}`;
}

function formatMacroF1(own: readonly Held[]): string {
  const truth = ({ subject, judged }: Held) =>
    subject.accepted.includes(judged.category) ? judged.category : subject.category;
  const scores = CATEGORIES.flatMap((category) => {
    const said = own.filter(({ judged }) => judged.category === category).length;
    const is = own.filter((one) => truth(one) === category).length;
    const both = own.filter((one) => one.judged.category === category && truth(one) === category).length;
    return said + is === 0 ? [] : [(2 * both) / (said + is)];
  });
  return (scores.reduce((sum, score) => sum + score, 0) / scores.length).toFixed(3);
}

/** Computes the expected calibration error of the certainty, in ten bins of equal width. */
function formatCalibrationError(own: readonly Held[]): string {
  const bins = Map.groupBy(own, ({ judged }) => Math.min(9, Math.floor(judged.sureness * 10)));
  const off = Array.from(bins.values(), (some) =>
    Math.abs(some.reduce((sum, { judged, good }) => sum + judged.sureness - Number(good), 0)),
  );
  return (off.reduce((sum, value) => sum + value, 0) / own.length).toFixed(3);
}

function createLesson(labelled: LabelledSubject): Lesson {
  const { facts, matches } = findMatches(labelled.subject);
  const [weight = 0, surenessWeight = 0] = WEIGHTS[labelled.set] ?? CAPTURED;
  const { project, category, accepted } = labelled;
  const features = extractFeatures(facts, matches);
  return {
    project,
    category,
    accepted,
    weight,
    surenessWeight,
    facts,
    matches,
    features,
    showsCause: (said) => showsCause(labelled, matches, said),
  };
}

/**
 * Tells whether the quotations of an answer with this category would contain the label's words. Returns true
 * if no words are labeled.
 */
function showsCause(
  { subject, mentions }: LabelledSubject,
  matches: Lesson['matches'],
  category: Category,
): boolean {
  if (mentions.length === 0) return true;
  const told = [
    matches.find(({ rule }) => rule.category === category)?.fact.text ?? '',
    ...subject.messages.slice(0, 4).map(({ text }) => text),
    ...subject.failingTests
      .slice(0, 8)
      .map(({ name, file, message }) => `${name} ${file ?? ''} ${message ?? ''}`),
    ...subject.diagnostics.slice(0, 3).map(({ file, message }) => `${file ?? ''} ${message}`),
  ];
  const isSaid = mentionFinder(told.join('\n').slice(0, 4_000));
  return mentions.filter((spellings) => spellings.some(isSaid)).length / mentions.length >= SHOWN_FROM;
}

/** Formats the model's file. It contains only numbers, with their data sets and their figures. */
function formatModel({ facts, wordScale, words, sureness }: JudgmentModel): string {
  const sizes = Object.fromEntries(
    Array.from(
      Map.groupBy(
        subjects.filter(({ untaught, heldOut }) => !untaught && !heldOut),
        ({ set }) => set,
      ),
      ([set, own]) => [set, own.length],
    ),
  );
  const provenance = {
    command: COMMAND,
    failures: sizes,
    crossValidatedByProject: figures.project,
    crossValidatedBySource: figures.source,
  };
  const bytes = words.map((own) => Buffer.from(own.buffer, own.byteOffset, own.length).toString('base64'));
  return `${JSON.stringify({ provenance, factNames: FACTS, signNames: SIGNS, facts, wordScale, words: bytes, sureness })}\n`;
}
