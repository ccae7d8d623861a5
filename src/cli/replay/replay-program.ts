import { Command, InvalidArgumentError, Option } from 'commander';
import type { SliceBy } from '../../replay/figures/slices.ts';
import { analystOption, dataOption, guarded, jsonOption, positive, profileOption, terminalConfig } from '../command-parts.ts';
import type { FrozenOptions } from './frozen-command.ts';
import type { ReplayCommandOptions } from './replay-options.ts';
import { addStoreFilters } from './store-filters.ts';

/** As `scoreSlices` knows them; told here so that help needs no scores. */
const SLICES = ['project', 'source', 'category'] as const satisfies readonly SliceBy[];

/** `faultline replay`: cases with their truth through the same road, and what their labels allow to measure. */
export function replayCommand(): Command {
  const command = new Command('replay')
    .description('Replay cases with their truth (a data set, a folder of logs, or your own failures) and print what it allows to measure.')
    .option('--dataset <path...>', 'JSONL, one case a row, or a case set; several give a table each')
    .addOption(new Option('--logs <folder...>', 'folders of logs, the truth beside them; a table each').conflicts('dataset'))
    .addOption(new Option('--reviewed', 'the failures that people decided, with the truth they gave').conflicts(['dataset', 'logs']))
    .addOption(
      new Option('--stored', 'every stored failure, with a truth where a person decided').conflicts(['dataset', 'logs', 'reviewed']),
    );
  return addStoreFilters(command, 'with --reviewed or --stored: ')
    .addOption(new Option('--by <what>', 'the main figures also a row a project, source or category').choices(SLICES))
    .option('--sample <n>', 'so many cases of each, chosen by their ids: always the same', positive)
    .option('--repeat <n>', 'the same cases so many times, for models that do not always say the same', positive, 1)
    .option('--out <file>', 'write one JSON object a case, as they come; what is there is written over')
    .option('--resume', 'go on behind what an interrupted run left in --out, if it was the same run')
    .option('--html <file>', 'write a report as one page that needs nothing else')
    .option('--junit <file>', 'write a test case a case, for CI servers')
    .option(
      '--gate <file>',
      'hold the figures against the bars of this file: exit 12 where one is missed beyond noise (docs/how-to/compare.md)',
    )
    .option(
      '--judge [repeats]',
      'let the configured model compare explanations with their labels; told apart, no gate rests on it',
      positive,
    )
    .addOption(analystOption())
    .addOption(profileOption())
    .option('--model <name>', 'the model that --analyst llm asks, instead of the configured one')
    .option('--budget <tokens>', 'tokens of log that the analyst may see', positive)
    .option('--concurrency <n>', 'cases at once', positive, 4)
    .option('--max-usd <dollars>', 'begin no more cases once models cost so much', amount)
    .option('--max-minutes <minutes>', 'begin no more cases after so long', amount)
    .addOption(new Option('--only <step>', 'stop after this step').choices(['read']))
    .option('--no-green', 'do not use the green logs that rows name')
    .option('--without <stages...>', 'leave out these stages, to measure what they are worth (docs/evidence/ablations.md names them)')
    .addOption(
      new Option('--design <design>', 'how answers are come to: the agent’s loop, or the linear baseline').choices(['loop', 'linear']),
    )
    .option('--record <file>', 'write how each answer came about, one recording a line')
    .option('--frozen [file]', 'run recordings again instead, of this file or of the stored runs, and tell where they first differ')
    .addOption(dataOption())
    .option('--run <id...>', 'with --frozen: only these, by the id of the triage or of the analysis')
    .addOption(
      new Option('--limits <which>', 'with --frozen: what bounds the runs').choices(['recorded', 'configured']).default('recorded'),
    )
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
  throw new InvalidArgumentError('It must be a number above 0.');
}
