const OPEN = /^\s{0,20}<(?:think|thinking|thought)>/;
const CLOSE = /<\/(?:think|thinking|thought)>/g;
/** Longest opening tag with some space before it; by then we know whether a reply begins with one. */
const LONGEST_OPENING = 40;

/**
 * What a reasoning model says after its thoughts, where its server leaves them in the text. Some leave only the closing tag,
 * because the opening one stood in the prompt. A reply that begins with JSON is left as it is: tags in it are quotations.
 */
export function withoutThinking(text: string): string {
  if (text.trimStart().startsWith('{')) return text;
  const last = [...text.matchAll(CLOSE)].at(-1);
  if (last !== undefined) return text.slice(last.index + last[0].length).trimStart();
  return OPEN.test(text) ? '' : text;
}

/** Lets the pieces of a streamed reply through, but for the thoughts that it begins with. */
export interface ThinkingFilter {
  /** What of this piece may be shown now. */
  push(piece: string): string;
  /** What was held back and is no thought after all. */
  end(): string;
}

export function createThinkingFilter(): ThinkingFilter {
  let state: 'unknown' | 'thinking' | 'telling' = 'unknown';
  let held = '';
  return {
    push: (piece) => {
      if (state === 'telling') return piece;
      held += piece;
      if (state === 'unknown') {
        if (OPEN.test(held)) state = 'thinking';
        else if (mayBegin(held)) return '';
        else return release();
      }
      const close = held.search(CLOSE);
      if (close < 0) {
        held = held.slice(-LONGEST_OPENING);
        return '';
      }
      held = held.slice(held.indexOf('>', close) + 1).trimStart();
      return release();
    },
    end: () => (state === 'unknown' ? release() : ''),
  };

  function release(): string {
    state = 'telling';
    const text = held;
    held = '';
    return text;
  }
}

function mayBegin(text: string): boolean {
  const start = text.trimStart();
  return text.length <= LONGEST_OPENING && ['<think>', '<thinking>', '<thought>'].some((tag) => tag.startsWith(start));
}
