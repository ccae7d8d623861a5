import { EventEmitter } from 'node:events';
import { TRIAGE } from '../../domain/work.ts';
import type { Database } from '../../ports/database.ts';
import type { WakeUp } from '../../ports/work.ts';
import type { WorkStore } from '../../stores/work.ts';

const CHANNEL = 'faultline_work';

interface LocalWakeUpOptions {
  readonly database: Pick<Database, 'query' | 'listen'>;
  readonly work: Pick<WorkStore, 'waiting'>;
}

/**
 * Creates wake-ups without a queue: by an event in this process, and by LISTEN and NOTIFY if other processes
 * use the database.
 */
export function createLocalWakeUp({ database, work }: LocalWakeUpOptions): WakeUp {
  const events = new EventEmitter<{ wake: [topic: string] }>();
  let listener: { close(): Promise<void> } | undefined;
  return {
    driver: 'database',
    wake: async (topic) => {
      events.emit('wake', topic);
      if (database.listen !== undefined) await database.query('select pg_notify($1, $2)', [CHANNEL, topic]);
    },
    start: (worker) => {
      const look = (topic: string) => worker.look(topic);
      events.on('wake', look);
      listener = database.listen?.(CHANNEL, look);
    },
    brings: () => false,
    resize: () => undefined,
    depth: async () => (await work.waiting(TRIAGE)).count,
    stop: () => void events.removeAllListeners(),
    close: async () => await listener?.close(),
  };
}
