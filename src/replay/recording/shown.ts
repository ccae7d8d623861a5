import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChatModel } from '../../ports/chat-model.ts';
import { shortHashOf } from './canonical.ts';

/** What one judgement showed a model; the first question counts, the others are repetitions that fit. */
interface Shown {
  hash: string | null;
}

const judging = new AsyncLocalStorage<Shown>();

/** The model, telling whoever records a judgement what it was shown. */
export function listenedChatModel(model: ChatModel): ChatModel {
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

/** Does a judgement, and tells afterwards what a model was shown in it; null where none was asked. */
export async function listening<Value>(judge: (shown: () => string | null) => Promise<Value>): Promise<Value> {
  const shown: Shown = { hash: null };
  return await judging.run(shown, () => judge(() => shown.hash));
}

function note(question: object): void {
  const shown = judging.getStore();
  if (shown !== undefined && shown.hash === null) shown.hash = shortHashOf(question);
}
