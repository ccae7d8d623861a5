import { z } from 'zod';
import type { FixTrial } from '../../domain/experiment.ts';
import { FIX_RULES, type FixRule } from '../../experiments/fix-rules.ts';
import { type Outcome, outputReader, SHOWN } from '../../experiments/outcome.ts';
import { splitArguments } from '../../experiments/run-command.ts';
import { type Proposal, tryFix } from '../../experiments/try-fix.ts';
import { omitUndefined } from '../../lib/collections.ts';
import { attemptLines } from '../../notifications/experiment-lines.ts';
import { toVisibleLine } from '../../notifications/visible-text.ts';
import { resolveService, type ServerOptions } from '../command-parts.ts';
import { askServer } from '../server-client.ts';
import { createInterruptSignal, EXIT, printResult, say } from '../terminal.ts';
import { type RunOptions, readFailingTests, withoutNetwork } from './experiment-commands.ts';
import { parseProposal, readProposal } from './proposals.ts';

export interface TryFixCommandOptions extends ServerOptions, RunOptions {
  readonly patch?: readonly string[];
  readonly analysis?: readonly string[];
  readonly rule?: readonly FixRule[];
  readonly check?: string;
  readonly branch?: string;
  readonly allowTests?: boolean;
  readonly allowWorkflows?: boolean;
}

/**
 * Runs `faultline try-fix -- COMMAND…`. Exits with 5 if the command does not fail, and with 10 if no change
 * fixes it.
 */
export async function runTryFix(argv: readonly string[], options: TryFixCommandOptions): Promise<void> {
  const read = outputReader();
  const { patch = [], analysis = [], check, branch, install, runs, minutes, json } = options;
  const proposals = [
    ...(await Promise.all(patch.map(readProposal))),
    ...(await Promise.all(analysis.map((id) => fromAnswer(id, options)))),
  ];
  const within = options.network ? undefined : await withoutNetwork();
  const onRun = (source: string | null, outcome: Outcome, milliseconds: number) => {
    const what = source === null ? 'without a change' : `with ${toVisibleLine(source)}`;
    if (json !== true) say(`${what}: ${SHOWN[outcome]} (${(milliseconds / 1000).toFixed(1)} s)`);
  };
  const trial = await tryFix(
    {
      argv,
      cwd: process.cwd(),
      env: process.env,
      proposals,
      runs,
      limitMs: minutes * 60_000,
      tests: await readFailingTests(options.log, read),
      rules: options.rule ?? (proposals.length > 0 ? [] : FIX_RULES),
      allowed: { tests: options.allowTests === true, workflows: options.allowWorkflows === true },
      check: check === undefined ? null : splitArguments(check),
      ...(install === undefined ? {} : { install: splitArguments(install) }),
      ...omitUndefined({ branch, within }),
    },
    { read, onRun },
    createInterruptSignal(),
  );
  await printResult(options, { schema: 1, ...trial }, render(trial));
  if (trial.verdict === 'not-reproduced') process.exitCode = EXIT.noFailure;
  if (trial.verdict === 'not-fixed') process.exitCode = EXIT.needsPerson;
}

const Answered = z.object({ answer: z.object({ fixRecommendation: z.string() }) });

async function fromAnswer(id: string, options: ServerOptions): Promise<Proposal> {
  const { answer } = await askServer(
    await resolveService(options),
    'GET',
    `/api/analyses/${encodeURIComponent(id)}`,
    Answered,
  );
  return parseProposal(`the fix of ${id}`, answer.fixRecommendation);
}

function render({ sentence, before, attempts, branch, notes }: FixTrial): string {
  return [
    `Result\t${toVisibleLine(sentence)}`,
    `Before\t${before.failed} failed, ${before.passed} passed`,
    ...attempts.flatMap(attemptLines).map(({ name, text }) => `${name}\t${toVisibleLine(text)}`),
    ...attempts.flatMap(({ verdict, files }) =>
      verdict === 'fixed' ? files.map((file) => `Changes\t${toVisibleLine(file)}`) : [],
    ),
    ...(branch === null ? [] : [`Branch\t${branch}`]),
    ...notes.map((note) => `Note\t${note}`),
  ].join('\n');
}
