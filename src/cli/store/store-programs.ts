import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { nameCodeHosts } from '../../domain/build.ts';
import {
  addServiceOptions,
  createDataOption,
  createJsonOption,
  loadAction,
  parsePositive,
  runGuarded,
} from '../command-parts.ts';
import { print } from '../terminal.ts';

/** The categories of the taxonomy, repeated here so that help does not load the schema. */
const CATEGORIES = ['CODE_ERROR', 'INFRA_ERROR', 'CONFIG_ERROR', 'DEPENDENCY_ERROR', 'TEST_FAILURE'];

export function createKnowledgeCommand(): Command {
  const knowledge = new Command('knowledge').description(
    'Manage the documents that every analyst searches: built-in ones and your own.',
  );
  knowledge
    .command('load')
    .description('Load the built-in documents into the index.')
    .addOption(createDataOption())
    .addOption(createJsonOption())
    .action(loadAction(async () => (await import('./store-commands.ts')).runKnowledgeLoad));
  knowledge
    .command('search')
    .description('Search the built-in documents.')
    .argument('<words>', 'what to search for, as one argument')
    .addOption(createDataOption())
    .addOption(createJsonOption())
    .action(loadAction(async () => (await import('./store-commands.ts')).runKnowledgeSearch));
  addTeamCommands(knowledge);
  return knowledge;
}

function addTeamCommands(knowledge: Command): void {
  const where = 'use a running service at this URL (default: $FAULTLINE_URL, otherwise the data directory)';
  const command = (name: string, description: string) =>
    addServiceOptions(knowledge.command(name).description(description), where, 'bearer token of the service');
  command('add', 'Import runbooks and post-mortems: Markdown, HTML, PDF, DOCX, PPTX, XLSX, plain text.')
    .argument('<paths...>', 'files, and folders with all their files')
    .addOption(new Option('--category <category>', 'failure category that they cover').choices(CATEGORIES))
    .option('--source <name>', 'name for a single document, instead of its path')
    .option('--dry-run', 'parse the documents without storing them')
    .action(loadAction(async () => (await import('./knowledge-command.ts')).addKnowledge));
  command('list', 'List your documents.').action(
    loadAction(async () => (await import('./knowledge-command.ts')).listKnowledge),
  );
  command('show', 'Show one of your documents, split into passages and masked.')
    .argument('<document>', 'its ID or source')
    .action(loadAction(async () => (await import('./knowledge-command.ts')).showKnowledge));
  command('remove', 'Remove one of your documents.')
    .argument('<document>', 'its ID or source')
    .action(loadAction(async () => (await import('./knowledge-command.ts')).removeKnowledge));
  command('reindex', 'Re-embed all documents with the configured model.').action(
    loadAction(async () => (await import('./knowledge-command.ts')).reindexKnowledge),
  );
}

const ROLES = ['ingest', 'read', 'review', 'admin'];

export function createTokenCommand(): Command {
  const token = new Command('token').description(
    'Manage bearer tokens for sending builds, reading, reviewing and administration.',
  );
  const where = 'use a running service at this URL (default: $FAULTLINE_URL, otherwise the database)';
  const command = (name: string, description: string) =>
    addServiceOptions(token.command(name).description(description), where, 'admin bearer token');
  command('make', 'Create a token and print it once; only its hash is stored.')
    .requiredOption('--name <name>', 'name of the holder, also shown on review decisions')
    .addOption(
      new Option('--role <role...>', 'what it may do; admin includes all roles')
        .choices(ROLES)
        .makeOptionMandatory(),
    )
    .option('--expires <days>', 'lifetime, such as 90d (default: no expiry)', parseDays)
    .option(
      '--repository <repository...>',
      'repositories it may access: owner/name or owner/* (default: all)',
    )
    .action(loadAction(async () => (await import('./store-commands.ts')).makeAccessToken));
  command('list', 'List the newest 200 tokens with their holders, roles and last use.').action(
    loadAction(async () => (await import('./store-commands.ts')).listTokens),
  );
  command('revoke', 'Revoke a token. A running service accepts it for up to 10 more seconds.')
    .argument('<token>', 'its name or ID')
    .action(loadAction(async () => (await import('./store-commands.ts')).revokeToken));
  return token;
}

/** Parses `90d`, `12w`, or `90` and returns days. */
function parseDays(text: string): number {
  const [, number, unit = 'd'] = /^(\d{1,5})([dw])?$/.exec(text) ?? [];
  const value = Number(number) * (unit === 'w' ? 7 : 1);
  if (Number.isSafeInteger(value) && value >= 1 && value <= 3650) return value;
  throw new InvalidArgumentError('Use days or weeks from 1d to 3650d, such as 90d or 12w.');
}

/**
 * Creates `faultline work …`, which inspects the work table directly. An embedded database can be opened only
 * while no service uses it.
 */
export function createWorkCommand(): Command {
  const work = new Command('work').description('Inspect pending and failed work, and retry it.');
  const command = (name: string, description: string) =>
    work
      .command(name)
      .description(description)
      .option('--topic <topic>', 'only this kind of work, such as triage or publish:webhook')
      .addOption(createDataOption())
      .addOption(createJsonOption());
  command('list', 'List pending work in processing order, and work that failed permanently.')
    .option('--limit <number>', 'maximum rows of each kind', parsePositive)
    .action(loadAction(async () => (await import('./store-commands.ts')).listWork));
  command('retry', 'Retry work that failed permanently or waits for its next attempt.')
    .argument('<key>', 'its key, as shown by `faultline work list`: for a triage the ID of the build')
    .action(loadAction(async () => (await import('./store-commands.ts')).retryWork));
  return work;
}

/** Creates `faultline delete`, which deletes a repository from every store. */
export function deleteCommand(): Command {
  return new Command('delete')
    .description(
      'Delete all data of a repository from every store: builds, logs, analyses, reviews, ' +
        'conversations, library entries.',
    )
    .requiredOption('--repository <owner/name>', 'repository to delete')
    .option('--older-than <days>', 'delete only data older than this many days', parsePositive)
    .option('--dry-run', 'only count what would be deleted')
    .addOption(createDataOption())
    .addOption(createJsonOption())
    .action(loadAction(async () => (await import('./store-commands.ts')).runDelete));
}

/** Creates `faultline retain`, which runs the hourly deletion of the worker immediately. */
export function retainCommand(): Command {
  return new Command('retain')
    .description(
      'Delete everything older than FAULTLINE_RETENTION_LOGS_DAYS and FAULTLINE_RETENTION_BUILDS_DAYS now.',
    )
    .addOption(createDataOption())
    .addOption(createJsonOption())
    .action(loadAction(async () => (await import('./store-commands.ts')).runRetain));
}

const IMPORT_HELP = `
Examples:
  faultline import --repository shop/api --since 30d
  faultline report --repository shop/api`;

/**
 * Creates `faultline import`, which imports past runs of a repository, so that history exists on the first
 * day.
 */
export function importCommand(): Command {
  return new Command('import')
    .description(
      `Read past runs of a repository from ${nameCodeHosts()}, and analyze those that failed. ` +
        'Nobody is notified of them.',
    )
    .requiredOption('--repository <owner/name>', 'repository to import, as named on its host')
    .option('--since <days>', 'how far back, such as 30d or 12w', parseDays, 30)
    .option('--provider <name>', 'where to import from (default: the only configured provider)')
    .option('--limit <runs>', 'maximum number of runs to import, newest first', parsePositive, 500)
    .addOption(createDataOption())
    .addOption(createJsonOption())
    .addHelpText('after', IMPORT_HELP)
    .action(loadAction(async () => (await import('./import-command.ts')).runImport));
}

/** Creates `faultline report`, which shows the answers for the stored builds. */
export function reportCommand(): Command {
  return new Command('report')
    .description(
      'Print the answers for the builds of a repository, including imported ones: ' +
        'category, cause, and whether published or for review.',
    )
    .requiredOption('--repository <owner/name>', 'repository to report on')
    .option('--since <days>', 'how far back, such as 30d or 12w', parseDays, 30)
    .addOption(createDataOption())
    .addOption(createJsonOption())
    .action(loadAction(async () => (await import('./import-command.ts')).runReport));
}

const COMPLETION_HELP = `
Load it now, or every time the shell starts:
  bash   source <(faultline completion bash)            in ~/.bashrc
  zsh    source <(faultline completion zsh)             in ~/.zshrc, after compinit
  fish   faultline completion fish | source             in ~/.config/fish/config.fish`;

/** Creates `faultline completion SHELL`, which prints a script generated from the commands themselves. */
export function createCompletionCommand(): Command {
  return new Command('completion')
    .description('Print a shell script that completes commands, options, values and file names.')
    .addArgument(new Argument('<shell>', 'which shell').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', COMPLETION_HELP)
    .action(
      runGuarded(async (shell: 'bash' | 'zsh' | 'fish', _options: object, command: Command) => {
        const { generateCompletion: completionFor } = await import('../completion.ts');
        await print(completionFor(shell, command.parent ?? command));
      }),
    );
}
