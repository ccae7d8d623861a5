import type { App } from '../app/served-app.ts';
import { messageOf, TriageError } from '../domain/errors.ts';
import { buildOperations } from '../http/operations-server.ts';
import { say } from './terminal.ts';

/** The monitoring server, where one is configured; and a first look at every backend, so that what is away is said at the start. */
export async function openWatching(app: App): Promise<{ close(): Promise<unknown> } | null> {
  // Not waited for: what hangs must not hold up the start.
  void app.readiness();
  const { metrics, http } = app.config;
  if (metrics.port === null) return null;
  const doors = await buildOperations(app);
  const address = await doors.listen({ host: http.host, port: metrics.port }).catch((cause: unknown) => {
    throw new TriageError(
      'conflict',
      `Cannot listen on ${http.host}:${metrics.port}: ${messageOf(cause)}. Use FAULTLINE_METRICS_PORT=0 for a free port.`,
      {
        cause,
      },
    );
  });
  say(`metrics, health and readiness on ${address}`);
  return doors;
}
