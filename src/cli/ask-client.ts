import type { AskWatcher } from '../ask/ask.ts';
import type { Thread, Turn } from '../domain/conversation.ts';

/** A turn as any client gives it; a service keeps the trace of its steps to itself until it is asked for the thread. */
export type Answered = Omit<Turn, 'steps'>;

/** Where a question about one thing is put: a service, a data directory, or a log in memory. */
export interface AskClient {
  /** What is asked about, as the person named it. */
  readonly target: string;
  /** Whether threads outlive the process. */
  readonly kept: boolean;
  ask(question: string, threadId: string | undefined, watcher: AskWatcher, signal: AbortSignal): Promise<Answered>;
  /** Newest question first. */
  threads(): Promise<readonly Thread[]>;
  /** The turns of a thread with their steps, oldest first. */
  turns(threadId: string): Promise<readonly Turn[]>;
  close(): Promise<void>;
}
