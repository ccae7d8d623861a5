import { Command } from 'commander';
import { dataOption, guarded, jsonOption, positive } from './command-parts.ts';
import type { ForgetOptions, RetainOptions } from './retention-command.ts';

/** `faultline delete`: forgets a repository in every store. */
export function deleteCommand(): Command {
  return new Command('delete')
    .description('Delete all data of a repository from every store: builds, logs, analyses, reviews, conversations, library entries.')
    .requiredOption('--repository <owner/name>', 'repository to delete')
    .option('--older-than <days>', 'delete only data older than this many days', positive)
    .option('--dry-run', 'only count what would be deleted')
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(
      guarded(async (options: ForgetOptions) => {
        const { runDelete } = await import('./retention-command.ts');
        await runDelete(options);
      }),
    );
}

/** `faultline retain`: does at once what the worker does every hour. */
export function retainCommand(): Command {
  return new Command('retain')
    .description('Delete everything older than FAULTLINE_RETENTION_LOGS_DAYS and FAULTLINE_RETENTION_BUILDS_DAYS now.')
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(
      guarded(async (options: RetainOptions) => {
        const { runRetain } = await import('./retention-command.ts');
        await runRetain(options);
      }),
    );
}
