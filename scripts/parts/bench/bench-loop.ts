import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Build } from '../../../src/domain/build.ts';
import { scoreToolChoice } from '../../../src/replay/figures/tool-choice.ts';
import { renderFigures } from '../../../src/replay/report.ts';
import type { ReplayedCase } from '../../../src/replay/run/replay.ts';
import { toResult } from '../../../src/replay/run/results.ts';
import type { LoopCase } from './loop/case.ts';
import { type Answered, type OpenedDesign, openDesign } from './loop/designs.ts';
import {
  CASE_MEASURES,
  type Comparison,
  compareCalibration,
  compareCost,
  compareMeans,
  type PairedAnswer,
} from './loop/measures.ts';
import { chooseHalf, type Half, writeSet } from './loop/set.ts';
import { openWorld } from './loop/world.ts';

/**
 * Runs the loop and the linear baseline on the same cases with repositories, history and documents, whose
 * truth is written before: what the loop adds, with intervals, and whether the tools that it chooses first
 * settle the cases. Ends with 1 if less than 0.85 of either half is settled by the first two. `--half work`
 * takes the half in sight of which the order of the tools was chosen, `--only WORDS` the cases whose names or
 * repositories hold the words, `--list` prints each answer, and `--keep FOLDER` leaves the cases there.
 */
const { values: options } = parseArgs({
  options: {
    half: { type: 'string' },
    only: { type: 'string', default: '' },
    list: { type: 'boolean', default: false },
    keep: { type: 'string' },
  },
});
const MIN_SETTLED = 0.85;
const HALVES: readonly Half[] = ['work', 'held'];

const folder = mkdtempSync(join(tmpdir(), 'faultline-bench-loop-'));
try {
  const cases = writeSet(options.keep ?? join(folder, 'set')).filter(
    (loopCase) =>
      (options.half === undefined || chooseHalf(loopCase) === options.half) &&
      `${loopCase.repository} ${loopCase.name}`.includes(options.only),
  );
  const world = await openWorld(join(folder, 'world'), cases);
  try {
    const designs = {
      linear: await openDesign('linear', world, folder),
      loop: await openDesign('loop', world, folder),
    };
    const pairs: PairedAnswer[] = [];
    const unproved: string[] = [];
    for (const [at, loopCase] of cases.entries()) {
      const pair = { one: loopCase, ...(await answerBoth(loopCase, designs, at, world.getBuild)) };
      pairs.push(pair);
      if (!(await designs.loop.isProved(loopCase))) unproved.push(loopCase.name);
      if (options.list) listAnswers(pair);
    }
    console.log(
      `\nlabels whose tool, asked alone, shows the proof: ${pairs.length - unproved.length} of ${pairs.length}`,
    );
    if (unproved.length > 0) console.log(`not: ${unproved.join(', ')}`);
    printComparison('all cases', pairs);
    for (const [group, own] of Map.groupBy(pairs, ({ one }) => one.repository.split('/')[0] ?? ''))
      printComparison(group, own);
    printCost(pairs);
    process.exitCode = printToolChoice(pairs);
  } finally {
    await world.close();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

type Designs = Readonly<Record<'linear' | 'loop', OpenedDesign>>;

/** Answers with both designs, which take turns in being first. The first answer of a process is not timed. */
async function answerBoth(
  loopCase: LoopCase,
  { linear, loop }: Designs,
  at: number,
  getBuild: (loopCase: LoopCase) => Promise<Build>,
) {
  const build = await getBuild(loopCase);
  if (at === 0) for (const design of [linear, loop]) await design.answer(build, loopCase.log);
  const order = at % 2 === 0 ? [linear, loop] : [loop, linear];
  const answers: Partial<Record<'linear' | 'loop', Answered>> = {};
  for (const design of order) answers[design.design] = await design.answer(build, loopCase.log);
  const { linear: first, loop: second } = answers;
  if (first === undefined || second === undefined) throw new Error(`${loopCase.name} was not answered twice`);
  return { linear: first, loop: second };
}

function printComparison(what: string, pairs: readonly PairedAnswer[]): void {
  const compared = CASE_MEASURES.map((measure) => compareMeans(measure, pairs)).filter((row) => row !== null);
  const rows = what === 'all cases' ? compared.concat(compareCalibration(pairs)) : compared.filter(differs);
  const projects = new Set(pairs.map(({ one }) => one.project)).size;
  console.log(
    `\n${what}: ${pairs.length} cases of ${projects} projects`,
    rows.length === 0 ? 'no measure differs' : '',
  );
  if (rows.length === 0) return;
  console.log('| measure | cases | linear | loop | loop − linear [95 %] | loop better / same / worse |');
  console.log('|---|---|---|---|---|---|');
  for (const row of rows) console.log(formatRow(row));
}

function differs({ won, lost }: Comparison): boolean {
  return won + lost > 0;
}

function formatRow({ name, cases, linear, loop, interval, won, tied, lost }: Comparison): string {
  const difference = won + lost === 0 ? '0' : `${formatSigned(loop - linear)} ${formatInterval(interval)}`;
  const cells = [name, cases, linear.toFixed(3), loop.toFixed(3), difference, `${won} / ${tied} / ${lost}`];
  return `| ${cells.join(' | ')} |`;
}

function formatInterval(interval: Comparison['interval'], print = formatSigned): string {
  return interval === null ? '' : `[${interval.map(print).join(', ')}]`;
}

function formatSigned(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;
}

function printCost(pairs: readonly PairedAnswer[]): void {
  console.log('\n| cost of a case | linear | loop | loop / linear [95 %] |\n|---|---|---|---|');
  for (const [name, { linear, loop, ratio, interval }] of Object.entries(compareCost(pairs))) {
    const printed = `${ratio.toFixed(2)} ${formatInterval(interval, (value) => value.toFixed(2))}`;
    console.log(`| ${name} | ${linear.toFixed(1)} | ${loop.toFixed(1)} | ${printed} |`);
  }
}

/** Prints the same scores as a replay of rows with `settled_by`. Returns the exit code. */
function printToolChoice(pairs: readonly PairedAnswer[]): number {
  const halves = HALVES.map((half) => {
    const own = pairs.filter(({ one }) => chooseHalf(one) === half);
    return { half, figures: scoreToolChoice(own.map(toReplayedCase)) };
  }).filter(({ figures }) => figures.length > 0);
  const all = { half: 'all', figures: scoreToolChoice(pairs.map(toReplayedCase)) };
  for (const { half, figures } of [all].concat(halves))
    console.log(`\n${renderFigures(`tool choice, ${half}`, [{ title: 'tool choice', figures }])}`);
  const shares = halves.map(({ figures }) =>
    figures.find(({ name }) => name === 'tool choice: settled by the first two'),
  );
  return shares.some((figure) => figure !== undefined && figure.value < MIN_SETTLED) ? 1 : 0;
}

function toReplayedCase({ one, loop }: PairedAnswer): ReplayedCase {
  const { reading, analyses, analysis, milliseconds } = loop;
  const { name, project, truth } = one;
  const row = { id: name, project, category: truth.categories[0], settled_by: [...truth.settledBy] };
  const result = toResult(name, { reading, analyses }, milliseconds);
  return { row, result, analysis, quotes: { made: 0, literal: 0 } };
}

function listAnswers({ one, linear, loop }: PairedAnswer): void {
  console.log(
    `\n${one.repository} (${one.name}), ${chooseHalf(one)} half, ${one.truth.categories.join(' or ')}`,
  );
  console.log(`  truth: ${JSON.stringify(one.truth)}`);
  for (const { analysis, heard } of [linear, loop]) {
    const { category, answer, verdict } = analysis;
    console.log(`  ${category} ${verdict.confidence} ${verdict.action}; ${heard.length} calls`);
    const made = analysis.steps.flatMap(({ outcomes = [] }) => outcomes);
    const asked = made.map(({ call, status, round }) => `${call.tool}(${status} ${round ?? 0})`);
    console.log(`    asked: ${asked.join(' ')}`);
    console.log(`    ${answer.rootCause}\n    → ${answer.fixRecommendation}`);
    const [suspect] = answer.suspects;
    if (suspect !== undefined)
      console.log(`    ${suspect.path}:${suspect.line} ${suspect.commit?.slice(0, 10)} ${suspect.reason}`);
  }
}
