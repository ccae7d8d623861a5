import { Command, InvalidArgumentError, Option } from 'commander';
import { analystOption, dataOption, guarded, jsonOption, positive, terminalConfig } from '../command-parts.ts';
import type { DataOptions } from '../settings.ts';
import type { CalibrateCommandOptions } from './calibrate-options.ts';
import type { UseOptions } from './calibrate-store.ts';

/** `faultline calibrate …`. */
export function calibrateCommand(): Command {
  const command = new Command('calibrate')
    .enablePositionalOptions()
    .description(
      'Calibrate confidence on cases with known categories, and find thresholds for a given risk. Changes nothing without --out or --apply.',
    )
    .option('--dataset <file...>', 'cases with their category (JSONL); several files are fitted together')
    .option('--results <file...>', 'their results from `replay --out` (default: replay them now)')
    .option('--reviewed', 'reviewed answers in the database')
    .addOption(analystOption())
    .addOption(new Option('--method <fit>', 'fitting method').choices(['auto', 'isotonic', 'platt']).default('auto'))
    .option('--risk <share>', 'also find thresholds: at most this share of published answers may be wrong, such as 0.03', share)
    .option('--confidence <share>', 'confidence that this risk is met', share, 0.95)
    .option('--concurrency <n>', 'cases in parallel', positive, 4)
    .option('--out <file>', 'write the calibration to this file, for FAULTLINE_CALIBRATION')
    .option('--apply', 'store it in the database and put it in force; workers apply it within seconds')
    .addOption(replacesOption())
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(
      guarded(async (options: CalibrateCommandOptions) => {
        const { runCalibrate } = await import('./calibrate-command.ts');
        await runCalibrate(options, await terminalConfig());
      }),
    );
  const part = (name: string, description: string) =>
    command.command(name).description(description).addOption(dataOption()).addOption(jsonOption());
  part('list', 'List the newest 50 calibrations, which are in force, and who put them there.').action(
    guarded(async (options: DataOptions) => (await import('./calibrate-store.ts')).listCalibrations(options)),
  );
  part('use', 'Put a stored calibration in force for its analyst.')
    .argument('<version>', 'ID, as shown by `calibrate list`', positive)
    .addOption(replacesOption())
    .action(
      guarded(async (version: number, options: UseOptions) => (await import('./calibrate-store.ts')).useCalibration(version, options)),
    );
  part('off', 'Stop using a calibration.')
    .argument('<analyst>', 'analyst: rules, or "llm <model>"')
    .addOption(replacesOption())
    .action(
      guarded(async (analyst: string, options: UseOptions) => (await import('./calibrate-store.ts')).endCalibration(analyst, options)),
    );
  return command;
}

function replacesOption(): Option {
  return new Option('--replaces <version>', 'the version now in force, or none (guards against overwriting another change)').argParser(
    version,
  );
}

function version(text: string): number | 'none' {
  return text === 'none' ? 'none' : positive(text);
}

/** A share strictly between 0 and 1. */
function share(text: string): number {
  const value = Number(text);
  if (value > 0 && value < 1) return value;
  throw new InvalidArgumentError('Use a share between 0 and 1, such as 0.03.');
}
