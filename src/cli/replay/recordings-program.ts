import { Command } from 'commander';
import { dataOption, guarded, jsonOption } from '../command-parts.ts';
import type { ExportRecordingsOptions, ListRecordingsOptions } from './recordings-command.ts';

/** `faultline recordings …`: how stored runs came to their answers; an embedded store can be opened only while no service runs on it. */
export function recordingsCommand(): Command {
  const recordings = new Command('recordings').description(
    'List or export the recordings of stored runs; `faultline replay --frozen` runs them again.',
  );
  const command = (name: string, description: string) =>
    recordings
      .command(name)
      .description(description)
      .option('--repository <name>', 'only of this repository, such as owner/name')
      .addOption(dataOption())
      .addOption(jsonOption());
  command('list', 'Every stored recording, the oldest first: ids of its triage and its answer, size, category, analyst.').action(
    guarded(async (options: ListRecordingsOptions) => (await import('./recordings-command.ts')).listRecordings(options)),
  );
  command('export', 'Write stored recordings with their answers, masked, one JSON object a line.')
    .requiredOption('--out <file>', 'where to')
    .option('--run <id...>', 'only these: ids of triages or of analyses')
    .action(guarded(async (options: ExportRecordingsOptions) => (await import('./recordings-command.ts')).exportRecordings(options)));
  return recordings;
}
