import { z } from 'zod';
import type { Arm, Experiment } from '../domain/experiment.ts';
import type { FailingTest } from '../domain/failure.ts';
import type { Reading } from '../domain/reading.ts';
import { confirm } from '../experiments/confirm.ts';
import type { Outcome } from '../experiments/outcome.ts';
import { append } from '../lib/lists.ts';
import { createMasker } from '../log/mask/mask.ts';
import { visibleLine } from '../notifications/visible-text.ts';
import { maskSources, readMasked } from '../service/triage/read-build.ts';
import { type ServerOptions, serverOf } from './command-parts.ts';
import { readInput } from './input.ts';
import { askServer } from './server-client.ts';
import { EXIT, interruptSignal, jsonText, print, say } from './terminal.ts';

export interface ConfirmCommandOptions extends ServerOptions {
  /** Build that the outcome is reported to. */
  readonly report?: string;
  readonly log?: string;
  /** False: nothing is compared. */
  readonly base?: string | boolean;
  readonly runs: number;
  readonly minutes: number;
  readonly install?: string;
  readonly maxBytes: number;
}

const BUDGET_TOKENS = 2_000;

/** `faultline confirm -- COMMAND…`: exit 5 where the failure did not come back, 10 where the runs do not tell. */
export async function runConfirm(argv: readonly string[], options: ConfirmCommandOptions): Promise<void> {
  const read = outputReader();
  const { log, base, runs, minutes, install, json } = options;
  const onRun = (arm: Arm, outcome: Outcome, milliseconds: number) => {
    if (json !== true) say(progressLine(arm, outcome, milliseconds));
  };
  const experiment = await confirm(
    {
      ...{
        argv,
        cwd: process.cwd(),
        env: process.env,
        runs,
        limitMs: minutes * 60_000,
        tests: await failingTests(log, options.maxBytes, read),
      },
      base: base === false ? null : base === true ? undefined : base,
      ...(install === undefined ? {} : { install: words(install) }),
    },
    { read, onRun },
    interruptSignal(),
  );
  await print(json === true ? jsonText({ ok: true, schema: 1, ...experiment }) : render(experiment));
  if (options.report !== undefined) await report(experiment, options.report, options);
  if (experiment.verdict === 'not-reproduced') process.exitCode = EXIT.noFailure;
  if (experiment.verdict === 'inconclusive') process.exitCode = EXIT.needsPerson;
}

const Reported = z.object({ buildId: z.string(), analyses: z.array(z.string()) });

async function report(experiment: Experiment, build: string, options: ServerOptions): Promise<void> {
  const path = `/api/builds/${encodeURIComponent(build)}/experiments`;
  const { buildId, analyses } = await askServer(await serverOf(options), 'POST', path, Reported, experiment);
  say(`Reported to build ${buildId}${analyses.length === 0 ? '; no answer about these tests yet' : `, for ${analyses.join(', ')}`}.`);
}

export type OutputReader = (text: string, name?: string) => Promise<Reading>;

/** Masks and reads what a command printed. */
export function outputReader(): OutputReader {
  const masker = createMasker();
  return async (text, name = 'output') => {
    const { sources, secrets } = await maskSources([{ name, kind: 'log', text, notes: [] }], masker);
    return readMasked(sources, { budgetTokens: BUDGET_TOKENS, secrets });
  };
}

/** Tests that a log names as failed; none without a log. */
export async function failingTests(path: string | undefined, maxBytes: number, read: OutputReader): Promise<FailingTest[]> {
  const tests: FailingTest[] = [];
  for (const { kind, name, text } of path === undefined ? [] : await readInput(path, maxBytes)) {
    if (kind === 'log') append(tests, (await read(text, name)).failingTests);
  }
  return tests;
}

/** A command given as one option: an argument vector of its words, without quotes and expansions. */
export function words(command: string): string[] {
  return command.trim().split(/\s+/);
}

export const SHOWN: Readonly<Record<Outcome, string>> = { passed: 'passed', failed: 'failed', other: 'failed in another way' };

const WHAT: Readonly<Record<Arm['what'], string>> = {
  suite: 'the whole command',
  alone: 'only the failing tests',
  after: 'a failing test behind others',
};

function nameOf({ where, what }: Arm): string {
  return `${where === 'here' ? 'here' : 'on the base'}, ${WHAT[what]}`;
}

function progressLine(arm: Arm, outcome: Outcome, milliseconds: number): string {
  return `run ${arm.exitCodes.length} ${nameOf(arm)}: ${SHOWN[outcome]} (${(milliseconds / 1000).toFixed(1)} s)`;
}

const MOST_SHOWN = 10;

function render({ sentence, tests, narrowed, arms, notes }: Experiment): string {
  const rows = arms.map((arm) => {
    const other = arm.other === 0 ? '' : `, ${arm.other} in another way`;
    return `Runs\t${nameOf(arm)}: ${arm.failed} failed${other}, ${arm.passed} passed`;
  });
  return [
    `Result\t${sentence}`,
    ...tests.slice(0, MOST_SHOWN).map((test) => `Test\t${visibleLine(test)}`),
    ...(tests.length > MOST_SHOWN ? [`Test\t… ${tests.length - MOST_SHOWN} more`] : []),
    ...(narrowed === null ? [] : [`Command\t${visibleLine(narrowed.join(' '))}`]),
    ...rows,
    ...notes.map((note) => `Note\t${note}`),
  ].join('\n');
}
