import { Command } from 'commander';
import { dataOption, guarded, jsonOption } from './command-parts.ts';
import type { DataOptions } from './settings.ts';

/** `faultline knowledge …`. */
export function knowledgeCommand(): Command {
  const knowledge = new Command('knowledge').description('The curated documents that every analyst searches.');
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
  return knowledge;
}
