import pg from 'pg';
import { computeBackoff } from '../../lib/time.ts';

/** The delays between attempts to connect. Workers find missed notifications by polling. */
const BACKOFF = { firstMs: 500, longestMs: 10_000 };

/**
 * Calls `hear` with the payload of each notification on the channel. Uses its own connection, which is
 * reopened whenever it is lost. The channel must be a plain SQL name.
 */
export function listenOn(
  options: pg.ClientConfig,
  channel: string,
  hear: (payload: string) => void,
): { close(): Promise<void> } {
  let client: pg.Client | null = null;
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  let isClosed = false;

  const connect = async () => {
    const next = new pg.Client(options);
    client = next;
    next.on('error', () => undefined);
    next.once('end', connectLater);
    next.on('notification', ({ payload = '' }) => hear(payload));
    try {
      await next.connect();
      await next.query(`listen ${channel}`);
      failures = 0;
    } catch {
      await next.end().catch(() => undefined);
      connectLater();
    }
  };
  const connectLater = () => {
    if (isClosed) return;
    failures += 1;
    clearTimeout(timer);
    timer = setTimeout(() => void connect(), computeBackoff(BACKOFF, failures));
    timer.unref();
  };
  void connect();
  return {
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      await client?.end().catch(() => undefined);
    },
  };
}
