import type { App } from '../app/served-app.ts';
import { messageOf } from '../domain/errors.ts';

/** The part of an HTTP server that a stop needs. */
interface HttpServer {
  close(): Promise<unknown>;
}

/**
 * Closes the HTTP server and drains the queue at the same time, so that both fit into `drainMs`; then the stores, which both need
 * to the end. What fails is logged and holds up nothing.
 */
export async function stopService(
  app: Pick<App, 'jobQueue' | 'logger' | 'close'>,
  http: HttpServer | null,
  drainMs: number,
): Promise<void> {
  const ended = await Promise.allSettled([http?.close(), app.jobQueue.stop({ timeoutMs: drainMs })]);
  for (const { reason } of ended.filter((one) => one.status === 'rejected')) {
    app.logger.error({ error: reason, reason: messageOf(reason) }, 'a part did not stop as it should');
  }
  await app.close({ drainMs: 0 });
}
