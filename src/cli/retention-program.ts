import { Command } from 'commander';
import { dataOption, guarded, jsonOption, positive } from './command-parts.ts';
import type { ForgetOptions, RetainOptions } from './retention-command.ts';

/** `faultline delete`: forgets a repository in every store. */
export function deleteCommand(): Command {
  return new Command('delete')
    .description('Delete what is known of a repository, in every store: builds, logs, analyses, reviews, conversations, what was taught.')
    .requiredOption('--repository <owner/name>', 'whose builds')
    .option('--older-than <days>', 'only what was received before so many days', positive)
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
    .description('Delete now what is older than FAULTLINE_RETENTION_LOGS_DAYS and FAULTLINE_RETENTION_BUILDS_DAYS say.')
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(
      guarded(async (options: RetainOptions) => {
        const { runRetain } = await import('./retention-command.ts');
        await runRetain(options);
      }),
    );
}
