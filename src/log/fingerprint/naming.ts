import { listCodes, NAMES, sumWeights, weighWords } from './distinctive.ts';
import { computeCoverage, parseQuestion, tokenizeWords } from './normalize.ts';

/** The part of a document that names the error of a log line. */
export interface Naming {
  /** The line, sentence or table row that contains it. */
  readonly text: string;
  readonly offset: number;
  /** Higher is better. Comparable only between results for the same log line. */
  readonly fit: number;
  /** The cells of the row, if it is one. */
  readonly cells: readonly string[] | null;
  /** The cell or quoted phrase; null if it is a whole sentence. */
  readonly phrase: string | null;
}

/**
 * The minimum share of a sentence's distinctive words that the line has, and of the line's that the sentence
 * has.
 */
const [OF_SENTENCE, OF_LINE] = [0.5, 0.6];
/**
 * The reduced minimum weight of a quoted phrase or cell, and the share of the line that it must then cover.
 */
const [SHORT, MOST_OF_LINE] = [1.3, 0.5];
/**
 * The minimum weight of a sentence without a code that is fully contained in the line. Less may only name a
 * component.
 */
const LONG = 3;
const MAX_UNITS = 2_000;
/** Numbers that are identifiers: HTTP statuses and exit codes of signals. */
const STATUS = /\b(?:[45]\d\d|1[34]\d)\b/g;

/**
 * Finds the part of a document that names the error of a log line: a table cell or quoted phrase whose
 * distinctive words are all in the line, or a sentence that shares most of its distinctive words with it.
 * Common words and a component's name alone are not enough, and another code or HTTP status is another error.
 * Returns null if there is none.
 */
export function findNaming(line: string, text: string): Naming | null {
  const asked = weighWords(line);
  const all = sumWeights(asked);
  if (all < SHORT) return null;
  const question = { asked, all, codes: listCodes(line), statuses: listStatuses(line) };
  if (sumWeights(asked, weighWords(text)) < SHORT) return null;
  let best: Naming | null = null;
  for (const unit of listUnits(text)) {
    const found = measureFit(unit, question);
    if (found.fit > (best?.fit ?? 0)) best = { ...unit, ...found };
  }
  return best;
}

/**
 * Returns how well a passage answers a log line, 0..1: the share of the line that it contains, and 1 if it
 * names the line's error.
 */
export function scorePassage(line: string, text: string): number {
  return findNaming(line, text) === null ? computeCoverage(parseQuestion(line), tokenizeWords(text)) : 1;
}

/** Returns the words and codes by which passages are searched. */
export function listSearchWords(text: string): string[] {
  return [...tokenizeWords(text), ...listCodes(text)];
}

interface WeightedQuery {
  readonly asked: ReadonlyMap<string, number>;
  readonly all: number;
  readonly codes: readonly string[];
  readonly statuses: readonly string[];
}

interface Unit {
  readonly text: string;
  readonly offset: number;
  readonly cells: readonly string[] | null;
}

function measureFit(unit: Unit, question: WeightedQuery): Pick<Naming, 'fit' | 'phrase'> {
  let best: Pick<Naming, 'fit' | 'phrase'> = {
    fit: unit.cells === null ? computeSentenceFit(unit.text, question) : 0,
    phrase: null,
  };
  for (const phrase of unit.cells ?? listQuoted(unit.text)) {
    const fit = computePhraseFit(phrase, question);
    if (fit > best.fit) best = { fit, phrase };
  }
  return best;
}

/** Returns the fit of a phrase whose distinctive words must all be in the line, or 0 if they are not. */
function computePhraseFit(phrase: string, question: WeightedQuery): number {
  const words = weighWords(phrase);
  const messageWeight = sumWeights(words);
  const shared = sumWeights(words, question.asked);
  if (messageWeight < SHORT || shared < messageWeight || isOtherError(phrase, question)) return 0;
  const ofLine = shared / question.all;
  if (countDistinctiveTokens(phrase) < 2 && ofLine < MOST_OF_LINE) return 0;
  return messageWeight >= NAMES || ofLine >= MOST_OF_LINE ? 1 + ofLine : 0;
}

function computeSentenceFit(sentence: string, question: WeightedQuery): number {
  const words = weighWords(sentence);
  const messageWeight = sumWeights(words);
  const shared = sumWeights(words, question.asked);
  if (shared < NAMES || isOtherError(sentence, question)) return 0;
  const [ofSentence, ofLine] = [shared / messageWeight, shared / question.all];
  const isWhole = ofSentence > 0.99 && (shared >= LONG || listCodes(sentence).length > 0);
  return isWhole || (ofSentence >= OF_SENTENCE && ofLine >= OF_LINE) ? ofSentence + ofLine : 0;
}

/** Checks whether a text has codes or HTTP statuses, but none of the line's. */
function isOtherError(text: string, { codes, statuses }: WeightedQuery): boolean {
  const [ownCodes, ownStatuses] = [listCodes(text), listStatuses(text)];
  const isOther = (names: readonly string[], asked: readonly string[]) =>
    names.length > 0 && asked.length > 0 && !names.some((name) => asked.includes(name));
  return isOther(ownCodes, codes) || isOther(ownStatuses, statuses);
}

function listStatuses(text: string): string[] {
  return text.match(STATUS) ?? [];
}

/**
 * Counts the distinctive tokens of a phrase. `acme-billing` counts once, a code or the name of an exception
 * twice.
 */
function countDistinctiveTokens(phrase: string): number {
  let count = listCodes(phrase).length * 2;
  for (const token of phrase.split(/\s+/)) {
    if (
      /(?:Exception|Error|Fault)\b/.test(token) ||
      /^\W{0,20}\p{Lu}{2,20}(?:_\p{Lu}{2,20}){1,6}\W{0,20}$/u.test(token)
    )
      count += 1;
    if ([...weighWords(token).values()].some((weight) => weight >= 1)) count += 1;
  }
  return count;
}

/** Separators between the cells of a table, and between an error and its remedy. */
const CELL = /\s{0,20}(?:\||\t|→|=>|⇒)\s{0,20}|\s->\s/;
const QUOTED = /[“"`']([^“”"`'\n]{6,200})[”"`']/g;

function listQuoted(text: string): string[] {
  return Array.from(text.matchAll(QUOTED), ([, phrase = '']) => phrase);
}

/** Splits a row into its cells. Returns null if the line is not a row. */
export function splitCells(line: string): string[] | null {
  const bare = line.trim().replace(/^\|/, '').replace(/\|$/, '');
  const cells = bare.split(CELL).map((cell) => cell.trim());
  return cells.length > 1 && cells.filter((cell) => cell !== '').length > 1 ? cells : null;
}

/** Lists the rows and lines of a text, and the sentences of its paragraphs. */
function listUnits(text: string): Unit[] {
  const units: Unit[] = [];
  let offset = 0;
  for (const block of text.split('\n\n')) {
    const lines = block.split('\n');
    let from = offset;
    let isProse = true;
    for (const line of lines) {
      const cells = splitCells(line);
      isProse &&= cells === null;
      if (line.trim() !== '') units.push({ text: line.trim(), offset: from, cells });
      from += line.length + 1;
    }
    if (isProse) for (const sentence of splitSentences(block, offset)) units.push(sentence);
    if (units.length > MAX_UNITS) break;
    offset += block.length + 2;
  }
  return units.slice(0, MAX_UNITS);
}

function splitSentences(block: string, offset: number): Unit[] {
  const units: Unit[] = [];
  let from = 0;
  for (const sentence of block.split(/(?<=[.!?:;])\s/)) {
    if (sentence.trim() !== '')
      units.push({ text: sentence.replace(/\s+/g, ' ').trim(), offset: offset + from, cells: null });
    from += sentence.length + 1;
  }
  return units;
}
