import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import type { ModelWorkerOptions } from './model-worker.ts';

/**
 * Starts a scripted model in its own thread, so that its computation does not count as the client's, as with
 * a remote server.
 */
export async function startModelAside(
  options: ModelWorkerOptions,
): Promise<{ readonly baseUrl: string; close(): Promise<void> }> {
  const worker = new Worker(new URL('./model-worker.ts', import.meta.url), { workerData: options });
  const [baseUrl] = z.tuple([z.string()]).parse(await once(worker, 'message'));
  return {
    baseUrl,
    close: async () => {
      await worker.terminate();
    },
  };
}
