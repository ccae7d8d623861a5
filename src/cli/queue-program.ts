import { Command } from 'commander';
import { dataOption, guarded, jsonOption, positive } from './command-parts.ts';
import type { QueueCommandOptions } from './queue-command.ts';

/** `faultline queue …`: looks into the configured queue itself; an embedded one can be opened only while no service runs on it. */
export function queueCommand(): Command {
  const queue = new Command('queue').description('Inspect pending and failed jobs, and requeue them.');
  const command = (name: string, description: string) =>
    queue.command(name).description(description).addOption(dataOption()).addOption(jsonOption());
  command('list', 'List pending triage jobs in processing order, and the queue messages for them.')
    .option('--limit <number>', 'maximum rows of each kind', positive)
    .action(guarded(async (options: QueueCommandOptions) => (await import('./queue-command.ts')).listQueue(options)));
  command('dead', 'List jobs that failed permanently, and queue messages dropped after their last attempt.')
    .option('--limit <number>', 'maximum rows of each kind', positive)
    .action(guarded(async (options: QueueCommandOptions) => (await import('./queue-command.ts')).listDead(options)));
  command('requeue', 'Requeue a job.')
    .argument('<id>', 'job ID, as shown by `faultline queue dead`')
    .action(guarded(async (id: string, options: QueueCommandOptions) => (await import('./queue-command.ts')).requeue(id, options)));
  return queue;
}
