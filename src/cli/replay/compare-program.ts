import { Command } from 'commander';
import { guarded, jsonOption } from '../command-parts.ts';
import type { CompareCommandOptions } from './compare-command.ts';

/** `faultline compare`: two runs of the same cases, pair by pair. */
export function compareCommand(): Command {
  return new Command('compare')
    .description('Compare two runs on the same cases: differences with intervals, cases won and lost, and cost.')
    .requiredOption('--dataset <path...>', 'the replayed cases with their categories (JSONL or a folder); several get one comparison each')
    .requiredOption('--a <file...>', 'results of the first side, from `faultline replay --out`; several files are repeats')
    .requiredOption('--b <file...>', 'results of the second side')
    .option('--html <file>', 'write the comparison as a self-contained HTML page')
    .addOption(jsonOption())
    .action(
      guarded(async (options: CompareCommandOptions) => {
        const { runCompare } = await import('./compare-command.ts');
        await runCompare(options);
      }),
    );
}
