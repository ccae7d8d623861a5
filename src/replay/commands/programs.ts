import { Command, InvalidArgumentError, Option } from 'commander';
import {
  createAnalystOption,
  createDataOption,
  createJsonOption,
  createProfileOption,
  loadAction,
  loadTerminalConfig,
  parsePositive,
  runGuarded,
} from '../../cli/command-parts.ts';
import type { SliceBy } from '../figures/score.ts';
import type { CalibrateCommandOptions } from './calibrate-command.ts';
import type { ReplayCommandOptions } from './case-sources.ts';
import type { FrozenOptions } from './frozen-command.ts';

/** The slices that `scoreSlices` supports, repeated here so that help does not load the scoring code. */
const SLICES = ['project', 'owner', 'source', 'category'] as const satisfies readonly SliceBy[];

/**
 * Creates `faultline replay`, which runs labeled cases through the same triage and measures what their labels
 * allow.
 */
export function replayCommand(): Command {
  const command = new Command('replay')
    .description(
      'Replay labeled cases (a data set, a folder of logs, or your own failures) and print the ' +
        'resulting figures.',
    )
    .option('--dataset <path...>', 'JSONL, one case a row, or a case set; several give a table each')
    .addOption(
      new Option('--logs <folder...>', 'folders of logs with their categories; one table each').conflicts(
        'dataset',
      ),
    )
    .addOption(
      new Option('--reviewed', 'reviewed failures, with the reviewed category').conflicts([
        'dataset',
        'logs',
      ]),
    )
    .addOption(
      new Option('--stored', 'all stored failures, with the reviewed category if any').conflicts([
        'dataset',
        'logs',
        'reviewed',
      ]),
    );
  addStoreFilters(command, 'with --reviewed or --stored: ');
  return addRunOptions(addFigureOptions(command))
    .addOption(createJsonOption())
    .action(
      runGuarded(async (options: ReplayCommandOptions & Partial<FrozenOptions>) => {
        if (options.frozen !== undefined) {
          const { runFrozenReplay } = await import('./frozen-command.ts');
          return await runFrozenReplay({
            ...options,
            frozen: options.frozen,
            limits: options.limits ?? 'recorded',
          });
        }
        const { runReplay } = await import('./replay-command.ts');
        await runReplay(options, await loadTerminalConfig(options));
      }),
    );
}

/** Adds the options for the computed figures and the outputs. */
function addFigureOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--by <what>',
        'also break down the main figures by project, owner, source or category',
      ).choices(SLICES),
    )
    .option('--sample <n>', 'this many cases of each, chosen by ID, so always the same ones', parsePositive)
    .option('--repeat <n>', 'run the cases this many times, for models whose answers vary', parsePositive, 1)
    .option('--out <file>', 'write one JSON object per case as they finish; overwrites the file')
    .addOption(
      new Option(
        '--keep <name>',
        'keep the run under this name, for the console to compare (Insights → Models)',
      ).conflicts('out'),
    )
    .option('--resume', 'continue an interrupted run from its --out file, or with --keep')
    .option('--html <file>', 'write a report as a self-contained HTML page')
    .option('--junit <file>', 'write a JUnit report for CI servers')
    .option(
      '--gate <file>',
      'check the figures against the bars in this file; exit with 12 if one is missed beyond noise ' +
        '(docs/how-to/compare.md)',
    )
    .option(
      '--judge [repeats]',
      'let the configured model compare explanations with their labels; ' +
        'reported separately and never used by gates',
      parsePositive,
    );
}

/** Adds the options that say how the cases are run. */
function addRunOptions(command: Command): Command {
  return command
    .addOption(createAnalystOption())
    .addOption(createProfileOption())
    .option('--model <name>', 'model for --analyst llm, instead of the configured one')
    .option('--budget <tokens>', 'log tokens that the analyst may use', parsePositive)
    .option('--concurrency <n>', 'cases in parallel', parsePositive, 4)
    .option('--max-usd <dollars>', 'start no more cases once model costs reach this amount', parseAmount)
    .option('--max-minutes <minutes>', 'start no more cases after this many minutes', parseAmount)
    .addOption(new Option('--only <step>', 'stop after this step').choices(['read']))
    .option('--no-green', 'do not use the green logs named in rows')
    .option(
      '--without <stages...>',
      'leave out these stages, to measure their value (see docs/evidence/ablations.md)',
    )
    .addOption(
      new Option(
        '--design <design>',
        'how answers are produced: the agent loop, or the linear baseline',
      ).choices(['loop', 'linear']),
    )
    .option('--record <file>', 'write a recording of each run, one per line')
    .option(
      '--frozen [file]',
      'rerun recordings from this file or of stored runs, and report where they first differ',
    )
    .addOption(createDataOption())
    .option('--run <id...>', 'with --frozen: only these triage or analysis IDs')
    .addOption(
      new Option('--limits <which>', 'with --frozen: which limits apply')
        .choices(['recorded', 'configured'])
        .default('recorded'),
    );
}

function parseAmount(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('Use a number above 0.');
}

/** Adds the options that filter stored failures. They are the same for every command. */
function addStoreFilters(command: Command, where = ''): Command {
  return command
    .option('--repository <owner/name>', `${where}only this repository`)
    .option('--branch <name>', `${where}only this branch`)
    .option('--fingerprint <value>', `${where}only with this fingerprint`)
    .option('--category <category>', `${where}only this category, as reviewed or else as answered`)
    .option('--since <date>', `${where}only from this time on (2026-03-01, or with a time)`, parseMoment)
    .option('--until <date>', `${where}only before this time`, parseMoment);
}

/** Parses a date or a time and returns it as ISO 8601 in UTC. */
function parseMoment(text: string): string {
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  throw new InvalidArgumentError('Use a date such as 2026-03-01 or a time such as 2026-03-01T12:00:00Z.');
}

const PATH_HELP = 'a data set (JSONL), a case set, or a folder of logs';
const OUT_HELP = 'output folder; it must not exist yet';

/** Creates `faultline cases`, which manages the labeled failures for `faultline replay`. */
export function createCasesCommand(): Command {
  return new Command('cases')
    .description('Manage labeled failures for `faultline replay`: export, import, check and split them.')
    .addCommand(exportCommand())
    .addCommand(importCommand())
    .addCommand(checkCommand())
    .addCommand(splitCommand());
}

function exportCommand(): Command {
  const command = new Command('export')
    .description('Write stored failures with their masked logs and decisions as a case set.')
    .addOption(
      new Option('--reviewed', 'only reviewed failures, with the reviewed category').conflicts('stored'),
    )
    .option('--stored', 'all stored failures, with the reviewed category if any');
  return addStoreFilters(command)
    .requiredOption('--out <dir>', OUT_HELP)
    .addOption(createDataOption())
    .addOption(createJsonOption())
    .action(loadAction(async () => (await import('./cases-command.ts')).runCasesExport));
}

function importCommand(): Command {
  return new Command('import')
    .description(
      'Mask and check cases from elsewhere and write them as a case set. ' +
        'Invalid cases are reported and left out.',
    )
    .argument('<path>', PATH_HELP)
    .requiredOption('--out <dir>', OUT_HELP)
    .option(
      '--logs-in <dir>',
      "folder that must contain the logs of a data set (default: the data set's folder)",
    )
    .addOption(createJsonOption())
    .action(loadAction(async () => (await import('./cases-command.ts')).runCasesImport));
}

function checkCommand(): Command {
  return new Command('check')
    .description('Check every case and report problems with line and field. Exits with 3 if there are any.')
    .argument('<path>', PATH_HELP)
    .option('--no-logs', 'check only the rows, not the logs')
    .addOption(createJsonOption())
    .action(loadAction(async () => (await import('./cases-command.ts')).runCasesCheck));
}

function splitCommand(): Command {
  return new Command('split')
    .description('Split a data set into train.jsonl and test.jsonl, and find near-duplicates across them.')
    .argument('<path>', 'a data set (JSONL) or a case set')
    .addOption(
      new Option(
        '--by <what>',
        'time: the newest cases are for testing; project: no project is on both sides; random: ' +
          'by hash of the ID, with --seed',
      )
        .choices(['time', 'project', 'random'])
        .makeOptionMandatory(),
    )
    .option('--share <part>', 'share of the cases for testing', share, 0.3)
    .option('--seed <words>', 'for --by random: the same seed gives the same split')
    .option('--near <score>', 'minimum similarity of near-duplicates', share, 0.8)
    .option('--drop-duplicates', 'leave near-duplicates of test cases out of train.jsonl')
    .requiredOption('--out <dir>', OUT_HELP)
    .addOption(createJsonOption())
    .action(loadAction(async () => (await import('./cases-command.ts')).runCasesSplit));
}

/** Creates `faultline compare`, which compares two runs of the same cases in pairs. */
export function compareCommand(): Command {
  return new Command('compare')
    .description(
      'Compare two runs on the same cases: differences with intervals, cases won and lost, and cost.',
    )
    .requiredOption(
      '--dataset <path...>',
      'the replayed cases with their categories (JSONL or a folder); several get one comparison each',
    )
    .requiredOption(
      '--a <file...>',
      'results of the first side, from `faultline replay --out`; several files are repeats',
    )
    .requiredOption('--b <file...>', 'results of the second side')
    .option('--html <file>', 'write the comparison as a self-contained HTML page')
    .addOption(createJsonOption())
    .action(loadAction(async () => (await import('./compare-command.ts')).runCompare));
}

export function calibrateCommand(): Command {
  const command = new Command('calibrate')
    .enablePositionalOptions()
    .description(
      'Calibrate confidence on cases with known categories, and find thresholds for a given risk. ' +
        'Changes nothing without --out or --apply.',
    )
    .option('--dataset <file...>', 'cases with their category (JSONL); several files are fitted together')
    .option('--results <file...>', 'their results from `replay --out` (default: replay them now)')
    .option('--reviewed', 'reviewed answers in the database')
    .addOption(createAnalystOption())
    .addOption(
      new Option('--method <fit>', 'fitting method').choices(['auto', 'isotonic', 'platt']).default('auto'),
    )
    .option(
      '--risk <share>',
      'also find thresholds: at most this share of published answers may be wrong, such as 0.03',
      share,
    )
    .option('--confidence <share>', 'confidence that this risk is met', share, 0.95)
    .option('--concurrency <n>', 'cases in parallel', parsePositive, 4)
    .option('--out <file>', 'write the calibration to this file, for FAULTLINE_CALIBRATION')
    .option('--apply', 'store it in the database and put it in force; workers apply it within seconds')
    .addOption(createReplacesOption())
    .addOption(createDataOption())
    .addOption(createJsonOption())
    .action(
      runGuarded(async (options: CalibrateCommandOptions) =>
        (await import('./calibrate-command.ts')).runCalibrate(options, await loadTerminalConfig()),
      ),
    );
  const part = (name: string, description: string) =>
    command
      .command(name)
      .description(description)
      .addOption(createDataOption())
      .addOption(createJsonOption());
  part('list', 'List the newest 50 calibrations, which are in force, and who put them there.').action(
    loadAction(async () => (await import('./calibrations-command.ts')).listCalibrations),
  );
  part('use', 'Put a stored calibration in force for its analyst.')
    .argument('<version>', 'ID, as shown by `calibrate list`', parsePositive)
    .addOption(createReplacesOption())
    .action(loadAction(async () => (await import('./calibrations-command.ts')).useCalibration));
  part('off', 'Stop using a calibration.')
    .argument('<analyst>', 'analyst: rules, or "llm <model>"')
    .addOption(createReplacesOption())
    .action(loadAction(async () => (await import('./calibrations-command.ts')).endCalibration));
  return command;
}

function createReplacesOption(): Option {
  return new Option(
    '--replaces <version>',
    'the version now in force, or none (guards against overwriting another change)',
  ).argParser(parseVersion);
}

function parseVersion(text: string): number | 'none' {
  return text === 'none' ? 'none' : parsePositive(text);
}

/** Parses a number between 0 and 1, exclusive. */
function share(text: string): number {
  const value = Number(text);
  if (value > 0 && value < 1) return value;
  throw new InvalidArgumentError('Use a number between 0 and 1, such as 0.03.');
}

/**
 * Creates `faultline recordings …`, which shows how stored runs reached their answers. An embedded store
 * cannot be opened while a service uses it.
 */
export function createRecordingsCommand(): Command {
  const recordings = new Command('recordings').description(
    'List or export the recordings of stored runs. `faultline replay --frozen` reruns them.',
  );
  const command = (name: string, description: string) =>
    recordings
      .command(name)
      .description(description)
      .option('--repository <name>', 'only this repository, such as owner/name')
      .addOption(createDataOption())
      .addOption(createJsonOption());
  command(
    'list',
    'List every stored recording, oldest first: triage and analysis IDs, size, category, analyst.',
  ).action(loadAction(async () => (await import('./recordings-command.ts')).listRecordings));
  command('export', 'Write stored recordings with their answers, masked, as one JSON object per line.')
    .requiredOption('--out <file>', 'output file')
    .option('--run <id...>', 'only these triage or analysis IDs')
    .action(loadAction(async () => (await import('./recordings-command.ts')).exportRecordings));
  return recordings;
}
