import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { BARE, COMPILE_ONCE } from './bare-environment.ts';

const MAIN = resolve(import.meta.dirname, '../../src/cli/main.ts');
const READY_MS = 240_000;

/** A running installation in its own process, as an operator starts it. */
export interface Service {
  readonly address: string;
  readonly process: ChildProcess;
  /** Returns the standard error output so far. */
  errors(): string;
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>;
}

export const TOKEN = 'test-token-of-an-administrator';

/** Starts `faultline serve` on a data directory and a free port, and waits until it listens. */
export async function startService(
  dataDir: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Service> {
  const child = spawn(process.execPath, [COMPILE_ONCE, MAIN, 'serve', '--data', dataDir, '--port', '0'], {
    env: {
      ...BARE,
      FAULTLINE_TOKENS: `admin:admin:${TOKEN}`,
      FAULTLINE_LOG_LEVEL: 'warn',
      FAULTLINE_RATE_LIMIT: '100000',
      // Whether an item hides its verdict depends on its random id.
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-100_000);
  });
  const exited = once(child, 'exit').then(([code]) => (typeof code === 'number' ? code : null));
  const address = await waitForListening(child, exited, () => errors).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  return {
    address,
    process: child,
    errors: () => errors,
    kill: async (signal) => {
      child.kill(signal);
      return exited;
    },
  };
}

function waitForListening(
  child: ChildProcess,
  exited: Promise<number | null>,
  errors: () => string,
): Promise<string> {
  return new Promise((resolvePromise, reject) => {
    let said = '';
    const timer = setTimeout(
      () => reject(new Error(`the service did not listen within ${READY_MS} ms: ${errors()}`)),
      READY_MS,
    );
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const address = /listening on (\S+)/.exec(said)?.[1];
      if (address === undefined) return;
      clearTimeout(timer);
      resolvePromise(address);
    });
    exited.then((code) => {
      clearTimeout(timer);
      reject(new Error(`the service ended with ${code} before it listened: ${errors()}`));
    }, reject);
  });
}
