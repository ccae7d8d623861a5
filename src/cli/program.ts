import { Command } from 'commander';
import { askCommand } from './ask-program.ts';
import type { BenchReadOptions } from './bench-command.ts';
import { analystOption, dataOption, guarded, jsonOption, port, positive, profileOption, terminalConfig } from './command-parts.ts';
import { completionCommand } from './completion-program.ts';
import { EXIT_HELP } from './exit-codes.ts';
import { knowledgeCommand } from './knowledge-command.ts';
import { mcpCommand } from './mcp-program.ts';
import { queueCommand } from './queue-program.ts';
import type { ReadCommandOptions } from './read-command.ts';
import { calibrateCommand } from './replay/calibrate-program.ts';
import { casesCommand } from './replay/cases-program.ts';
import { compareCommand } from './replay/compare-program.ts';
import { recordingsCommand } from './replay/recordings-program.ts';
import { replayCommand } from './replay/replay-program.ts';
import { deleteCommand, retainCommand } from './retention-program.ts';
import { reviewCommand } from './review-program.ts';
import type { ServeCommandOptions } from './serve-command.ts';
import { asksService, type ServerOptions, serverOf } from './server-options.ts';
import type { DataOptions } from './settings.ts';
import { tokenCommand } from './token-command.ts';
import type { TriageCommandOptions } from './triage-command.ts';
import { VERSION } from './version.ts';

const EXAMPLES = `Examples:
  faultline triage build.log
  npm test 2>&1 | faultline triage -
  faultline triage build.log --junit report.xml --repo . --json
  faultline serve --demo`;

const INPUT_HELP = 'a log or test report (plain, gzip or Zstandard), a zip or tar archive or a directory of them, or - for standard input';

const FILES_HELP =
  'more files from the build (reports, server logs, crash reports); files that show a failure or that the log refers to are read';

/**
 * Every command and its help. Commands load what they need when they are called: `--help` and `read` must not wait for a
 * database or a graph. Wrong usage throws commander's CommanderError, after its sentence went to standard error.
 */
export function createProgram(): Command {
  const program = new Command('faultline')
    .description('CI failure triage: category, root cause, fix, suspects, and the exact log lines that prove it.')
    .version(VERSION)
    // An option belongs to the command that it stands behind: `review` and its commands share some.
    .enablePositionalOptions()
    .addHelpText('after', `\n${EXIT_HELP}\n\n${EXAMPLES}`);
  for (const command of [
    triageCommand(),
    readCommand(),
    replayCommand(),
    casesCommand(),
    recordingsCommand(),
    compareCommand(),
    calibrateCommand(),
    serveCommand(),
    workerCommand(),
    askCommand(),
    reviewCommand(),
    traceCommand(),
    mcpCommand(),
  ]) {
    program.addCommand(command);
  }
  program.addCommand(deleteCommand()).addCommand(retainCommand());
  for (const command of [
    knowledgeCommand(),
    tokenCommand(),
    queueCommand(),
    migrateCommand(),
    doctorCommand(),
    benchCommand(),
    completionCommand(),
  ])
    program.addCommand(command);
  return settle(program, 'faultline');
}

/** The same manners for every command: wrong usage is thrown, and its hint names the command whose help answers. */
function settle(command: Command, path: string): Command {
  command.exitOverride().showHelpAfterError(`(run ${path} --help for usage)`);
  for (const child of command.commands) settle(child, `${path} ${child.name()}`);
  return command;
}

function triageCommand(): Command {
  return new Command('triage')
    .description('Explain why a build failed, from its log. Needs no server, configuration or key.')
    .argument('<input>', INPUT_HELP)
    .argument('[files...]', FILES_HELP)
    .option('--junit <file...>', 'test reports of the build (JUnit XML, TRX, TAP, CTRF, go test -json and others)')
    .option('--repo <dir>', 'local clone to read for suspects and blame (default: none)')
    .option('--commit <id>', 'with --repo: the commit, branch or tag that was built (default: the checkout)')
    .option('--green-commit <id>', 'with --repo: the last good commit, branch or tag; changes since then are suspect')
    .option('--green <file>', 'log of a green build of the same job; lines found in both are not evidence')
    .addOption(analystOption())
    .addOption(profileOption())
    .option('--budget <tokens>', 'log tokens that the analyst may use', positive)
    .addOption(jsonOption().conflicts('github'))
    .option('--plain', 'no color, no box: one Key<tab>value per line, as in a pipe')
    .option('--quiet', 'print only the result, without progress or hints')
    .option('--github', 'print GitHub Actions workflow commands: ::error file=…')
    .option('--trace', 'also print every step: judge, tools called, time, tokens and cost')
    .option('--exit-code', 'exit with 10 if the answer needs review, 11 for INFRA_ERROR')
    .action(
      guarded(async (input: string, files: string[], options: TriageCommandOptions) => {
        const { runTriage } = await import('./triage-command.ts');
        await runTriage(input, { ...options, files }, await terminalConfig(options));
      }),
    );
}

function readCommand(): Command {
  return new Command('read')
    .description('Read a log without analyzing it: excerpts with exact lines, failing tests, messages, fingerprint.')
    .argument('<input>', INPUT_HELP)
    .option('--junit <file...>', 'test reports of the build (JUnit XML, TRX, TAP, CTRF, go test -json and others)')
    .option('--green <file>', 'log of a green build of the same job')
    .option('--budget <tokens>', 'size of the excerpts in tokens', positive, 2000)
    .addOption(jsonOption())
    .action(
      guarded(async (input: string, options: Omit<ReadCommandOptions, 'maxBytes'>) => {
        const { runRead } = await import('./read-command.ts');
        await runRead(input, { ...options, maxBytes: (await terminalConfig()).http.maxLogBytes });
      }),
    );
}

function serveCommand(): Command {
  return new Command('serve')
    .description('Run the service: webhooks, uploads, API, console and worker. Stop with Ctrl-C.')
    .addOption(dataOption())
    .option('--port <n>', 'port to listen on; 0 picks a free port', port)
    .option('--demo', 'also send sample failures over HTTP and print their analyses')
    .action(
      guarded(async (options: ServeCommandOptions) => {
        const { runServe } = await import('./serve-command.ts');
        await runServe(options);
      }),
    );
}

function workerCommand(): Command {
  return new Command('worker')
    .description('Run a triage worker without the HTTP service.')
    .addOption(dataOption())
    .action(
      guarded(async (options: DataOptions) => {
        const { runWorker } = await import('./serve-command.ts');
        await runWorker(options);
      }),
    );
}

function traceCommand(): Command {
  const command = new Command('trace')
    .description('Show every step of one analysis of a running service: judge, tools called, time, tokens and cost.')
    .argument('<id>', 'analysis ID, as shown by `faultline review show` and the API');
  return asksService(command).action(
    guarded(async (id: string, options: ServerOptions) => {
      const { runTrace } = await import('./trace-command.ts');
      await runTrace(id, await serverOf(options));
    }),
  );
}

function migrateCommand(): Command {
  return new Command('migrate')
    .description('Update the database schema. Every start does this too; use this command to do it in advance.')
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(
      guarded(async (options: DataOptions) => {
        const { runMigrate } = await import('./store-commands.ts');
        await runMigrate(options);
      }),
    );
}

function doctorCommand(): Command {
  return new Command('doctor')
    .description('Check every configured backend and print what to fix.')
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(
      guarded(async (options: DataOptions) => {
        const { runDoctor } = await import('./doctor.ts');
        await runDoctor(options);
      }),
    );
}

function benchCommand(): Command {
  const read = new Command('read')
    .description('Measure the speed and memory use of reading logs, compared to ripgrep, grep and Drain3 if installed.')
    .argument('[logs...]', 'logs to read (default: generated logs)')
    .option('--size <MiB>', 'size of the text to search', positive, 200)
    .option('--large <MiB>', 'size of the largest log; the smaller one is a fifth of it', positive, 1024)
    .option('--hostile <MiB>', 'size of each hostile log', positive, 100)
    .option('--rounds <n>', 'interleaved rounds; the median is reported', positive, 5)
    .option('--budget <tokens>', 'log tokens to keep from each', positive, 8000)
    .option('--python <path>', 'Python executable with Drain3', 'python3')
    .addOption(jsonOption())
    .action(
      guarded(async (logs: string[], options: BenchReadOptions) => {
        const { runBenchRead } = await import('./bench-command.ts');
        await runBenchRead(logs, options);
      }),
    );
  return new Command('bench').description('Measure speed and memory on this machine.').addCommand(read);
}
