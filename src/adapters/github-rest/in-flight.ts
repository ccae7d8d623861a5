import { TriageError } from '../../domain/errors.ts';

/** Asks once for several who want the same at the same time. */
export type Together<Value> = (key: string, signal: AbortSignal, ask: () => Promise<Value>) => Promise<Value>;

/** Tools run side by side and begin with the same question. Where the one who asked gives up, the next asks again. */
export function createTogether<Value>(): Together<Value> {
  const asked = new Map<string, Promise<Value>>();
  return async (key, signal, ask) => {
    for (let other = asked.get(key); other !== undefined; other = asked.get(key)) {
      try {
        return await other;
      } catch (error) {
        if (signal.aborted || !(error instanceof TriageError) || error.code !== 'cancelled') throw error;
      }
    }
    const own = ask();
    asked.set(key, own);
    try {
      return await own;
    } finally {
      asked.delete(key);
    }
  };
}
