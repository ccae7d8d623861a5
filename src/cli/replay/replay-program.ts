import { Command, Option } from 'commander';
import { analystOption, guarded, jsonOption, positive, profileOption, terminalConfig } from '../command-parts.ts';
import type { ReplayCommandOptions } from './replay-options.ts';

/** `faultline replay`: cases with their truth through the same road, and what their labels allow to measure. */
export function replayCommand(): Command {
  return new Command('replay')
    .description('Replay a data set (JSONL, logs inline or by path) and print what its labels allow to measure.')
    .option('--dataset <file...>', 'JSONL, one case a row; several files give a table each')
    .option('--out <file>', 'write one JSON object a case')
    .addOption(analystOption())
    .addOption(profileOption())
    .option('--model <name>', 'the model that --analyst llm asks, instead of the configured one')
    .option('--budget <tokens>', 'tokens of log that the analyst may see', positive)
    .option('--concurrency <n>', 'cases at once', positive, 4)
    .addOption(new Option('--only <step>', 'stop after this step').choices(['read']))
    .option('--no-green', 'do not use the green logs that rows name')
    .option('--without <stages...>', 'leave out these stages, to measure what they are worth (docs/ablations.md names them)')
    .addOption(
      new Option('--design <design>', 'how answers are come to: the agent’s loop, or the linear baseline').choices(['loop', 'linear']),
    )
    .addOption(jsonOption())
    .action(
      guarded(async (options: ReplayCommandOptions) => {
        const { runReplay } = await import('./replay-command.ts');
        await runReplay(options, await terminalConfig(options));
      }),
    );
}
