import { CommanderError } from 'commander';
import { EXIT } from './exit-codes.ts';
import { createProgram } from './program.ts';
import { endQuietlyOnClosedPipe, print, reportError } from './terminal.ts';

/** Runs the command line to its end; afterwards `process.exitCode` says how it went. Never throws. */
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

/** Commander has said its sentence on standard error; scripts that asked for JSON get it there too. */
async function endUsage(error: CommanderError, json: boolean): Promise<void> {
  if (error.exitCode === 0) return;
  process.exitCode = EXIT.usage;
  const message = error.message.replace(/^error: /, '');
  if (json) await print(JSON.stringify({ ok: false, schema: 1, error: { code: 'usage', message } }));
}
