import { Command } from 'commander';
import { guarded, jsonOption } from '../command-parts.ts';
import type { CompareCommandOptions } from './compare-command.ts';

/** `faultline compare`: two runs of the same cases, pair by pair. */
export function compareCommand(): Command {
  return new Command('compare')
    .description('Compare two runs on the same cases, pair by pair: differences with intervals, the cases won and lost, the cost.')
    .requiredOption(
      '--dataset <path...>',
      'the cases with their truth (JSONL or a folder), as they were replayed; several get a comparison each',
    )
    .requiredOption('--a <file...>', 'results of the first side, written by `faultline replay --out`; several are repeats of it')
    .requiredOption('--b <file...>', 'results of the second side')
    .option('--html <file>', 'write the comparison as one page that needs nothing else')
    .addOption(jsonOption())
    .action(
      guarded(async (options: CompareCommandOptions) => {
        const { runCompare } = await import('./compare-command.ts');
        await runCompare(options);
      }),
    );
}
