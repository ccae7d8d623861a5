import { Command } from 'commander';
import { dataOption, guarded, jsonOption, positive } from './command-parts.ts';
import type { QueueCommandOptions } from './queue-command.ts';

/** `faultline queue …`: looks into the configured queue itself; an embedded one can be opened only while no service runs on it. */
export function queueCommand(): Command {
  const queue = new Command('queue').description('See what is owed and what was given up, and ring for it anew.');
  const command = (name: string, description: string) =>
    queue.command(name).description(description).addOption(dataOption()).addOption(jsonOption());
  command('list', 'What waits to be triaged, in the order of turns, and what rings for it.')
    .option('--limit <number>', 'rows of each kind', positive)
    .action(guarded(async (options: QueueCommandOptions) => (await import('./queue-command.ts')).listQueue(options)));
  command('dead', 'Jobs that failed for good, and rings that were given up after their last try.')
    .option('--limit <number>', 'rows of each kind', positive)
    .action(guarded(async (options: QueueCommandOptions) => (await import('./queue-command.ts')).listDead(options)));
  command('requeue', 'Owe a job anew and ring for it.')
    .argument('<id>', 'id of the job, as `faultline queue dead` prints it')
    .action(guarded(async (id: string, options: QueueCommandOptions) => (await import('./queue-command.ts')).requeue(id, options)));
  return queue;
}
