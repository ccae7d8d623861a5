import { listCodes } from '../log/fingerprint/distinctive.ts';
import { findNaming, type Naming, splitCells } from '../log/fingerprint/naming.ts';
import type { Passage } from '../ports/knowledge.ts';

/** The explanation that a document gives of an error that one of its passages names. */
export interface Explanation {
  /** The line, sentence or row that names the error; null if there is none. */
  readonly named: string | null;
  /** The offset at which it begins in the passage. */
  readonly offset: number;
  readonly cause: string | null;
  readonly fix: string | null;
  /** The places of cause and fix in the document, other than that of the passage itself. */
  readonly places: readonly string[];
}

const LINE_START = String.raw`^[\s#*_\d.)-]{0,12}`;
const FIX_WORDS =
  'fix(?:es|ed by)?|how to fix(?: it)?|what to do|' +
  'resolution|solution|remedy|remediation|mitigation|workaround|corrective action|action|recovery';
const CAUSE_WORDS =
  '(?:root |likely |probable )?causes?|reasons?|why(?: it happens)?|diagnosis|explanation|meaning';
const OTHER_WORDS =
  'symptoms?|problem|error(?: message)?|message|what you see|signs?|' +
  'how to (?:confirm|verify)|verification|owner|notes?|see also|background';
const FIX = new RegExp(`${LINE_START}(?:${FIX_WORDS})\\b`, 'i');
const CAUSE = new RegExp(`${LINE_START}(?:${CAUSE_WORDS})\\b`, 'i');
const LABEL = new RegExp(`${LINE_START}(?:${FIX_WORDS}|${CAUSE_WORDS}|${OTHER_WORDS})\\b`, 'i');
/** The maximum length of a cause or fix. */
const MAX_CHARACTERS = 600;
/** The maximum number of further passages, or paragraphs of one, that are searched. */
const MAX_FURTHER = 2;

/**
 * Finds what a document says about the error that one of its passages names: the other cells of its row, the
 * sections under the same heading, the text after the words "Cause" and "Fix", or, for the fix, a sentence
 * that begins with an imperative. `naming` is null for a passage that was found but does not name the error.
 */
export function explain(naming: Naming | null, hit: Passage, passages: readonly Passage[]): Explanation {
  const { offset, text = null } = naming ?? { offset: 0 };
  const cells = naming?.cells ?? null;
  const byRow = naming === null || cells === null ? null : explainRow(naming, cells, hit, passages);
  if (byRow !== null) return { ...byRow, offset, places: [] };
  const at = { offset, text: text ?? '' };
  const find = (words: RegExp) => findSection(words, hit, passages) ?? findLabelled(words, at, hit, passages);
  const [cause, fix] = [find(CAUSE), find(FIX) ?? findAdvice(at, hit)];
  const places = [cause, fix].flatMap((found) =>
    found === null || found.place === hit.place ? [] : [found.place],
  );
  return {
    named: text,
    offset,
    cause: cause?.text ?? null,
    fix: fix?.text ?? null,
    places: [...new Set(places)],
  };
}

/** Finds the part of a passage that best names one of the lines of a failure. Returns null if none does. */
export function findBestNaming(lines: readonly string[], text: string): Naming | null {
  const found = lines.flatMap((line) => findNaming(line, text) ?? []);
  return found.toSorted((left, right) => right.fit - left.fit)[0] ?? null;
}

interface FoundText {
  readonly text: string;
  readonly place: string;
}

/**
 * Reads cause and fix of a row by the headings of its columns. Without these, the last filled cell is the fix
 * if it has at least three words. Returns null if the row explains nothing.
 */
function explainRow(
  naming: Naming,
  cells: readonly string[],
  hit: Passage,
  passages: readonly Passage[],
): Pick<Explanation, 'named' | 'cause' | 'fix'> | null {
  const heads = findHeads(naming, cells.length, hit, passages);
  const column = (words: RegExp) => {
    const at = heads?.findIndex((head) => words.test(head)) ?? -1;
    return at < 0 ? null : cells[at]?.trim() || null;
  };
  const named = cells.filter((cell) => cell !== '').join(' | ');
  const [cause, fix] = [column(CAUSE), column(FIX)];
  if (cause !== null || fix !== null) return { named, cause, fix };
  const last = cells.findLast((cell) => cell !== '') ?? '';
  const isExplained = last.split(/\s+/).length >= 3 && last !== naming.phrase;
  return isExplained ? { named, cause: null, fix: last } : null;
}

/** Finds the heading row of the table that contains a row. */
function findHeads(
  { offset }: Naming,
  width: number,
  hit: Passage,
  passages: readonly Passage[],
): string[] | null {
  const before = passages.filter(({ position, place }) => position < hit.position && place === hit.place);
  const lines = [...before.map(({ text }) => text), hit.text.slice(0, offset)].join('\n').split('\n');
  let heads: string[] | null = null;
  for (const line of lines.toReversed()) {
    if (line.trim() === '') continue;
    const cells = splitCells(line);
    if (cells === null || Math.abs(cells.length - width) > 1) break;
    heads = cells;
  }
  return heads;
}

/**
 * Finds the section of this kind that belongs to a passage: below its heading, or under one of the headings
 * above it. Returns null if there is none, or if the nearest one is about another error.
 */
function findSection(words: RegExp, hit: Passage, passages: readonly Passage[]): FoundText | null {
  const path = readPath(hit);
  if (path.length === 0) return null;
  if (words.test(path.at(-1) ?? '')) return joinPassages(hit, passages);
  for (let depth = path.length; depth >= 0; depth--) {
    const above = path.slice(0, depth);
    const isAtLevel = (passage: Passage) => {
      const path = readPath(passage);
      return path.length === depth + 1 && above.every((heading, index) => path[index] === heading);
    };
    const found = passages.filter(
      (passage) => isAtLevel(passage) && words.test(readPath(passage).at(-1) ?? ''),
    );
    const only = found.length === 1 ? found[0] : undefined;
    const next = found.find(({ position }) => position > hit.position) ?? only;
    if (next === undefined) continue;
    const [from, to] = [Math.min(hit.position, next.position), Math.max(hit.position, next.position)];
    const between = passages.filter(({ position }) => position > from && position < to);
    const isOwn = between.every((passage) => {
      const heading = readPath(passage)[depth];
      return heading === undefined || heading === path[depth] || LABEL.test(heading);
    });
    return isOwn ? joinPassages(next, passages) : null;
  }
  return null;
}

/** Returns the headings of a passage, outermost first. Pages and sheets have none. */
function readPath({ place, text }: Passage): string[] {
  return text === place || text.startsWith(`${place}\n\n`) ? place.split(' › ') : [];
}

/** Returns the text of a passage without its headings. */
function readBody({ place, text }: Passage): string {
  return text.startsWith(`${place}\n\n`) ? text.slice(place.length + 2) : text;
}

function joinPassages(first: Passage, passages: readonly Passage[]): FoundText {
  const same = passages.filter(({ position, place }) => position >= first.position && place === first.place);
  return { text: shorten(same.map(readBody).join('\n')), place: first.place };
}

/**
 * Finds the text after a label such as "Fix:" that follows the words that name the error, in the same passage
 * or, in a document without headings, in the next ones. Stops at the code of another error.
 */
function findLabelled(
  words: RegExp,
  naming: Pick<Naming, 'text' | 'offset'>,
  hit: Passage,
  passages: readonly Passage[],
): FoundText | null {
  const further =
    readPath(hit).length > 0
      ? []
      : passages.filter(({ position }) => position > hit.position).slice(0, MAX_FURTHER);
  const codes = listCodes(naming.text);
  for (const [index, passage] of [hit, ...further].entries()) {
    const text = index === 0 ? passage.text.slice(naming.offset) : passage.text;
    const lines = text.replace(INLINE, '\n').split('\n');
    for (const [at, line] of lines.entries()) {
      const isOther =
        at + index > 0 &&
        !LABEL.test(line) &&
        listCodes(line).some((code) => codes.length > 0 && !codes.includes(code));
      if (isOther) return null;
      const labelled = words.test(line) ? readLabelled(lines.slice(at), words) : null;
      if (labelled !== null) return { text: labelled, place: passage.place };
    }
  }
  return null;
}

/**
 * Finds advice after the words that name the error: from the first sentence that begins with an imperative,
 * such as "Restart", to the end of its paragraph. Stops at the code of another error. Returns null if there
 * is none.
 */
function findAdvice({ text, offset }: Pick<Naming, 'text' | 'offset'>, hit: Passage): FoundText | null {
  if (text === '') return null;
  const codes = listCodes(text);
  const paragraphs = hit.text.slice(offset).split(/\n[ \t]{0,40}\n/);
  for (const [index, paragraph] of paragraphs.slice(0, 1 + MAX_FURTHER).entries()) {
    const isOther = listCodes(paragraph).some((code) => codes.length > 0 && !codes.includes(code));
    if (index > 0 && (isOther || LABEL.test(paragraph) || paragraph.startsWith('#'))) return null;
    const sentences = shorten(paragraph).split(/(?<=[.!?])\s+/);
    const from = sentences.findIndex((sentence) => IMPERATIVE.test(sentence));
    if (from >= 0) return { text: sentences.slice(from).join(' '), place: hit.place };
  }
  return null;
}

const IMPERATIVE =
  /^(?:to (?:resolve|fix|solve|repair|recover|clear)\b|(?:(?:then|please|just),? )?(?:add|ask|call|change|clear|contact|delete|disable|enable|free|increase|install|log in|open|pin|raise|remove|renew|rerun|restart|retry|rotate|run|set|start|stop|switch|unlock|update|upgrade|use|wait)\b)/i;

/** A label inside a line, such as "… stops. Fix: restart it." */
const INLINE = new RegExp(`(?<=[.!?;])[ \\t]+(?=(?:${FIX_WORDS}|${CAUSE_WORDS})\\s?[:–—])`, 'gi');

/**
 * Returns the text of a label, up to the next label or the end of its paragraph. Returns null if the line
 * does not begin with a label.
 */
function readLabelled([first = '', ...rest]: readonly string[], words: RegExp): string | null {
  const after = first.replace(words, '').replace(/^[\s*_]*[:–—.-]*[\s*_]*/, '');
  const isLabel = after === '' || /^[\s*_]{0,4}[:–—.-]/.test(first.replace(words, ''));
  if (!isLabel) return null;
  const collected = [after];
  for (const line of rest) {
    const isEnd =
      line.trim() === ''
        ? collected.join('').trim() !== ''
        : LABEL.test(line) && !/^\s*(?:[-*]|\d+[.)])\s/.test(line);
    if (isEnd) break;
    collected.push(line);
  }
  return shorten(collected.join('\n')) || null;
}

function shorten(text: string): string {
  const lines = text.split('\n').map((line) =>
    line
      .trim()
      .replace(/^[-*•]\s+/, '')
      .replace(/\s+/g, ' '),
  );
  return lines
    .filter((line) => line !== '' && !line.startsWith('```'))
    .join(' ')
    .slice(0, MAX_CHARACTERS);
}
