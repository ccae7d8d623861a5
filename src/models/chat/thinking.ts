const OPEN = /^\s{0,20}<(?:think|thinking|thought)>/;
const CLOSE = /<\/(?:think|thinking|thought)>/g;
/**
 * The maximum length of an opening tag with some space before it. After that many characters, it is known
 * whether a reply begins with one.
 */
const MAX_OPENING = 40;

/**
 * Removes the reasoning that some servers leave in the text of a reply. Some leave only the closing tag,
 * because the opening tag was in the prompt. A reply that begins with JSON is unchanged: tags in it are
 * quotations.
 */
export function withoutThinking(text: string): string {
  if (text.trimStart().startsWith('{')) return text;
  const last = [...text.matchAll(CLOSE)].at(-1);
  if (last !== undefined) return text.slice(last.index + last[0].length).trimStart();
  return OPEN.test(text) ? '' : text;
}

/** Creates a filter that passes on a streamed reply without the reasoning at its beginning. */
export function createThinkingFilter() {
  let state: 'unknown' | 'thinking' | 'answering' = 'unknown';
  let buffered = '';
  return {
    /** Returns the text that may be shown now that this piece has arrived. */
    push: (piece: string): string => {
      if (state === 'answering') return piece;
      buffered += piece;
      if (state === 'unknown') {
        if (OPEN.test(buffered)) state = 'thinking';
        else if (mayBegin(buffered)) return '';
        else return release();
      }
      const close = buffered.search(CLOSE);
      if (close < 0) {
        buffered = buffered.slice(-MAX_OPENING);
        return '';
      }
      buffered = buffered.slice(buffered.indexOf('>', close) + 1).trimStart();
      return release();
    },
    /** Returns the text that was held back and turned out not to be reasoning. */
    end: () => (state === 'unknown' ? release() : ''),
  };

  function release(): string {
    state = 'answering';
    const text = buffered;
    buffered = '';
    return text;
  }
}

function mayBegin(text: string): boolean {
  const start = text.trimStart();
  return (
    text.length <= MAX_OPENING && ['<think>', '<thinking>', '<thought>'].some((tag) => tag.startsWith(start))
  );
}
