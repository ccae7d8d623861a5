import { Command, InvalidArgumentError, Option } from 'commander';
import type { SliceBy } from '../../replay/figures/score.ts';
import { analystOption, dataOption, guarded, jsonOption, positive, profileOption, terminalConfig } from '../command-parts.ts';
import type { FrozenOptions } from './frozen-command.ts';
import type { ReplayCommandOptions } from './replay-options.ts';
import { addStoreFilters } from './store-filters.ts';

/** As `scoreSlices` knows them; told here so that help needs no scores. */
const SLICES = ['project', 'source', 'category'] as const satisfies readonly SliceBy[];

/** `faultline replay`: cases with their truth through the same road, and what their labels allow to measure. */
export function replayCommand(): Command {
  const command = new Command('replay')
    .description('Replay labeled cases (a data set, a folder of logs, or your own failures) and print the resulting figures.')
    .option('--dataset <path...>', 'JSONL, one case a row, or a case set; several give a table each')
    .addOption(new Option('--logs <folder...>', 'folders of logs with their categories; one table each').conflicts('dataset'))
    .addOption(new Option('--reviewed', 'reviewed failures, with the reviewed category').conflicts(['dataset', 'logs']))
    .addOption(new Option('--stored', 'all stored failures, with the reviewed category if any').conflicts(['dataset', 'logs', 'reviewed']));
  return addStoreFilters(command, 'with --reviewed or --stored: ')
    .addOption(new Option('--by <what>', 'also break down the main figures by project, source or category').choices(SLICES))
    .option('--sample <n>', 'this many cases of each, chosen by ID, so always the same ones', positive)
    .option('--repeat <n>', 'run the cases this many times, for models whose answers vary', positive, 1)
    .option('--out <file>', 'write one JSON object per case as they finish; overwrites the file')
    .option('--resume', 'continue an interrupted run from its --out file')
    .option('--html <file>', 'write a report as a self-contained HTML page')
    .option('--junit <file>', 'write a JUnit report for CI servers')
    .option(
      '--gate <file>',
      'check the figures against the bars in this file; exit with 12 if one is missed beyond noise (docs/how-to/compare.md)',
    )
    .option(
      '--judge [repeats]',
      'let the configured model compare explanations with their labels; reported separately and never used by gates',
      positive,
    )
    .addOption(analystOption())
    .addOption(profileOption())
    .option('--model <name>', 'model for --analyst llm, instead of the configured one')
    .option('--budget <tokens>', 'log tokens that the analyst may use', positive)
    .option('--concurrency <n>', 'cases in parallel', positive, 4)
    .option('--max-usd <dollars>', 'start no more cases once model costs reach this amount', amount)
    .option('--max-minutes <minutes>', 'start no more cases after this many minutes', amount)
    .addOption(new Option('--only <step>', 'stop after this step').choices(['read']))
    .option('--no-green', 'do not use the green logs named in rows')
    .option('--without <stages...>', 'leave out these stages, to measure their value (see docs/evidence/ablations.md)')
    .addOption(
      new Option('--design <design>', 'how answers are produced: the agent loop, or the linear baseline').choices(['loop', 'linear']),
    )
    .option('--record <file>', 'write a recording of each run, one per line')
    .option('--frozen [file]', 'rerun recordings from this file or of stored runs, and report where they first differ')
    .addOption(dataOption())
    .option('--run <id...>', 'with --frozen: only these triage or analysis IDs')
    .addOption(new Option('--limits <which>', 'with --frozen: which limits apply').choices(['recorded', 'configured']).default('recorded'))
    .addOption(jsonOption())
    .action(
      guarded(async (options: ReplayCommandOptions & Partial<FrozenOptions>) => {
        if (options.frozen !== undefined) {
          const { runFrozenReplay } = await import('./frozen-command.ts');
          return await runFrozenReplay({ ...options, frozen: options.frozen, limits: options.limits ?? 'recorded' });
        }
        const { runReplay } = await import('./replay-command.ts');
        await runReplay(options, await terminalConfig(options));
      }),
    );
}

/** A number above 0. */
function amount(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('Use a number above 0.');
}
