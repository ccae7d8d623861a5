import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { boundByKnown } from '../../../src/app/publish-bound.ts';
import { createTerminalApp } from '../../../src/app/terminal-app.ts';
import { createEmbeddedPreset } from '../../../src/config/load.ts';
import { parseConfig } from '../../../src/config/schema.ts';
import type { Analysis } from '../../../src/domain/analysis.ts';
import { createSparseBuild } from '../../../src/domain/build.ts';
import { Category } from '../../../src/domain/category.ts';
import type { Failure } from '../../../src/domain/failure.ts';
import { gradeAnswer } from '../../../src/domain/grade-answer.ts';
import { type Precedent, withPrecedent } from '../../../src/domain/precedent.ts';
import { isPublishedRoute, type PublishBound, type Route } from '../../../src/domain/publish-bound.ts';
import { computeUpperShare } from '../../../src/lib/binomial-bound.ts';
import { sumNumbers } from '../../../src/lib/collections.ts';
import { computeProportion, createRandomNumbers } from '../../../src/lib/statistics.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { makeOutcome } from './grades/scripted-outcomes.ts';

/**
 * Plays four weeks of failures in five repositories, without a person who decides anything. The failures are
 * captured logs of real tools, new ones and ones that come again; what happens next to each is scripted. Each
 * day the bound on wrong answers is computed again from the grades so far. Prints the share that is
 * published by week, and how much of it is wrong. Ends with 1 if the last week does not publish at least 15
 * points more than the first, or if more of what is published is wrong than the bound allows.
 */
const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: '44' },
    recurring: { type: 'string', default: '0.6' },
    list: { type: 'boolean', default: false },
  },
});
const [REPOSITORIES, WEEKS, DAYS] = [5, 4, 7];
/** The number of failures of a repository per day, and the number of causes that recur there. */
const [PER_DAY, CAUSES] = [4, 25];
const [MIN_RISE, MAX_WRONG] = [0.15, 0.03];
const FIXTURES = join(import.meta.dirname, '../../../test/fixtures');
const NEVER = new AbortController().signal;
const BUILD = createSparseBuild({ repository: 'bench/stream', pipeline: 'ci', number: '1' });
const Truth = z.object({ category: Category, alsoOk: z.array(Category).default([]) });

interface Captured {
  readonly name: string;
  readonly log: string;
  readonly truth: z.infer<typeof Truth>;
}

interface Answered {
  readonly analysis: Analysis;
  readonly failures: readonly Failure[];
}

interface Given {
  readonly week: number;
  readonly isRight: boolean;
  readonly isPublished: boolean;
  readonly isNew: boolean;
  /** The route of the answer. Null if it is not published. */
  readonly route: string | null;
}

const folder = mkdtempSync(join(tmpdir(), 'faultline-bench-stream-'));
try {
  process.exitCode = await play();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function readCaptured(): Captured[] {
  return ['tools', 'failures'].flatMap((kind) =>
    readdirSync(join(FIXTURES, kind)).flatMap((name): Captured[] => {
      const [log, truth] = ['log.txt', 'truth.json'].map((file) => join(FIXTURES, kind, name, file));
      if (log === undefined || truth === undefined || !existsSync(log) || !existsSync(truth)) return [];
      return [
        { name, log: readFileSync(log, 'utf8'), truth: Truth.parse(JSON.parse(readFileSync(truth, 'utf8'))) },
      ];
    }),
  );
}

async function play(): Promise<number> {
  const preset = createEmbeddedPreset(folder, join(import.meta.dirname, '../../../knowledge'));
  const config = parseConfig({ ...preset, triage: { ...preset.triage, maxWrong: MAX_WRONG } });
  // The bound is applied below, because it changes every day. All other conditions for publishing apply here.
  const app = await createTerminalApp(
    parseConfig({ ...preset, triage: { ...preset.triage, maxWrong: 1 } }),
    silentLogger,
  );
  const draw = createRandomNumbers(Number(options.seed));
  const fresh = shuffle(readCaptured(), draw);
  const causes = Array.from({ length: REPOSITORIES }, () => fresh.splice(0, CAUSES));
  const seen = causes.map(() => new Set<Captured>());
  const answers = new Map<string, Answered>();
  const learned: Learned = { known: [], precedents: new Map() };
  const given: Given[] = [];
  for (let day = 0; day < WEEKS * DAYS; day += 1) {
    const bound = boundByKnown(config, learned.known);
    const graded: Grading[] = [];
    for (const [repository, own] of seen.entries()) {
      for (let nth = 0; nth < PER_DAY; nth += 1) {
        const captured =
          draw() < Number(options.recurring) ? pickByRank(causes[repository] ?? [], draw) : fresh.pop();
        if (captured === undefined) throw new Error('there are not enough captured failures');
        const isNew = !own.has(captured);
        own.add(captured);
        const answered = answers.get(captured.name) ?? (await answer(app, captured));
        if (answered === null) continue;
        answers.set(captured.name, answered);
        const one = recordAnswer(captured, answered, { repository, bound, learned });
        given.push({ ...one.given, week: Math.floor(day / DAYS), isNew });
        const grading = gradeScripted(captured, one, draw);
        if (grading !== null) graded.push(grading);
      }
    }
    // Grades of one day count from the next day on.
    for (const one of graded) learn(learned, one);
  }
  const routes = boundByKnown(config, learned.known)?.routes.filter(({ published }) => published) ?? [];
  return print(
    given,
    learned.known.length,
    routes.map(({ route }) => route),
  );
}

/** The grades that are known up to a day, without a person. */
interface Learned {
  readonly known: Parameters<typeof boundByKnown>[1][number][];
  readonly precedents: Map<string, Precedent>;
}

interface Grading {
  /** The repository, the fingerprint and the category of an earlier answer. */
  readonly past: string;
  readonly route: Route;
  readonly stated: number;
  readonly isRight: boolean;
}

interface Met {
  readonly past: string;
  readonly analysis: Analysis;
  readonly failures: readonly Failure[];
  readonly given: Pick<Given, 'isRight' | 'isPublished' | 'route'>;
}

/** Answers a failure as the service does on that day: with the current bound and with precedents. */
function recordAnswer(
  { truth }: Captured,
  { analysis: found, failures }: Answered,
  {
    repository,
    bound,
    learned,
  }: { readonly repository: number; readonly bound: PublishBound | null; readonly learned: Learned },
): Met {
  const past = `${repository} ${found.fingerprint} ${found.category}`;
  const precedent = isGeneric(failures) ? undefined : learned.precedents.get(past);
  const allowed = withBound(found, bound);
  const build = { ...BUILD, id: 'build', receivedAt: new Date().toISOString() };
  const analysis = precedent === undefined ? allowed : withPrecedent(build, allowed, precedent, bound);
  const { category, verdict } = analysis;
  const isPublished = verdict.action === 'auto_notify';
  const isRight = [truth.category, ...truth.alsoOk].includes(category);
  return {
    past,
    analysis,
    failures,
    given: { isRight, isPublished, route: isPublished ? (verdict.route ?? null) : null },
  };
}

/** Grades an answer by a scripted outcome. Returns null if the outcome does not grade the category. */
function gradeScripted(
  captured: Captured,
  { past, analysis, failures, given: { isRight } }: Met,
  draw: () => number,
): Grading | null {
  const outcome = makeOutcome(captured, failures, draw);
  const { route, confidence: stated } = analysis.verdict;
  if (outcome === null || route === undefined) return null;
  const { grades } = gradeAnswer({ analysis, failures, whose: null }, outcome);
  const grade = grades.find(({ question }) => question === 'category')?.grade ?? 'doubtful';
  if (grade === 'doubtful') return null;
  if (options.list && (grade === 'right') !== isRight)
    console.log(
      `${captured.name}: ${grade}, truth ${isRight} (${analysis.category}, ${captured.truth.category})`,
    );
  return { past, route, stated, isRight: grade === 'right' };
}

function learn({ known, precedents }: Learned, { past, route, stated, isRight }: Grading): void {
  known.push({ route, stated, right: isRight, origin: 'outcome' });
  const { right, wrong } = precedents.get(past) ?? { right: 0, wrong: 0 };
  precedents.set(past, { right: right + Number(isRight), wrong: wrong + Number(!isRight) });
}

async function answer(
  app: Awaited<ReturnType<typeof createTerminalApp>>,
  { name, log }: Captured,
): Promise<Answered | null> {
  const build = { ...BUILD, id: name, receivedAt: new Date().toISOString() };
  const { analyses, groups } = await app.triage(
    build,
    [{ name: 'log.txt', kind: 'log', text: log, notes: [] }],
    NEVER,
  );
  const [analysis] = analyses;
  if (analysis === undefined) return null;
  const group = groups.find(({ fingerprint }) => fingerprint.value === analysis.fingerprint);
  return { analysis, failures: group?.failures ?? [] };
}

/** Picks a value with a probability that decreases with its rank (Zipf), as the frequency of causes does. */
function pickByRank<Value>(values: readonly Value[], draw: () => number): Value | undefined {
  const weights = values.map((_, at) => 1 / (at + 1));
  let left = draw() * sumNumbers(weights);
  return values.find((_, at) => {
    left -= weights[at] ?? 0;
    return left <= 0;
  });
}

function isGeneric(failures: readonly Failure[]): boolean {
  return failures.some(({ generic }) => generic);
}

/** Gives an answer to a person if the bound does not allow its route, as the graph does. */
function withBound(analysis: Analysis, bound: PublishBound | null): Analysis {
  const { verdict } = analysis;
  const isAllowed = bound !== null && verdict.route !== undefined && isPublishedRoute(bound, verdict.route);
  if (verdict.action !== 'auto_notify' || isAllowed) return analysis;
  return { ...analysis, verdict: { ...verdict, action: 'human_review' } };
}

function shuffle<Value>(values: readonly Value[], draw: () => number): Value[] {
  return values
    .map((value) => ({ value, key: draw() }))
    .sort((left, right) => left.key - right.key)
    .map(({ value }) => value);
}

function print(given: readonly Given[], graded: number, routes: readonly string[]): number {
  console.log(
    `${given.length} failures of ${REPOSITORIES} repositories in ${WEEKS} weeks, ${graded} graded\n`,
  );
  console.log(
    '| week | failures | new | right | published | wrong of published |\n|---|---|---|---|---|---|',
  );
  const shares = Array.from({ length: WEEKS }, (_, week) => {
    const own = given.filter((one) => one.week === week);
    printRow(String(week + 1), own);
    return own.filter(({ isPublished }) => isPublished).length / own.length;
  });
  printRow('all', given);
  console.log(`\npublished in the end: ${routes.join(', ')}`);
  const published = given.filter(({ isPublished }) => isPublished);
  const wrong = published.filter(({ isRight }) => !isRight).length;
  console.log(
    `wrong of published: ${wrong} of ${published.length}, with 90 % confidence at most ` +
      `${(100 * computeUpperShare(wrong, published.length, 0.9)).toFixed(1)} %`,
  );
  if (options.list)
    for (const [route, own] of Map.groupBy(given, (one) => one.route))
      console.log(
        `${route ?? 'not published'}: ${own.length}, wrong ${own.filter(({ isRight }) => !isRight).length}`,
      );
  const rise = (shares.at(-1) ?? 0) - (shares[0] ?? 0);
  console.log(`the last week publishes ${(100 * rise).toFixed(1)} points more than the first`);
  return rise >= MIN_RISE && wrong / published.length <= MAX_WRONG ? 0 : 1;
}

function printRow(name: string, own: readonly Given[]): void {
  const published = own.filter(({ isPublished }) => isPublished);
  const { share, low, high } = computeProportion(published.length, own.length);
  const right = own.filter(({ isRight }) => isRight).length / own.length;
  const wrong = published.filter(({ isRight }) => !isRight).length;
  console.log(
    `| ${name} | ${own.length} | ${own.filter(({ isNew }) => isNew).length} | ${right.toFixed(3)} | ` +
      `${share.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}] | ${wrong} of ${published.length} |`,
  );
}
