import { Command, InvalidArgumentError, Option } from 'commander';
import { dataOption, guarded, jsonOption } from '../command-parts.ts';
import type { CheckCommandOptions } from './cases-check-command.ts';
import type { ExportCommandOptions } from './cases-export-command.ts';
import type { ImportCommandOptions } from './cases-import-command.ts';
import type { SplitCommandOptions } from './cases-split-command.ts';
import { addStoreFilters } from './store-filters.ts';

const PATH_HELP = 'a data set (JSONL), a case set, or a folder of logs';
const OUT_HELP = 'output folder; it must not exist yet';

/** `faultline cases`: the failures with their truth that `faultline replay` measures by. */
export function casesCommand(): Command {
  return new Command('cases')
    .description('Manage labeled failures for `faultline replay`: export, import, check and split them.')
    .addCommand(exportCommand())
    .addCommand(importCommand())
    .addCommand(checkCommand())
    .addCommand(splitCommand());
}

function exportCommand(): Command {
  const command = new Command('export')
    .description('Write stored failures with their masked logs and decisions as a case set.')
    .addOption(new Option('--reviewed', 'only reviewed failures, with the reviewed category').conflicts('stored'))
    .option('--stored', 'all stored failures, with the reviewed category if any');
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
    .description('Mask and check cases from elsewhere and write them as a case set. Invalid cases are reported and left out.')
    .argument('<path>', PATH_HELP)
    .requiredOption('--out <dir>', OUT_HELP)
    .option('--logs-in <dir>', "folder that must contain the logs of a data set (default: the data set's folder)")
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
    .description('Check every case and report problems with line and field. Exits with 3 if there are any.')
    .argument('<path>', PATH_HELP)
    .option('--no-logs', 'check only the rows, not the logs')
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
    .description('Split a data set into train.jsonl and test.jsonl, and find near-duplicates across them.')
    .argument('<path>', 'a data set (JSONL) or a case set')
    .addOption(
      new Option(
        '--by <what>',
        'time: the newest cases are for testing; project: no project is on both sides; random: by hash of the ID, with --seed',
      )
        .choices(['time', 'project', 'random'])
        .makeOptionMandatory(),
    )
    .option('--share <part>', 'share of the cases for testing', part, 0.3)
    .option('--seed <words>', 'for --by random: the same seed gives the same split')
    .option('--near <score>', 'minimum similarity of near-duplicates', part, 0.8)
    .option('--drop-duplicates', 'leave near-duplicates of test cases out of train.jsonl')
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
  throw new InvalidArgumentError('Use a number between 0 and 1, such as 0.3.');
}
