import { Command } from 'commander';
import { dataOption, guarded, jsonOption } from '../command-parts.ts';
import type { ExportRecordingsOptions, ListRecordingsOptions } from './recordings-command.ts';

/** `faultline recordings …`: how stored runs came to their answers; an embedded store can be opened only while no service runs on it. */
export function recordingsCommand(): Command {
  const recordings = new Command('recordings').description(
    'List or export the recordings of stored runs. `faultline replay --frozen` reruns them.',
  );
  const command = (name: string, description: string) =>
    recordings
      .command(name)
      .description(description)
      .option('--repository <name>', 'only this repository, such as owner/name')
      .addOption(dataOption())
      .addOption(jsonOption());
  command('list', 'List every stored recording, oldest first: triage and analysis IDs, size, category, analyst.').action(
    guarded(async (options: ListRecordingsOptions) => (await import('./recordings-command.ts')).listRecordings(options)),
  );
  command('export', 'Write stored recordings with their answers, masked, as one JSON object per line.')
    .requiredOption('--out <file>', 'output file')
    .option('--run <id...>', 'only these triage or analysis IDs')
    .action(guarded(async (options: ExportRecordingsOptions) => (await import('./recordings-command.ts')).exportRecordings(options)));
  return recordings;
}
