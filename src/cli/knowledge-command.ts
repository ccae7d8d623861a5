import { Command, Option } from 'commander';
import { dataOption, guarded, jsonOption } from './command-parts.ts';
import type { AddOptions } from './knowledge-team.ts';
import type { ServerOptions } from './server-options.ts';
import type { DataOptions } from './settings.ts';

const CATEGORIES = ['CODE_ERROR', 'INFRA_ERROR', 'CONFIG_ERROR', 'DEPENDENCY_ERROR', 'TEST_FAILURE'];

/** `faultline knowledge …`. */
export function knowledgeCommand(): Command {
  const knowledge = new Command('knowledge').description('The documents that every analyst searches: curated ones, and your own.');
  knowledge
    .command('load')
    .description('Bring the index of the data directory up to date with the documents.')
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(guarded(async (options: DataOptions) => (await import('./store-commands.ts')).runKnowledgeLoad(options)));
  knowledge
    .command('search')
    .description('What the index finds for these words.')
    .argument('<words>', 'what to search for, as one argument')
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(
      guarded(async (words: string, options: DataOptions) => (await import('./store-commands.ts')).runKnowledgeSearch(words, options)),
    );
  addTeamCommands(knowledge);
  return knowledge;
}

function addTeamCommands(knowledge: Command): void {
  const command = (name: string, description: string) =>
    knowledge
      .command(name)
      .description(description)
      .option('--url <address>', 'ask a running service at this address (default: $FAULTLINE_URL; else the data directory)')
      .option('--token <token>', 'bearer token of the service (default: $FAULTLINE_TOKEN or the one in the data directory)')
      .addOption(dataOption())
      .addOption(jsonOption());
  command('add', 'Bring runbooks and post-mortems in: Markdown, HTML, PDF, DOCX, PPTX, XLSX, plain text.')
    .argument('<paths...>', 'files, and folders with all that is in them')
    .addOption(new Option('--category <category>', 'what kind of failure they are about').choices(CATEGORIES))
    .option('--source <name>', 'name under which one path is kept, instead of the path itself')
    .option('--dry-run', 'read and cut them, and store nothing')
    .action(guarded(async (paths: string[], options: AddOptions) => (await import('./knowledge-team.ts')).addKnowledge(paths, options)));
  command('list', 'Your documents that are in.').action(
    guarded(async (options: ServerOptions) => (await import('./knowledge-team.ts')).listKnowledge(options)),
  );
  command('show', 'One of your documents, as it was cut and masked.')
    .argument('<document>', 'its id, or its source')
    .action(guarded(async (id: string, options: ServerOptions) => (await import('./knowledge-team.ts')).showKnowledge(id, options)));
  command('remove', 'Take one of your documents out.')
    .argument('<document>', 'its id, or its source')
    .action(guarded(async (id: string, options: ServerOptions) => (await import('./knowledge-team.ts')).removeKnowledge(id, options)));
  command('reindex', 'Embed all documents anew with the configured model.').action(
    guarded(async (options: ServerOptions) => (await import('./knowledge-team.ts')).reindexKnowledge(options)),
  );
}
