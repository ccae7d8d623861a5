import { Command, Option } from 'commander';
import { dataOption, guarded, jsonOption } from './command-parts.ts';
import type { AddOptions } from './knowledge-team.ts';
import type { ServerOptions } from './server-options.ts';
import type { DataOptions } from './settings.ts';

const CATEGORIES = ['CODE_ERROR', 'INFRA_ERROR', 'CONFIG_ERROR', 'DEPENDENCY_ERROR', 'TEST_FAILURE'];

/** `faultline knowledge …`. */
export function knowledgeCommand(): Command {
  const knowledge = new Command('knowledge').description('Manage the documents that every analyst searches: built-in ones and your own.');
  knowledge
    .command('load')
    .description('Update the index in the data directory from the documents.')
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(guarded(async (options: DataOptions) => (await import('./store-commands.ts')).runKnowledgeLoad(options)));
  knowledge
    .command('search')
    .description('Search the index.')
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
      .option('--url <address>', 'use a running service at this URL (default: $FAULTLINE_URL, otherwise the data directory)')
      .option('--token <token>', 'bearer token of the service (default: $FAULTLINE_TOKEN or the one in the data directory)')
      .addOption(dataOption())
      .addOption(jsonOption());
  command('add', 'Import runbooks and post-mortems: Markdown, HTML, PDF, DOCX, PPTX, XLSX, plain text.')
    .argument('<paths...>', 'files, and folders with all their files')
    .addOption(new Option('--category <category>', 'failure category that they cover').choices(CATEGORIES))
    .option('--source <name>', 'name for a single document, instead of its path')
    .option('--dry-run', 'parse the documents without storing them')
    .action(guarded(async (paths: string[], options: AddOptions) => (await import('./knowledge-team.ts')).addKnowledge(paths, options)));
  command('list', 'List your documents.').action(
    guarded(async (options: ServerOptions) => (await import('./knowledge-team.ts')).listKnowledge(options)),
  );
  command('show', 'Show one of your documents, split into passages and masked.')
    .argument('<document>', 'its ID or source')
    .action(guarded(async (id: string, options: ServerOptions) => (await import('./knowledge-team.ts')).showKnowledge(id, options)));
  command('remove', 'Remove one of your documents.')
    .argument('<document>', 'its ID or source')
    .action(guarded(async (id: string, options: ServerOptions) => (await import('./knowledge-team.ts')).removeKnowledge(id, options)));
  command('reindex', 'Re-embed all documents with the configured model.').action(
    guarded(async (options: ServerOptions) => (await import('./knowledge-team.ts')).reindexKnowledge(options)),
  );
}
