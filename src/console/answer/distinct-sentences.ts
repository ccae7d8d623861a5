/** The minimum share of repeated words with which a sentence counts as a repetition. */
const REPEATED = 0.8;

/**
 * Creates a function that removes sentences that repeat the page: at least four fifths of their words already
 * occurred. Call it with the texts in reading order. With `keepOne`, a text whose sentences are all
 * repetitions keeps its first one.
 */
export function createSentenceFilter(): (text: string, keepOne?: boolean) => string {
  const written = new Set<string>();
  return (text, keepOne = false) => {
    const sentences = splitSentences(text);
    const fresh = sentences.filter((sentence) => {
      const words = listWords(sentence);
      const known = words.filter((word) => written.has(word)).length;
      if (words.length > 0 && known / words.length >= REPEATED) return false;
      for (const word of words) written.add(word);
      return true;
    });
    return (fresh.length === 0 && keepOne ? sentences.slice(0, 1) : fresh).join(' ');
  };
}

/**
 * Splits text into sentences, each with its punctuation. A period in a number or a path does not end a
 * sentence.
 */
function splitSentences(text: string): string[] {
  return text.trim() === '' ? [] : text.trim().split(/(?<=[.!?]["”’)]?)\s{1,20}(?=[\p{Lu}"“‘`(])|\n{2,20}/u);
}

function listWords(sentence: string): string[] {
  return sentence.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
