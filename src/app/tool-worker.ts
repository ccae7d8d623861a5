import { parentPort, workerData } from 'node:worker_threads';
import { getErrorMessage } from '../domain/errors.ts';
import type { ToolDescription } from '../ports/toolbox.ts';
import { openPlaceToolbox } from './place-tools.ts';
import type { FromToolThread, ToToolThread } from './tool-thread.ts';

/** The thread that runs the tools for questions about a place. Errors are sent as data. */
const running = new Map<number, AbortController>();
const opened = openPlaceToolbox(workerData);
const say = (message: FromToolThread) => parentPort?.postMessage(message);

parentPort?.on('message', async (message: ToToolThread) => {
  if ('abort' in message) return running.get(message.abort)?.abort();
  const { id, call, subject, category } = message;
  const aborting = new AbortController();
  running.set(id, aborting);
  try {
    say({ id, outcome: await (await opened).run(call, subject, category, aborting.signal) });
  } catch (error) {
    say({ id, failed: getErrorMessage(error) });
  } finally {
    running.delete(id);
  }
});

try {
  say({ tools: (await opened).offered('CODE_ERROR').map(toPlainDescription) });
} catch (error) {
  say({ broken: getErrorMessage(error) });
}

/** Drops what cannot be copied between threads. */
function toPlainDescription({ argumentsFrom: _derive, ...plain }: ToolDescription): ToolDescription {
  return plain;
}
