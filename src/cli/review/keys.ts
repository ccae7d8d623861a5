import { createInterface, emitKeypressEvents, type Key } from 'node:readline';

/** The actions on an item and their keys. The handlers, the footer, and the help all use this list. */
export const KEYS = [
  { key: 'a', action: 'accept', does: 'accept: the answer is right' },
  { key: 'c', action: 'correct', does: 'correct: category, cause, evidence' },
  { key: 'x', action: 'reject', does: 'reject, then 1–4 for the reason' },
  { key: 's', action: 'skip', does: 'skip: it stays in the queue' },
  { key: 'u', action: 'undo', does: 'undo your last decision' },
  { key: '?', action: 'help', does: 'this' },
  { key: 'q', action: 'quit', does: 'quit; the item is released' },
] as const;

export type KeyAction = (typeof KEYS)[number]['action'];

export interface KeyStreams {
  readonly input: NodeJS.ReadableStream & { setRawMode?(raw: boolean): unknown };
  readonly output: NodeJS.WritableStream;
  /**
   * The minimum number of milliseconds between two counted presses of the same key. A held key repeats faster
   * and counts once.
   */
  readonly repeatMs?: number;
}

export type KeyReader = ReturnType<typeof readKeys>;

/** The default; keys repeat about 30 times a second while they are held. */
const REPEAT_MS = 250;

/** Reads single keys and lines from one terminal. */
export function readKeys({ input, output, repeatMs = REPEAT_MS }: KeyStreams) {
  const waiting: ((key: string | null) => void)[] = [];
  let typed: (string | null)[] = [];
  let last = { name: '', at: Number.NEGATIVE_INFINITY };
  let editing = false;
  const give = (key: string | null) => {
    const taker = waiting.shift();
    if (taker === undefined) typed.push(key);
    else taker(key);
  };
  const onKey = (text: string | undefined, { name, ctrl, sequence }: Key) => {
    if (editing) return;
    if (ctrl === true && (name === 'c' || name === 'd')) return give(null);
    const key = text !== undefined && /^[!-~]$/.test(text) ? text : (name ?? sequence ?? '');
    const now = performance.now();
    const isRepeated = key === last.name && now - last.at < repeatMs;
    last = { name: key, at: now };
    if (!isRepeated && ctrl !== true) give(key);
  };
  const onEnd = () => give(null);
  emitKeypressEvents(input);
  input.on('keypress', onKey);
  input.once('end', onEnd);
  input.setRawMode?.(true);
  input.resume();
  return {
    /**
     * Resolves to the next key by its label: "a", "?", "3", "return". Resolves to `null` for Ctrl-C, Ctrl-D
     * and the end of input.
     */
    key: () =>
      new Promise<string | null>((resolve) => {
        if (typed.length > 0) resolve(typed.shift() ?? null);
        else waiting.push(resolve);
      }),
    /**
     * Opens an editor for one line that starts with `prefill`. Resolves to the line, or to null if the user
     * cancels (Ctrl-C, Ctrl-D, Esc).
     */
    line: async (prompt: string, prefill: string): Promise<string | null> => {
      editing = true;
      try {
        return await editLine({ input, output }, prompt, prefill);
      } finally {
        editing = false;
        input.setRawMode?.(true);
        input.resume();
      }
    },
    /** Discards the keys that were typed before the user could see the item to which they would apply. */
    drop: () => {
      typed = typed.filter((key) => key === null);
    },
    close: () => {
      input.off('keypress', onKey);
      input.off('end', onEnd);
      input.setRawMode?.(false);
      input.pause();
    },
  };
}

function editLine({ input, output }: KeyStreams, prompt: string, prefill: string): Promise<string | null> {
  const lines = createInterface({ input, output, terminal: true, prompt });
  return new Promise((resolve) => {
    let answer: string | null = null;
    const giveUp = () => lines.close();
    const onKey = (_text: string | undefined, { name }: Key) => {
      if (name === 'escape') giveUp();
    };
    input.on('keypress', onKey);
    lines.once('SIGINT', giveUp);
    lines.once('line', (text) => {
      answer = text;
      lines.close();
    });
    lines.once('close', () => {
      input.off('keypress', onKey);
      resolve(answer);
    });
    lines.prompt();
    lines.write(prefill);
  });
}
