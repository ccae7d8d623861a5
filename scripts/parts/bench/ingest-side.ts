import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** One of the two measured servers, in its own process. */
export interface Side {
  readonly name: string;
  readonly command: string;
  readonly url: string;
  /** Returns the number of accepted deliveries that have not become builds yet. */
  backlog(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts a server script. Its log is a file in `folder`. */
export async function startSide(
  name: string,
  script: string,
  values: readonly string[],
  folder: string,
): Promise<Side> {
  const log = openSync(join(folder, `${name.replace(/\W+/g, '-')}.log`), 'w');
  const child = fork(join(import.meta.dirname, script), [...values], {
    stdio: ['ignore', 'pipe', log, 'ipc'],
  });
  closeSync(log);
  const url = await waitForListening(child, name);
  return {
    name,
    command: `node scripts/parts/bench/${script} ${values.join(' ')}`,
    url,
    backlog: () => ask(child),
    stop: async () => {
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Waits until every accepted delivery has become a build. Returns the seconds that this took. */
export async function drain(side: Side): Promise<number> {
  const startedAt = performance.now();
  while ((await side.backlog()) > 0) await delay(100);
  return (performance.now() - startedAt) / 1000;
}

function waitForListening(child: ChildProcess, name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const address = /listening on (\S+)/.exec(said)?.[1];
      if (address !== undefined) resolve(address);
    });
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code}`)));
  });
}

async function ask(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once('message', (count) => resolve(Number(count)));
    child.send('backlog');
  });
}
