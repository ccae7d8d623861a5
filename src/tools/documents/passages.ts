import type { ReadableDocument } from '../../ports/document-folder.ts';
import { splitWords } from './references.ts';

/** Consecutive lines of a document; 1-based, inclusive. */
export interface DocumentPassage {
  readonly path: string;
  readonly lineStart: number;
  readonly lineEnd: number;
  /** 0..1: the share of the question's words that it holds, rare words counting more. */
  readonly score: number;
}

const MAX_LINES = 12;
/** Words of questions that say nothing about their subject. */
const COMMON = new Set(
  `a about after all also an and any are as at be been before by can could did do does document documents
  each file files find folder for from get give had has have how i if in into is it its many may me
  mentioned more most much must my no not of on one or our out say says should so state states stated
  tell than that the their them then there these they this those to under up us was we were what when
  where which who whom whose why will with would you your according per see`.split(/\s+/),
);

/** Extracts the words by which a question is looked for. */
export function extractQuestionWords(question: string): string[] {
  return [
    ...new Set(
      splitWords(question)
        .filter((word) => !COMMON.has(word) && (word.length > 1 || /\p{N}/u.test(word)))
        .map(toStem),
    ),
  ];
}

/** Drops the usual endings of English words, so that "penalties" finds "penalty". */
function toStem(word: string): string {
  if (word.length < 5) return word.replace(/s$/, '');
  return word.replace(/(?:ies|y)$/, 'i').replace(/(?:ing|ed|es|s|e)$/, '');
}

/** Ranks the paragraphs of documents by the words of a question, best first. */
export function rankPassages(
  documents: readonly ReadableDocument[],
  words: readonly string[],
): DocumentPassage[] {
  const paragraphs = documents.flatMap(indexParagraphs);
  const weights = new Map(
    words.map((word) => {
      const holding = paragraphs.filter((paragraph) => paragraph.ownWords.has(word)).length;
      return [word, holding === 0 ? 1 : Math.log(1 + paragraphs.length / holding)];
    }),
  );
  const most = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  const scored = paragraphs.map(({ path, lineStart, lineEnd, words: allWords, ownWords }) => {
    const hits = words.filter((word) => allWords.has(word));
    const gained = hits.reduce(
      (sum, word) => sum + (weights.get(word) ?? 0) * (ownWords.has(word) ? 1 : 0.5),
      0,
    );
    return {
      path,
      lineStart,
      lineEnd,
      score: most === 0 ? 0 : gained / most,
      hasOwn: words.some((word) => ownWords.has(word)),
    };
  });
  return scored
    .filter(({ score, hasOwn }) => score > 0 && hasOwn)
    .sort((left, right) => right.score - left.score)
    .map(({ hasOwn: _hasOwn, ...passage }) => passage);
}

interface Paragraph extends Omit<DocumentPassage, 'score'> {
  /** Its own words, and those with the words of its document's name. */
  readonly ownWords: ReadonlySet<string>;
  readonly words: ReadonlySet<string>;
}

/** The paragraphs of documents that were indexed; a document that is parsed again is another object. */
const indexed = new WeakMap<ReadableDocument, readonly Paragraph[]>();

function indexParagraphs(document: ReadableDocument): readonly Paragraph[] {
  const known = indexed.get(document);
  if (known !== undefined) return known;
  const name = splitWords(`${document.path} ${document.title ?? ''}`).map(toStem);
  const paragraphs = splitParagraphs(document).map(({ text, ...place }) => {
    const ownWords = new Set(splitWords(text).map(toStem));
    return { ...place, ownWords, words: new Set([...ownWords, ...name]) };
  });
  indexed.set(document, paragraphs);
  return paragraphs;
}

/** Splits a document into paragraphs; the blocks of a document without blank lines are one each. */
function splitParagraphs({ path, lines, places }: ReadableDocument) {
  const paragraphs: { path: string; lineStart: number; lineEnd: number; text: string }[] = [];
  let from = 0;
  const end = (to: number) => {
    const text = lines.slice(from, to).join('\n');
    if (text.trim() !== '') paragraphs.push({ path, lineStart: from + 1, lineEnd: to, text });
    from = to;
  };
  for (const [index, line] of lines.entries()) {
    const isApart = places[index] !== null || line.trim() === '' || /^(?:#|[-*|] ?)/.test(line);
    if (isApart || index - from >= MAX_LINES) end(index);
  }
  end(lines.length);
  return paragraphs.map((paragraph) => ({ ...paragraph, lineStart: skipBlank(lines, paragraph.lineStart) }));
}

function skipBlank(lines: readonly string[], from: number): number {
  let line = from;
  while (lines[line - 1]?.trim() === '' && line < lines.length) line += 1;
  return line;
}
