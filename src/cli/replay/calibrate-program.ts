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
      'Fit what stated confidence means to cases whose truth is known, and find thresholds that keep to a risk. Changes nothing unless told to.',
    )
    .option('--dataset <file...>', 'cases with their category (JSONL); several are fitted together')
    .option('--results <file...>', 'what `replay --out` wrote for them; absent: they are replayed now')
    .option('--reviewed', 'the answers that people decided, of the database')
    .addOption(analystOption())
    .addOption(new Option('--method <fit>', 'how a map is fitted').choices(['auto', 'isotonic', 'platt']).default('auto'))
    .option('--risk <share>', 'also thresholds: at most this share of what is published may be wrong, such as 0.03', share)
    .option('--confidence <share>', 'how surely that is to hold', share, 0.95)
    .option('--concurrency <n>', 'cases at once', positive, 4)
    .option('--out <file>', 'write the calibration there, for FAULTLINE_CALIBRATION')
    .option('--apply', 'keep it in the database and put it in force; workers follow within seconds')
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
  part('list', 'The newest 50 calibrations that are kept, which are in force, and who put them there.').action(
    guarded(async (options: DataOptions) => (await import('./calibrate-store.ts')).listCalibrations(options)),
  );
  part('use', 'Put a kept calibration in force for its analyst.')
    .argument('<version>', 'as `calibrate list` names it', positive)
    .addOption(replacesOption())
    .action(
      guarded(async (version: number, options: UseOptions) => (await import('./calibrate-store.ts')).useCalibration(version, options)),
    );
  part('off', 'Take confidence as it is stated again.')
    .argument('<analyst>', 'whose: rules, or "llm <model>"')
    .addOption(replacesOption())
    .action(
      guarded(async (analyst: string, options: UseOptions) => (await import('./calibrate-store.ts')).endCalibration(analyst, options)),
    );
  return command;
}

function replacesOption(): Option {
  return new Option('--replaces <version>', 'the version that is in force now, or none: whoever changes it must know what').argParser(
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
  throw new InvalidArgumentError('It must be a share between 0 and 1, such as 0.03.');
}
