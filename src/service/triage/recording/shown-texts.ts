import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChatModel } from '../../../ports/chat-model.ts';
import { computeShortHash } from './recording-lines.ts';

/** The input that a model was shown for a judgment. The first question counts; others are retries. */
interface Shown {
  hash: string | null;
}

const judging = new AsyncLocalStorage<Shown>();

/** Wraps a chat model to pass the input that it was shown to the recorder of a judgment. */
export function wrapListenedChatModel(model: ChatModel): ChatModel {
  return {
    ...model,
    ask: (request, signal) => {
      note({ system: request.system, user: request.user, schema: request.schema });
      return model.ask(request, signal);
    },
    chooseTools: (request, signal) => {
      note({ system: request.system, user: request.user, tools: request.tools });
      return model.chooseTools(request, signal);
    },
  };
}

/**
 * Runs a judgment and passes it a function that returns the hash of the text that a model was shown in it, or
 * null if no model was asked.
 */
export async function listenForShown<Value>(
  judge: (readShown: () => string | null) => Promise<Value>,
): Promise<Value> {
  const latest: Shown = { hash: null };
  return await judging.run(latest, () => judge(() => latest.hash));
}

function note(question: object): void {
  const latest = judging.getStore();
  if (latest !== undefined && latest.hash === null) latest.hash = computeShortHash(question);
}
