import { styleText } from 'node:util';
import { messageOf, TriageError } from '../domain/errors.ts';
import { exitCodeOf } from './exit-codes.ts';

/** How to speak: results go to standard output, everything else to standard error. */
export interface Voice {
  /** Standard output is a terminal that wants colour. */
  readonly color: boolean;
  readonly width: number;
  /** Only the result. */
  readonly quiet: boolean;
}

const SILENCE_MS = 30_000;

export function voiceOf(options: { readonly plain?: boolean; readonly quiet?: boolean }): Voice {
  const wanted = process.stdout.isTTY === true && process.env.NO_COLOR === undefined && process.env.TERM !== 'dumb';
  return { color: wanted && options.plain !== true, width: Math.min(process.stdout.columns ?? 100, 120), quiet: options.quiet === true };
}

/** Says one line on standard error. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Prints the result and waits until it is written. */
export function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text.endsWith('\n') ? text : `${text}\n`, (error) => (error ? reject(error) : resolve()));
  });
}

/** Phases of a long piece of work on standard error: redrawn on a terminal, a line each elsewhere, never long silence. */
export function startProgress(voice: Voice): { phase(text: string): void; stop(): void } {
  if (voice.quiet) return { phase: () => undefined, stop: () => undefined };
  const live = process.stderr.isTTY === true && process.env.TERM !== 'dumb';
  let current = 'starting';
  const startedAt = Date.now();
  const timer = setInterval(() => {
    if (!live) say(`still working: ${current}, ${Math.round((Date.now() - startedAt) / 1000)} s`);
  }, SILENCE_MS);
  timer.unref();
  return {
    phase(text) {
      current = text;
      if (live) process.stderr.write(`\r\x1b[2K${text.slice(0, voice.width - 1)}`);
      else say(text);
    },
    stop() {
      clearInterval(timer);
      if (live) process.stderr.write('\r\x1b[2K');
    },
  };
}

/** Reports anything thrown: one sentence, the exit code; as JSON on standard output where JSON was asked for. */
export async function reportError(error: unknown, json: boolean): Promise<void> {
  process.exitCode = exitCodeOf(error);
  const code = error instanceof TriageError ? error.code : 'internal';
  if (json) await print(JSON.stringify({ ok: false, schema: 1, error: { code, message: messageOf(error) } }));
  const prefix = process.stderr.isTTY === true ? styleText('red', 'error', { validateStream: false }) : 'error';
  say(`${prefix}: ${messageOf(error)}`);
  if (code === 'internal' && error instanceof Error && process.env.FAULTLINE_DEBUG !== undefined) say(error.stack ?? '');
}

/** Ends with Ctrl-C or SIGTERM; a second Ctrl-C leaves at once. */
export function interruptSignal(): AbortSignal {
  const controller = new AbortController();
  const stop = () => {
    if (controller.signal.aborted) process.exit(130);
    process.exitCode = 130;
    controller.abort(new TriageError('cancelled', 'Interrupted'));
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return controller.signal;
}
