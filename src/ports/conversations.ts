import type { Thread, Turn } from '../domain/conversation.ts';

/** Keeps threads of follow-up questions. They go with the analysis they are about. */
export interface ConversationStore {
  find(id: string): Promise<Thread | null>;
  /** Newest question first. */
  list(
    filter: {
      readonly analysisId?: string;
      readonly buildId?: string;
      /** Only about builds of these: `owner/name`, or `owner/*`. */
      readonly repositories?: readonly string[];
    },
    page: { readonly limit: number; readonly offset: number },
  ): Promise<Thread[]>;
  /** The last `limit` turns of a thread, oldest first. */
  turns(threadId: string, limit: number): Promise<Turn[]>;
  /**
   * Adds a turn, and stores the thread where it is the first. Throws `conflict` where a turn of that position is there already:
   * somebody else asked meanwhile.
   */
  append(thread: Thread, turn: Turn): Promise<void>;
  /** With all its turns; false where there is none. */
  remove(id: string): Promise<boolean>;
}
