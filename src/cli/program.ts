import { Argument, Command, CommanderError, Option } from 'commander';
import { CI_SYSTEM_NAMES } from '../domain/build.ts';
import { TriageError } from '../domain/errors.ts';
import { RELEASE } from '../domain/trust.ts';
import {
  calibrateCommand,
  compareCommand,
  createCasesCommand,
  createRecordingsCommand,
  replayCommand,
} from '../replay/commands/programs.ts';
import {
  addServiceOptions,
  createAnalystOption,
  createDataOption,
  createJsonOption,
  createProfileOption,
  loadAction,
  loadTerminalConfig,
  parsePort,
  parsePositive,
  runGuarded,
  type ServerOptions,
} from './command-parts.ts';
import { bisectCommand, confirmCommand, tryFixCommand } from './experiments/experiment-programs.ts';
import { createReviewCommand } from './review/review-program.ts';
import {
  createCompletionCommand,
  createKnowledgeCommand,
  createTokenCommand,
  createWorkCommand,
  deleteCommand,
  importCommand,
  reportCommand,
  retainCommand,
} from './store/store-programs.ts';
import { EXIT, EXIT_HELP, endQuietlyOnClosedPipe, print, reportError } from './terminal.ts';
import type { TriageCommandOptions } from './triage/triage-command.ts';

const EXAMPLES = `Examples:
  faultline triage build.log
  npm test 2>&1 | faultline triage -
  faultline triage build.log --junit report.xml --repo . --json
  faultline serve --demo`;

const INPUT_HELP =
  'a log or test report (plain, gzip or Zstandard), a zip or tar archive or a directory of them, ' +
  'or - for standard input';

const FILES_HELP =
  'more files from the build (reports, server logs, crash reports); ' +
  'files that show a failure or that the log refers to are read';

/**
 * Creates every command and its help. Commands load their modules when they are called, because `--help` and
 * `read` must not wait for a database or a graph. A usage error throws commander's CommanderError after its
 * message went to standard error.
 */
export function createProgram(): Command {
  const program = new Command('faultline')
    .description(
      'CI failure triage: category, root cause, fix, suspects, and the exact log lines that prove it.',
    )
    .version(RELEASE)
    // An option belongs to the command before it. `review` and its subcommands have some options in common.
    .enablePositionalOptions()
    .addHelpText('after', `\n${EXIT_HELP}\n\n${EXAMPLES}`);
  for (const command of [
    triageCommand(),
    readCommand(),
    confirmCommand(),
    bisectCommand(),
    tryFixCommand(),
    replayCommand(),
    createCasesCommand(),
    createRecordingsCommand(),
    compareCommand(),
    calibrateCommand(),
    serveCommand(),
    createWorkerCommand(),
    searchCommand(),
    askCommand(),
    createReviewCommand(),
    traceCommand(),
    createMcpCommand(),
    createSkillCommand(),
    importCommand(),
    reportCommand(),
    deleteCommand(),
    retainCommand(),
    createKnowledgeCommand(),
    createTokenCommand(),
    createWorkCommand(),
    createMigrateCommand(),
    createDoctorCommand(),
    connectCommand(),
    createCompletionCommand(),
  ])
    program.addCommand(command);
  return settle(program, 'faultline');
}

/**
 * Configures a command and its subcommands: usage errors are thrown, and their hint names the command whose
 * help applies.
 */
function settle(command: Command, path: string): Command {
  command.exitOverride().showHelpAfterError(`(run ${path} --help for usage)`);
  for (const child of command.commands) settle(child, `${path} ${child.name()}`);
  return command;
}

const TRIAGE_EXAMPLES = `
Examples:
  faultline triage build.log
  gh run view 812 --log-failed | faultline triage -
  faultline triage logs.zip --junit reports/*.xml --repo .
  faultline triage build.log --green last-good.log --json
  faultline triage --run https://github.com/shop/api/actions/runs/4711 --repo .
  faultline triage build.log --repo . --confirm "npx vitest run"
  faultline triage build.log --analyst llm --trace
  faultline triage logs/ --each --json`;

function triageCommand(): Command {
  return new Command('triage')
    .description('Explain why a build failed, from its log. Needs no server, configuration or key.')
    .argument('[input]', INPUT_HELP)
    .argument('[files...]', FILES_HELP)
    .addOption(
      new Option(
        '--run <url or id>',
        'fetch this failed run instead: its address, its id in the repository of --repo, or ' +
          'job/NAME/NUMBER of Jenkins; needs the token of that CI',
      ).conflicts('each'),
    )
    .option(
      '--junit <file...>',
      'test reports of the build (JUnit XML, TRX, TAP, CTRF, go test -json and others)',
    )
    .option('--repo <dir>', 'local clone to read for suspects and blame (default: none)')
    .option('--commit <id>', 'with --repo: the commit, branch or tag that was built (default: the checkout)')
    .option(
      '--green-commit <id>',
      'with --repo: the last good commit, branch or tag; changes since then are suspect',
    )
    .option('--green <file>', 'log of a green build of the same job; lines found in both are not evidence')
    .addOption(createAnalystOption())
    .addOption(createProfileOption())
    .option(
      '--confirm <command>',
      'failing command to run again in --repo (default: here) and on the base; see faultline confirm',
    )
    .option('--budget <tokens>', 'log tokens that the analyst may use', parsePositive)
    .addOption(createJsonOption().conflicts('github'))
    .option('--plain', 'no color, no box: one Key<tab>value per line, as in a pipe')
    .option('--quiet', 'print only the result, without progress or hints')
    .option('--github', 'print GitHub Actions workflow commands: ::error file=…')
    .option('--trace', 'also print every step: judge, tools called, time, tokens and cost')
    .option('--exit-code', 'exit with 10 if any answer needs review, 11 if all are INFRA_ERROR')
    .addOption(
      new Option('--each', 'analyze each file, or each file of a directory, by itself').conflicts([
        'github',
        'junit',
        'confirm',
      ]),
    )
    .addHelpText('after', TRIAGE_EXAMPLES)
    .action(
      runGuarded(async (named: string | undefined, files: string[], options: TriageCommandOptions) => {
        const input = requireInput(named, options);
        const config = await loadTerminalConfig({ ...options, fetchesRun: options.run !== undefined });
        if (options.each !== true)
          return await (await import('./triage/triage-command.ts')).runTriage(
            input,
            {
              ...options,
              files: options.run === undefined || named === undefined ? files : [named, ...files],
            },
            config,
          );
        return await (await import('./triage/triage-each.ts')).runTriageEach(
          [input, ...files],
          options,
          config,
        );
      }),
    );
}

/** Returns the input of `triage`, which a run replaces. Throws `invalid-config` if there is neither. */
function requireInput(input: string | undefined, { run }: TriageCommandOptions): string {
  const given = input ?? run;
  if (given !== undefined) return given;
  throw new TriageError('invalid-config', 'Name a log, or a run with --run. See faultline triage --help');
}

function readCommand(): Command {
  return new Command('read')
    .description(
      'Read a log without analyzing it: excerpts with exact lines, failing tests, messages, fingerprint.',
    )
    .argument('<input>', INPUT_HELP)
    .option(
      '--junit <file...>',
      'test reports of the build (JUnit XML, TRX, TAP, CTRF, go test -json and others)',
    )
    .option('--green <file>', 'log of a green build of the same job')
    .option('--budget <tokens>', 'size of the excerpts in tokens', parsePositive, 2000)
    .addOption(createJsonOption())
    .action(loadAction(async () => (await import('./triage/read-command.ts')).runRead));
}

const SERVE_EXAMPLES = `
Examples:
  faultline serve --demo                  try it: sample failures, an address and a token
  faultline serve --data /srv/faultline   keep everything in one directory
  FAULTLINE_GITHUB_WEBHOOK_SECRET=… faultline serve --port 8080`;

function serveCommand(): Command {
  return new Command('serve')
    .description('Run the service: webhooks, uploads, API, console and worker. Stop with Ctrl-C.')
    .addOption(createDataOption())
    .option('--port <n>', 'port to listen on; 0 picks a free port', parsePort)
    .option('--demo', 'also send sample failures over HTTP and print their analyses')
    .addHelpText('after', SERVE_EXAMPLES)
    .action(loadAction(async () => (await import('./serve/serve-command.ts')).runServe));
}

function createWorkerCommand(): Command {
  return new Command('worker')
    .description('Run a triage worker without the HTTP service.')
    .addOption(createDataOption())
    .action(loadAction(async () => (await import('./serve/serve-command.ts')).runWorker));
}

function traceCommand(): Command {
  const command = new Command('trace')
    .description(
      'Show every step of one analysis of a running service: judge, tools called, time, tokens and cost.',
    )
    .argument('<id>', 'analysis ID, as shown by `faultline review show` and the API');
  return addServiceOptions(command).action(
    loadAction(async () => (await import('./triage/triage-command.ts')).runTrace),
  );
}

function createMigrateCommand(): Command {
  return new Command('migrate')
    .description(
      'Update the database schema. Every start does this too; use this command to do it in advance.',
    )
    .option('--repair', 'compare the whole schema with the migrations and repair what differs; back up first')
    .addOption(createDataOption())
    .addOption(createJsonOption())
    .action(loadAction(async () => (await import('./store/store-commands.ts')).runMigrate));
}

function createDoctorCommand(): Command {
  return new Command('doctor')
    .description('Check every configured backend and print what to fix.')
    .addOption(createDataOption())
    .addOption(createJsonOption())
    .action(loadAction(async () => (await import('./setup/doctor.ts')).runDoctor));
}

const CONNECT_HELP = `
Examples:
  faultline connect github --url https://faultline.example
  faultline connect gitea --new-secret
  faultline connect gitlab --repository shop/api --create --test`;

/** Creates `faultline connect PROVIDER`, which shows and tests the webhook, its secret, and the token. */
function connectCommand(): Command {
  return new Command('connect')
    .description(
      'Show how to connect a CI system: webhook, secret and token; ' +
        'check permissions, create the webhook and send a test delivery.',
    )
    .addArgument(new Argument('<provider>', 'which CI system').choices(CI_SYSTEM_NAMES))
    .option('--repository <owner/name>', 'repository to check and connect, as named on its host')
    .option(
      '--url <address>',
      'URL at which the provider reaches this service (default: $FAULTLINE_PUBLIC_URL)',
    )
    .option('--new-secret', 'create and print a webhook secret')
    .option('--create', 'create the webhook through the API, with the configured token')
    .option('--test', "send a test delivery: the provider's own if it offers one, and a signed one from here")
    .addOption(createDataOption())
    .addOption(createJsonOption())
    .addHelpText('after', CONNECT_HELP)
    .action(loadAction(async () => (await import('./setup/connect-command.ts')).runConnect));
}

/** Runs the command line to its end. Then `process.exitCode` has the result. Never throws. */
export async function runProgram(argv: readonly string[]): Promise<void> {
  endQuietlyOnClosedPipe();
  try {
    await createProgram().parseAsync(argv);
  } catch (error) {
    const json = argv.includes('--json');
    if (error instanceof CommanderError) await endUsage(error, json);
    else await reportError(error, json);
  }
}

/**
 * Ends with a usage error. Commander has printed its message to standard error; scripts that requested JSON
 * get it there as well.
 */
async function endUsage(error: CommanderError, json: boolean): Promise<void> {
  if (error.exitCode === 0) return;
  process.exitCode = EXIT.usage;
  const message = error.message.replace(/^error: /, '');
  if (json) await print(JSON.stringify({ ok: false, schema: 1, error: { code: 'usage', message } }));
}

const SEARCH_HELP = `
Filters: repo: category: branch: test: file: is: since: until: build: commit: author: fingerprint:
Examples:
  faultline search 'repo:shop/api category:INFRA_ERROR since:7d "ECONNRESET"'
  faultline search test:checkout is:flaky --json`;

/**
 * Creates `faultline search`, which searches the failures of a running service by their text and their
 * properties.
 */
function searchCommand(): Command {
  const command = new Command('search')
    .description('Search the failures of a running service, newest first, as the console does.')
    .argument('<query...>', 'words and filters')
    .option('--limit <n>', 'number of failures to show, at most 200', parsePositive, 20)
    .addHelpText('after', SEARCH_HELP);
  return addServiceOptions(command).action(
    runGuarded(async (query: string[], options: ServerOptions & { readonly limit: number }) =>
      (await import('./search-command.ts')).runSearch(query.join(' '), options),
    ),
  );
}

const ASK_EXAMPLES = `
Examples:
  faultline ask ana_01j… "how did it fail?"
  faultline ask github:812 "what is different from the last green build?"
  faultline ask ana_01j… --resume
  faultline ask build.log "who broke it?" --repo .
  faultline ask . "where is createServer defined?"
  faultline ask contracts/ --documents "what is the penalty for late delivery?"`;

/** Creates `faultline ask`, which answers follow-up questions, one at a time or in a session. */
function askCommand(): Command {
  return new Command('ask')
    .description(
      'Ask about a repository, a folder of documents, a log or an analysis. On a terminal, without a ' +
        'question, opens a session.',
    )
    .argument(
      '<target>',
      'the folder of a repository or of documents; a log to analyze first; or the ID of an analysis ' +
        'or build (or provider:number)',
    )
    .argument('[question]', 'the question, as one argument')
    .option('--thread <id>', 'continue this thread')
    .option('--resume', 'continue the newest thread about it')
    .option('--repo <dir>', 'with a log: local clone to read code from')
    .option('--code', 'a folder: ask about the repository in it')
    .option('--documents', 'a folder: ask about the documents in it')
    .option('--scan-threads <n>', 'documents: number that is read at once (default: 4)', parsePositive)
    .option('--preview <n>', 'documents: length of each preview in characters (default: 1500)', parsePositive)
    .option('--logs', 'a folder: analyze the logs in it first')
    .option(
      '--session-dir <dir>',
      'a folder or log: directory for its sessions (default: in the data directory)',
    )
    .addOption(createAnalystOption())
    .option(
      '--url <address>',
      'URL of the service (default: the data directory, or the service that uses it)',
    )
    .option('--token <token>', 'bearer token (default: $FAULTLINE_TOKEN or the one in the data directory)')
    .addOption(createDataOption())
    .addOption(createJsonOption())
    .option('--plain', 'no color, no streaming: one Key<tab>value per line, as in a pipe')
    .addHelpText('after', ASK_EXAMPLES)
    .action(loadAction(async () => (await import('./ask/ask-command.ts')).runAsk));
}

const MCP_HELP = `
Agent configuration:
  { "mcpServers": { "faultline": { "command": "faultline", "args": ["mcp"] } } }
A running service also serves MCP at /mcp (Streamable HTTP, bearer token with the role read).`;

/** Creates `faultline mcp`, which serves tools to agents. */
function createMcpCommand(): Command {
  return new Command('mcp')
    .description(
      'Serve tools to an agent over standard input and output (Model Context Protocol): ' +
        'failures, causes, evidence, pasted logs.',
    )
    .option(
      '--url <address>',
      'URL of a running service (default: $FAULTLINE_URL, otherwise the data directory, or the ' +
        'service that uses it)',
    )
    .option('--token <token>', 'bearer token (default: $FAULTLINE_TOKEN or the one in the data directory)')
    .addOption(createDataOption())
    .option('--allow-feedback', "let the agent store a person's decisions; without it, access is read-only")
    .addHelpText('after', MCP_HELP)
    .action(loadAction(async () => (await import('./mcp-command.ts')).runMcp));
}

/** Creates `faultline skill`, which installs instructions for coding agents. */
function createSkillCommand(): Command {
  const skill = new Command('skill').description(
    'Install the skill ci-triage, which teaches coding agents to work on a failed build.',
  );
  skill
    .command('install')
    .description('Copy the skill into .agents/skills of this directory, where agents look for it.')
    .option('--dir <path>', 'another directory of skills, such as .claude/skills')
    .option('--user', 'install it into your home directory, for all projects')
    .option('--force', 'replace a skill that was changed')
    .addOption(createJsonOption())
    .action(loadAction(async () => (await import('./setup/skill-command.ts')).installSkill));
  skill
    .command('show')
    .description('Print the skill.')
    .action(loadAction(async () => (await import('./setup/skill-command.ts')).showSkill));
  return skill;
}
