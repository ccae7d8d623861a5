import { Command, InvalidArgumentError, Option } from 'commander';
import { dataOption, guarded, jsonOption } from '../command-parts.ts';
import type { CheckCommandOptions } from './cases-check-command.ts';
import type { ExportCommandOptions } from './cases-export-command.ts';
import type { ImportCommandOptions } from './cases-import-command.ts';
import type { SplitCommandOptions } from './cases-split-command.ts';
import { addStoreFilters } from './store-filters.ts';

const PATH_HELP = 'a data set (JSONL), a case set, or a folder of logs';
const OUT_HELP = 'folder to write; it must not be there yet';

/** `faultline cases`: the failures with their truth that `faultline replay` measures by. */
export function casesCommand(): Command {
  return new Command('cases')
    .description('Failures with their truth, for `faultline replay`: take them from the stores or from elsewhere, check them, split them.')
    .addCommand(exportCommand())
    .addCommand(importCommand())
    .addCommand(checkCommand())
    .addCommand(splitCommand());
}

function exportCommand(): Command {
  const command = new Command('export')
    .description('Write stored failures, their masked logs and what people decided as a case set.')
    .addOption(new Option('--reviewed', 'only what a person decided, with the truth they gave').conflicts('stored'))
    .option('--stored', 'every stored failure, with a truth where a person decided');
  return addStoreFilters(command)
    .requiredOption('--out <dir>', OUT_HELP)
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(
      guarded(async (options: ExportCommandOptions) => {
        const { runCasesExport } = await import('./cases-export-command.ts');
        await runCasesExport(options);
      }),
    );
}

function importCommand(): Command {
  return new Command('import')
    .description('Mask and check cases from elsewhere and write them as a case set; what is wrong is left out and said.')
    .argument('<path>', PATH_HELP)
    .requiredOption('--out <dir>', OUT_HELP)
    .option('--logs-in <dir>', "folder that the logs a data set names must lie in (default: the data set's)")
    .addOption(jsonOption())
    .action(
      guarded(async (path: string, options: ImportCommandOptions) => {
        const { runCasesImport } = await import('./cases-import-command.ts');
        await runCasesImport(path, options);
      }),
    );
}

function checkCommand(): Command {
  return new Command('check')
    .description('Read every case and say everything that is wrong, with its line and field. Exit 3 where something is.')
    .argument('<path>', PATH_HELP)
    .option('--no-logs', 'leave the logs alone: rows only')
    .addOption(jsonOption())
    .action(
      guarded(async (path: string, options: CheckCommandOptions) => {
        const { runCasesCheck } = await import('./cases-check-command.ts');
        await runCasesCheck(path, options);
      }),
    );
}

function splitCommand(): Command {
  return new Command('split')
    .description('Split a data set into train.jsonl and test.jsonl, and find what is nearly the same on both sides.')
    .argument('<path>', 'a data set (JSONL) or a case set')
    .addOption(
      new Option('--by <what>', 'time: the newest are tested; project: none is on both sides; random: by hash of the id, with --seed')
        .choices(['time', 'project', 'random'])
        .makeOptionMandatory(),
    )
    .option('--share <part>', 'part of the cases to test with', part, 0.3)
    .option('--seed <words>', 'for --by random: the same words make the same split')
    .option('--near <score>', 'likeness from which on two cases are near-duplicates', part, 0.8)
    .option('--drop-duplicates', 'leave near-duplicates of what is tested out of train.jsonl')
    .requiredOption('--out <dir>', OUT_HELP)
    .addOption(jsonOption())
    .action(
      guarded(async (path: string, options: SplitCommandOptions) => {
        const { runCasesSplit } = await import('./cases-split-command.ts');
        await runCasesSplit(path, options);
      }),
    );
}

/** Between 0 and 1, neither of them. */
function part(text: string): number {
  const value = Number(text);
  if (value > 0 && value < 1) return value;
  throw new InvalidArgumentError('It must be a number between 0 and 1, such as 0.3.');
}
