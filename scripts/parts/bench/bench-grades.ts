import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openClones } from '../../../src/app/open-adapters.ts';
import { createTerminalApp } from '../../../src/app/terminal-app.ts';
import { createEmbeddedPreset } from '../../../src/config/load.ts';
import { parseConfig } from '../../../src/config/schema.ts';
import type { Analysis } from '../../../src/domain/analysis.ts';
import { createSparseBuild } from '../../../src/domain/build.ts';
import type { Failure } from '../../../src/domain/failure.ts';
import { gradeAnswer } from '../../../src/domain/grade-answer.ts';
import { QUESTIONS, type QuestionGrade } from '../../../src/domain/outcome.ts';
import { append } from '../../../src/lib/collections.ts';
import { computeProportion } from '../../../src/lib/statistics.ts';
import { readResults } from '../../../src/log/reports/report.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { createChangeReader, readOutcome } from '../../../src/service/grades/read-outcome.ts';
import type { BranchBuild } from '../../../src/stores/grades.ts';
import { type FixedHistory, makeFixedHistories } from './grades/histories.ts';
import { readTruth } from './grades/truth.ts';
import type { Program } from './planted/program.ts';
import { PROGRAMS, type Run } from './whose/lab.ts';

/**
 * Grades answers by what happened next, on branches of real small repositories that turned red and green, and
 * compares each grade with the truth. Each failure is graded twice: with the answer that the rules give, and
 * with an answer that they give to another failure of the repository, which is mostly wrong. `--repositories
 * N` takes only the first N repositories, `--only WORDS` the histories whose names hold the words, `--list`
 * prints each grade that is not the truth and why others are doubtful, `--keep FOLDER` leaves the histories
 * there for the next run. Ends with 1 if less than 0.95 of the grades agree, or if more than
 * 0.25 are doubtful.
 */
const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    repositories: { type: 'string', default: '6' },
    list: { type: 'boolean', default: false },
    keep: { type: 'string' },
  },
});
const [MIN_AGREED, MAX_SILENT] = [0.95, 0.25];
const KNOWLEDGE = join(import.meta.dirname, '../../../knowledge');
const HOUR_MS = 3_600_000;
const BEGIN_MS = Date.UTC(2026, 9, 5);
const NEVER = new AbortController().signal;
const REPOSITORY = 'bench/mended';

interface Graded {
  readonly history: FixedHistory;
  readonly isOwn: boolean;
  readonly grade: QuestionGrade;
  readonly truth: boolean;
}

interface Answered {
  readonly analysis: Analysis;
  readonly failures: readonly Failure[];
}

const folder = mkdtempSync(join(tmpdir(), 'faultline-bench-grades-'));
try {
  const graded: Graded[] = [];
  let count = 0;
  for (const [row, program] of PROGRAMS.slice(0, Number(options.repositories)).entries()) {
    const histories = makeOrReuse(program, row);
    append(graded, await gradeAll(histories));
    count += histories.length;
    console.error(`${program.name}: ${histories.length} histories`);
  }
  console.log(`${count} histories of ${options.repositories} repositories\n`);
  process.exitCode = printFigures(graded);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function makeOrReuse(program: Program, row: number): FixedHistory[] {
  if (options.keep === undefined) return makeFixedHistories(folder, program, row);
  const list = join(resolve(options.keep), `histories-${row}.json`);
  mkdirSync(options.keep, { recursive: true });
  if (!existsSync(list))
    writeFileSync(list, JSON.stringify(makeFixedHistories(resolve(options.keep), program, row)));
  return JSON.parse(readFileSync(list, 'utf8'));
}

async function gradeAll(histories: readonly FixedHistory[]): Promise<Graded[]> {
  const app = await createTerminalApp(
    parseConfig(createEmbeddedPreset(join(folder, 'terminal'), KNOWLEDGE)),
    silentLogger,
  );
  const known = new Map<string, readonly Answered[]>();
  const answers: (readonly Answered[])[] = [];
  for (const history of histories) {
    const [red] = history.reds;
    if (red === undefined) continue;
    // The same log with the same files always has the same answer.
    const found = known.get(red.log) ?? (await answer(app, history, red));
    known.set(red.log, found);
    answers.push(found);
  }
  const graded: Graded[] = [];
  for (const [at, history] of histories.entries()) {
    if (!history.name.includes(options.only)) continue;
    const own = answers[at] ?? [];
    const isOther = ({ fault }: FixedHistory) => fault.name !== history.fault.name;
    const others = histories.flatMap((one, place) =>
      isOther(one) ? (answers[place]?.slice(0, 1) ?? []) : [],
    );
    for (const [place, one] of own.entries()) {
      const rest = own.filter((other) => other !== one).flatMap(({ failures }) => failures);
      const swapped = others[(at * 7 + place) % others.length];
      append(graded, await gradeOne(history, one, one.analysis, rest, true));
      if (swapped !== undefined) append(graded, await gradeOne(history, one, swapped.analysis, rest, false));
    }
  }
  return graded;
}

async function answer(
  app: Awaited<ReturnType<typeof createTerminalApp>>,
  { folder: clone, way, base }: FixedHistory,
  { commit, log, report }: Run,
): Promise<Answered[]> {
  const build = {
    ...createSparseBuild({ repository: REPOSITORY, pipeline: 'ci', number: '1' }),
    id: 'local',
    commit,
    receivedAt: new Date(BEGIN_MS).toISOString(),
  };
  const sources = [{ name: 'log.txt', kind: 'log' as const, text: log, notes: [] }];
  const reports =
    report === null ? [] : [{ name: 'junit.xml', kind: 'report' as const, text: report, notes: [] }];
  const green = way === 'mended, without a green build before' ? {} : { greenCommit: base };
  const { analyses, groups } = await app.triage(build, [...sources, ...reports], NEVER, { clone, ...green });
  return analyses.map((analysis) => ({
    analysis,
    failures: groups.find(({ fingerprint }) => fingerprint.value === analysis.fingerprint)?.failures ?? [],
  }));
}

async function gradeOne(
  history: FixedHistory,
  { failures, analysis: own }: Answered,
  analysis: Analysis,
  others: readonly Failure[],
  isOwn: boolean,
): Promise<Graded[]> {
  const { reds, green, way } = history;
  const toBuild = (run: Run, at: number, more: Partial<BranchBuild> = {}): BranchBuild => {
    const time = new Date(BEGIN_MS + at * HOUR_MS).toISOString();
    const sparse = createSparseBuild({ repository: REPOSITORY, pipeline: 'ci', number: String(at + 1) });
    const { commit, status } = run;
    const has = status === 'failed' ? [own.fingerprint] : [];
    return { ...sparse, id: `build-${at}`, commit, status, startedAt: time, receivedAt: time, has, ...more };
  };
  const failed = reds.map((run, at) => toBuild(run, at));
  const [build] = failed;
  if (build === undefined) return [];
  const again = way === 'run again' ? { number: build.number, attempt: 2 } : {};
  const late =
    way === 'mended, but the clocks disagree'
      ? { startedAt: new Date(BEGIN_MS - HOUR_MS).toISOString() }
      : {};
  const passed = toBuild(green, reds.length, { ...again, ...late });
  const clones = await openClones({ [REPOSITORY]: history.folder });
  const results = green.report === null ? null : readResults('junit.xml', green.report).testResults;
  const outcome = await readOutcome(
    { build, fingerprint: own.fingerprint, failures, others, around: [...failed, passed] },
    {
      stores: {
        grades: {
          testsIn: async (_id, names) => results?.filter(({ name }) => names.includes(name)) ?? null,
        },
      },
    },
    createChangeReader(clones, REPOSITORY, true, NEVER),
  );
  if (outcome === null) return [];
  const { grades } = gradeAnswer({ analysis, failures, whose: null }, outcome);
  const truths = readTruth(history, failures, analysis);
  return grades.map((grade) => ({ history, isOwn, grade, truth: truths[grade.question] }));
}

function printFigures(graded: readonly Graded[]): number {
  const isSilent = ({ grade }: Graded) => grade.grade === 'doubtful';
  const agrees = ({ grade, truth }: Graded) => (grade.grade === 'right') === truth;
  const print = (name: string, own: readonly Graded[]) => {
    if (own.length === 0) return;
    const said = own.filter((one) => !isSilent(one));
    const { share, low, high } = computeProportion(said.filter(agrees).length, said.length);
    const silent = (own.length - said.length) / own.length;
    const falseRight = said.filter(({ grade, truth }) => grade.grade === 'right' && !truth).length;
    const rights = said.filter(({ grade }) => grade.grade === 'right').length;
    console.log(
      `| ${name} | ${own.length} | ${said.length === 0 ? '–' : `${share.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}]`} | ${silent.toFixed(3)} | ${falseRight} of ${rights} |`,
    );
  };
  console.log(
    '| grades | asked | agrees with the truth | doubtful | "right" that is wrong |\n|---|---|---|---|---|',
  );
  for (const question of QUESTIONS)
    print(
      question,
      graded.filter(({ grade }) => grade.question === question),
    );
  print(
    'Faultline’s own answers',
    graded.filter(({ isOwn }) => isOwn),
  );
  print(
    'answers to another failure',
    graded.filter(({ isOwn }) => !isOwn),
  );
  print(
    'answers that are right',
    graded.filter(({ truth }) => truth),
  );
  print(
    'answers that are wrong',
    graded.filter(({ truth }) => !truth),
  );
  for (const [way, own] of Map.groupBy(graded, ({ history }) => history.way)) print(way, own);
  const category = graded.filter(({ grade }) => grade.question === 'category');
  print(
    'category, right answers',
    category.filter(({ truth }) => truth),
  );
  print(
    'category, wrong answers',
    category.filter(({ truth }) => !truth),
  );
  print('all', graded);
  if (options.list)
    for (const { history, isOwn, grade, truth } of graded.filter((one) => !isSilent(one) && !agrees(one)))
      console.log(
        `${history.name}${isOwn ? '' : ' (swapped)'}: ${grade.question} ${grade.grade}, truth ${truth}: ${grade.because}`,
      );
  if (options.list) listDoubts(graded.filter(isSilent));
  const said = graded.filter((one) => !isSilent(one));
  const agreed = said.filter(agrees).length / Math.max(1, said.length);
  return agreed < MIN_AGREED || 1 - said.length / Math.max(1, graded.length) > MAX_SILENT ? 1 : 0;
}

function listDoubts(silent: readonly Graded[]): void {
  const reasons = Map.groupBy(
    silent,
    ({ grade, truth }) => `${grade.question}, ${truth ? 'right' : 'wrong'}: ${grade.because}`,
  );
  for (const [reason, own] of [...reasons].sort((one, other) => other[1].length - one[1].length))
    console.log(`${own.length} ${reason} (${own[0]?.history.name})`);
}
