import { TriageError } from '../../domain/errors.ts';
import { append } from '../../lib/lists.ts';
import { countTokens } from '../../log/reduce/tokens.ts';
import type { DocumentBlock, DocumentPlace, Passage, ReadDocument } from '../../ports/knowledge.ts';

/** Tokens of a passage: enough for a step with its reason, few enough for several of them in one prompt. */
const MAX_TOKENS = 500;
/** Of a passage are said again in the next one, so that a sentence is never cut off from what it speaks of. */
const OVERLAP_TOKENS = 60;
const MAX_PASSAGES = 4_000;
const MAX_HEADING = 120;

/** What lies under one heading, on one page or slide, or in one sheet. */
interface Section {
  readonly headings: readonly string[];
  readonly place: DocumentPlace;
  readonly blocks: DocumentBlock[];
}

/**
 * Cuts a document into passages of about 500 tokens: first at headings, pages, slides and sheets, and only within them by length, with
 * some overlap. Each begins with its headings, and says where it stands. Throws TriageError `too-large` above 4,000 passages.
 */
export function cutPassages(document: ReadDocument): Passage[] {
  const passages: Passage[] = [];
  for (const section of sectionsOf(document)) {
    for (const { text, place } of cutSection(section)) passages.push({ position: passages.length + 1, place, text });
    if (passages.length > MAX_PASSAGES) {
      throw new TriageError('too-large', `The document has more than ${MAX_PASSAGES} passages. Provide only the part that matters.`);
    }
  }
  return passages;
}

function sectionsOf({ blocks }: ReadDocument): Section[] {
  const sections: Section[] = [];
  let path: { readonly level: number; readonly text: string }[] = [];
  for (const block of blocks) {
    const { heading, place } = block;
    if (heading !== null) {
      path = [
        ...path.filter(({ level }) => level < heading),
        { level: heading, text: block.text.replace(/\s+/g, ' ').slice(0, MAX_HEADING) },
      ];
      sections.push({ headings: path.map(({ text }) => text), place, blocks: [] });
      continue;
    }
    const open = sections.at(-1);
    if (open !== undefined && samePart(open.place, place)) open.blocks.push(block);
    else sections.push({ headings: hasPlace(place) ? [] : path.map(({ text }) => text), place, blocks: [block] });
  }
  const said = sections.filter(({ blocks: body }) => body.length > 0);
  return said.length > 0 ? said : sections.slice(-1);
}

/** What stands on a page, a slide or a sheet is cited by it. */
function hasPlace({ page, slide, sheet }: DocumentPlace): boolean {
  return page !== undefined || slide !== undefined || sheet !== undefined;
}

function samePart(left: DocumentPlace, right: DocumentPlace): boolean {
  return left.page === right.page && left.slide === right.slide && left.sheet === right.sheet;
}

interface Piece {
  readonly text: string;
  readonly tokens: number;
  readonly row: number | undefined;
}

function cutSection(section: Section): { text: string; place: string }[] {
  const pieces = section.blocks.flatMap((block) => piecesOf(block.text).map((piece) => ({ ...piece, row: block.place.row })));
  const first = pieces[0];
  // Cells say little without the names of their columns.
  const header = section.place.sheet !== undefined && first?.row === 1 && pieces.length > 1 ? first : null;
  const separator = section.place.sheet === undefined ? '\n\n' : '\n';
  const headings = section.headings.join(' › ');
  if (pieces.length === 0) return [{ text: headings, place: citationOf(section, []) }];
  return pack(pieces).map((group) => {
    const lines = header === null || group[0] === header ? group : [header, ...group];
    const body = lines.map(({ text }) => text).join(separator);
    return { text: headings === '' ? body : `${headings}\n\n${body}`, place: citationOf(section, group) };
  });
}

function pack(pieces: readonly Piece[]): Piece[][] {
  const groups: Piece[][] = [];
  let group: Piece[] = [];
  let tokens = 0;
  for (const piece of pieces) {
    if (group.length > 0 && tokens + piece.tokens > MAX_TOKENS) {
      groups.push(group);
      group = piece.row === undefined ? endOf(group) : [];
      tokens = group.reduce((sum, one) => sum + one.tokens, 0);
    }
    group.push(piece);
    tokens += piece.tokens;
  }
  return group.length > 0 ? [...groups, group] : groups;
}

/** The last pieces, or the last sentences of the last piece, as far as they are short. */
function endOf(group: readonly Piece[]): Piece[] {
  const last = group.at(-1);
  if (last === undefined) return [];
  if (last.tokens <= OVERLAP_TOKENS) return [last];
  const sentences = last.text.split(/(?<=[.!?\n])\s/).reverse();
  const kept: string[] = [];
  let tokens = 0;
  for (const sentence of sentences) {
    tokens += countTokens(sentence);
    if (tokens > OVERLAP_TOKENS) break;
    kept.unshift(sentence);
  }
  return kept.length === 0 ? [] : [{ text: kept.join(' '), tokens, row: undefined }];
}

/** A text in pieces of at most 500 tokens, cut where it hurts least: at lines, sentences, words, and at last anywhere. */
function piecesOf(text: string): Omit<Piece, 'row'>[] {
  return splitAt(text, ['\n', '. ', ' ', '']);
}

function splitAt(text: string, separators: readonly string[]): Omit<Piece, 'row'>[] {
  const tokens = countTokens(text);
  if (tokens <= MAX_TOKENS) return text.trim() === '' ? [] : [{ text, tokens }];
  const [separator = '', ...finer] = separators;
  const parts = separator === '' ? inLengths(text) : text.split(separator);
  const pieces: Omit<Piece, 'row'>[] = [];
  let held: string[] = [];
  let size = 0;
  const flush = () => {
    if (held.length > 0) pieces.push({ text: held.join(separator), tokens: size });
    held = [];
    size = 0;
  };
  for (const part of parts) {
    const partTokens = countTokens(part) + 1;
    if (size + partTokens > MAX_TOKENS) flush();
    if (partTokens > MAX_TOKENS && separator !== '') append(pieces, splitAt(part, finer));
    else {
      held.push(part);
      size += partTokens;
    }
  }
  flush();
  return pieces.filter((piece) => piece.text.trim() !== '');
}

/** No character is more than a few tokens. */
function inLengths(text: string): string[] {
  const characters = Array.from(text);
  const lengths: string[] = [];
  for (let from = 0; from < characters.length; from += 100) lengths.push(characters.slice(from, from + 100).join(''));
  return lengths;
}

function citationOf({ place, headings }: Section, group: readonly Piece[]): string {
  if (place.page !== undefined) return `page ${place.page}`;
  if (place.slide !== undefined) return [`slide ${place.slide}`, ...headings.slice(-1)].join(': ');
  if (place.sheet !== undefined) {
    const [from, to] = [group[0]?.row ?? 1, group.at(-1)?.row ?? 1];
    return `sheet ${place.sheet}, ${from === to ? `row ${from}` : `rows ${from}–${to}`}`;
  }
  return headings.length === 0 ? 'beginning' : headings.join(' › ');
}
