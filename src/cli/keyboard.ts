import { createInterface } from 'node:readline/promises';
import { toVisibleLine } from '../notifications/visible-text.ts';
import type { Person } from '../ports/toolbox.ts';
import type { Progress } from './progress.ts';

/** The time in which a person answers, in milliseconds. After it the work goes on without an answer. */
const ANSWER_MS = 5 * 60_000;

/** Opens the person at the keyboard; undefined if standard input or error is no terminal. */
export function openKeyboard(progress: Progress): Person | undefined {
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) return undefined;
  return {
    ask: async (question, signal) => {
      progress.stop();
      const late = AbortSignal.timeout(ANSWER_MS);
      const lines = createInterface({ input: process.stdin, output: process.stderr });
      // The terminal's own Ctrl-C reaches this interface and not the process.
      lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
      const closed = new Promise<null>((resolve) => lines.on('close', () => resolve(null)));
      try {
        const answer = lines.question(formatQuestion(question), { signal: AbortSignal.any([signal, late]) });
        return await Promise.race([answer, closed]);
      } catch (error) {
        if (late.aborted && !signal.aborted) return null;
        throw error;
      } finally {
        lines.close();
      }
    },
  };
}

/** Formats a question to the person at the keyboard. It is a model's, so it is shown as text only. */
export function formatQuestion(question: string): string {
  return `The model asks: ${toVisibleLine(question)}\nYour answer (empty if you do not know)> `;
}
