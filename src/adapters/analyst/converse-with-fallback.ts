import type { Analyst, Converse, Judgement, TextPiece } from '../../ports/analyst.ts';

type Judge = <Value>(name: string, signal: AbortSignal, ask: (analyst: Analyst) => Promise<Judgement<Value>>) => Promise<Judgement<Value>>;

/** Each judgement of a conversation with the fallback behind it. What the first had told before it failed is taken back. */
export function converseWithFallback(judge: Judge): Converse {
  return {
    understand: (input, signal) => judge('understand', signal, ({ converse }) => converse.understand(input, signal)),
    chooseTools: (input, signal) => judge('chooseTools', signal, ({ converse }) => converse.chooseTools(input, signal)),
    reply: (input, signal) => {
      let told = false;
      return judge('reply', signal, ({ converse }) => {
        let first = told;
        const onText = (piece: TextPiece) => {
          input.onText(first ? { ...piece, restart: true } : piece);
          first = false;
          told = true;
        };
        return converse.reply({ ...input, onText }, signal);
      });
    },
  };
}
