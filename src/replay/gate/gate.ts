import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { messageOf, TriageError } from '../../domain/errors.ts';
import type { FigureSection } from '../figures/figure.ts';
import type { JunitSuite, JunitTest } from '../report/junit.ts';
import type { ReplayedCase } from '../run/replay.ts';
import { type RunResults, readResults } from '../run/results-file.ts';

const Name = z.string().min(1);

/** One bar: a figure and how low or high it may be, or how much worse than the baseline's. */
export const Bar = z
  .strictObject({
    /** Of which data set, by the name of its file or folder; of every one where it is left out. */
    dataset: Name.optional(),
    /** Under which heading of the table, where the name alone is not enough. */
    section: Name.optional(),
    figure: Name,
    atLeast: z.number().optional(),
    atMost: z.number().optional(),
    /** At most so much worse than on the same cases of the baseline, in the figure's own unit. */
    worseBy: z.number().min(0).optional(),
    /**
     * `interval`: missed only where the whole 95 % interval lies on the wrong side. `none`: missed by any amount; for analysts that always
     * answer the same.
     */
    noise: z.enum(['interval', 'none']).default('interval'),
    /** What the bar is for; said when it is missed. */
    why: Name.optional(),
  })
  .refine(({ atLeast, atMost, worseBy }) => [atLeast, atMost, worseBy].filter((one) => one !== undefined).length === 1, {
    message: 'set exactly one of atLeast, atMost and worseBy',
  });
export type Bar = z.infer<typeof Bar>;

const Bars = z
  .strictObject({
    schema: z.literal(1),
    /** Results that `worseBy` is measured against; relative to this file. */
    baseline: Name.optional(),
    bars: z.array(Bar).min(1),
  })
  .refine(({ baseline, bars }) => baseline !== undefined || bars.every(({ worseBy }) => worseBy === undefined), {
    message: 'a bar uses worseBy, but no baseline is named',
    path: ['baseline'],
  });
type Bars = z.infer<typeof Bars>;

/** Bars that are ready to judge. */
export interface Gate {
  readonly path: string;
  readonly bars: readonly Bar[];
  readonly baseline: RunResults | null;
}

/** Reads a file of bars and the baseline that it names; before anything is replayed, so that a slip costs no run. */
export async function openGate(path: string): Promise<Gate> {
  const { baseline, bars } = await readBars(path);
  return { path, bars, baseline: baseline === undefined ? null : await readResults(resolve(dirname(path), baseline)) };
}

async function readBars(path: string): Promise<Bars> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new TriageError('not-found', `--gate: ${path} cannot be read: ${messageOf(cause)}.`, { cause });
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new TriageError('invalid-input', `--gate: ${path} is not JSON: ${messageOf(cause)}.`, { cause });
  }
  const parsed = Bars.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || '(file)'}: ${issue.message}`);
  throw new TriageError('invalid-input', `--gate: ${path} is not a gate file: ${problems.join('; ')}.`);
}

/** Whether what was measured is good enough. Stable: scripts read it. */
export interface GateResult {
  readonly schema: 1;
  readonly file: string;
  /** No bar is missed beyond noise, and every one could be judged. */
  readonly ok: boolean;
  readonly outcomes: readonly BarOutcome[];
}

/** `within-noise`: on the wrong side of its bar, but chance alone may have put it there. */
export type BarStatus = 'ok' | 'within-noise' | 'failed';

/** One bar on one data set. */
export interface BarOutcome {
  readonly dataset: string;
  readonly figure: string;
  /** "at least 0.9"; null for what is no bar of the file, such as that a data set is empty. */
  readonly bar: string | null;
  readonly status: BarStatus;
  /** Null where it could not be judged; for `worseBy` how much worse. */
  readonly value: number | null;
  readonly interval: readonly [low: number, high: number] | null;
  readonly cases: number | null;
  readonly sentence: string;
  readonly why: string | null;
  /** Ids of the cases that keep the figure from being better; empty where no single case does. */
  readonly against: readonly string[];
}

/** One data set as it was replayed, with its figures. */
export interface GatedRun {
  /** The name of its file or folder: what bars call it. */
  readonly name: string;
  /** What people are told it is, such as "clean.jsonl, repeat 2 of 3". */
  readonly label: string;
  readonly sections: readonly FigureSection[];
  readonly cases: readonly ReplayedCase[];
  /** False where the replay ended before its last case. */
  readonly isAll: boolean;
}

const INDENT = '  ';
const WORDS: Readonly<Record<BarStatus, string>> = { ok: 'ok', 'within-noise': 'noise', failed: 'FAILED' };
const MOST_NAMED = 10;

/** A gate for people: one line how it ended, one a bar, the missed ones first with the cases to look at. */
export function renderGate(gate: GateResult): string {
  const missed = gate.outcomes.filter(({ status }) => status === 'failed');
  const noisy = gate.outcomes.filter(({ status }) => status === 'within-noise');
  const count = `${gate.outcomes.length - missed.length} of ${gate.outcomes.length} bars held${noisy.length > 0 ? `, ${noisy.length} of them only within noise` : ''}`;
  const heading = `gate ${gate.file}: ${gate.ok ? 'passed' : 'FAILED'}, ${count}`;
  const rank: Readonly<Record<BarStatus, number>> = { failed: 0, 'within-noise': 1, ok: 2 };
  const sorted = gate.outcomes.toSorted((left, right) => rank[left.status] - rank[right.status]);
  return [heading, ...sorted.flatMap(linesOf)].join('\n');
}

function linesOf({ status, sentence, why, against }: BarOutcome): string[] {
  const more = against.length > MOST_NAMED ? ` and ${against.length - MOST_NAMED} more` : '';
  return [
    `${INDENT}${WORDS[status].padEnd(6)}  ${sentence}`,
    ...(status === 'ok' || why === null ? [] : [`${INDENT.repeat(5)}Why: ${why}`]),
    ...(status === 'ok' || against.length === 0 ? [] : [`${INDENT.repeat(5)}Look at: ${against.slice(0, MOST_NAMED).join(', ')}${more}`]),
  ];
}

/** The bars as a CI server shows them: a suite a data set, a test a bar. What is within noise passes, and says so below. */
export function junitOf(gate: GateResult): JunitSuite[] {
  const byDataset = Map.groupBy(gate.outcomes, ({ dataset }) => dataset);
  return [...byDataset].map(([dataset, outcomes]) => ({ name: `gate: ${dataset}`, tests: outcomes.map(testOf) }));
}

function testOf({ figure, bar, status, sentence, why, against }: BarOutcome): JunitTest {
  const test = { name: bar === null ? figure : `${figure} ${bar}`, seconds: 0 };
  if (status === 'ok') return test;
  const lines = [sentence, ...(why === null ? [] : [`Why: ${why}`]), ...(against.length === 0 ? [] : [`Look at: ${against.join(', ')}`])];
  return status === 'failed' ? { ...test, failure: sentence, output: lines.join('\n') } : { ...test, output: lines.join('\n') };
}
