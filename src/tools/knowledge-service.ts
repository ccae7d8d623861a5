import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import { createId } from '../domain/ids.ts';
import { append } from '../lib/collections.ts';
import type { Clock } from '../lib/time.ts';
import type { Masker } from '../log/mask/mask.ts';
import { countTokens } from '../log/reduce/tokens.ts';
import type {
  AddedDocument,
  DocumentBlock,
  DocumentPlace,
  DocumentReader,
  Embedded,
  KnowledgeService,
  NewDocument,
  Passage,
  PassageOf,
  ReadDocument,
  TeamDocument,
  TeamKnowledgeStore,
} from '../ports/knowledge.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { SemanticIndex, VectorItem } from '../ports/vector-index.ts';
import { createHashedItem, synchronizeItems } from './knowledge-base.ts';

interface KnowledgeServiceDeps {
  readonly store: TeamKnowledgeStore;
  readonly reader: DocumentReader;
  readonly masker: Masker;
  /** The semantic index; null if no embedding model is configured. */
  readonly semantic: SemanticIndex | null;
  /**
   * Returns the curated documents as items of the index, which are embedded along with the team's documents.
   */
  readonly curated: () => Promise<readonly VectorItem[]>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The version of the reader of documents. It is part of every hash, so that a new version reads all documents
 * again.
 */
const READING = 'passages-2';
const MAX_TITLE = 200;
/**
 * Time limit in milliseconds for embedding while a person waits after adding a document. The rest is embedded
 * later.
 */
const EMBED_MS = 60_000;

/** Reads, masks, cuts and stores the documents of a team, and embeds them if a model is configured. */
export function createKnowledgeService(deps: KnowledgeServiceDeps): KnowledgeService {
  const { store } = deps;
  return {
    add: (file, signal) => add(deps, file, signal),
    list: () => store.list(),
    async show(idOrSource) {
      const document = await store.find(idOrSource);
      return document === null ? null : { document, passages: await store.passages(document.id) };
    },
    async remove(idOrSource) {
      const document = await store.find(idOrSource);
      if (document === null || !(await store.remove(document.id))) return null;
      // Vectors without their passage are never shown. The next embedding removes them.
      await embedQuietly(deps, undefined);
      return document;
    },
    async embed({ anew = false } = {}, signal) {
      if (anew) await deps.semantic?.clear();
      return embedAll(deps, signal);
    },
  };
}

async function add(
  deps: KnowledgeServiceDeps,
  file: NewDocument,
  signal: AbortSignal | undefined,
): Promise<AddedDocument> {
  const { source, bytes, category, importedBy, dryRun = false } = file;
  const hash = createHash('sha256')
    .update(`${READING}\n${category ?? ''}\n`)
    .update(bytes)
    .digest('hex');
  const known = await deps.store.find(source);
  if (known?.source === source && known.hash === hash)
    return { outcome: 'unchanged', document: known, notes: [] };
  const read = await mask(deps.masker, await deps.reader.read({ name: source, bytes }, signal));
  const passages = cutPassages(read);
  const now = deps.clock.now();
  const document: TeamDocument = {
    id: known?.id ?? createId('doc', now),
    source,
    title: (read.title ?? basename(source)).replace(/\s+/g, ' ').trim().slice(0, MAX_TITLE),
    format: read.format,
    category,
    hash,
    bytes: bytes.length,
    passages: passages.length,
    notes: read.notes,
    importedBy,
    importedAt: new Date(now).toISOString(),
  };
  const outcome = known?.source === source ? 'changed' : 'added';
  if (dryRun) return { outcome, document, notes: read.notes };
  const id = await deps.store.put(document, passages);
  const note = await embedQuietly(deps, signal);
  return {
    outcome,
    document: { ...document, id },
    notes: note === null ? read.notes : [...read.notes, note],
  };
}

/**
 * Masks the whole document as one text, so that a key that spans several paragraphs is found. The lines stay
 * separate.
 */
async function mask(masker: Masker, document: ReadDocument): Promise<ReadDocument> {
  const texts = [document.title ?? '', ...document.blocks.map(({ text }) => text)];
  const [hidden] = await masker.maskAll([texts.join('\n')]);
  const lines = (hidden?.text ?? '').split('\n');
  let from = 0;
  const [title = '', ...blocks] = texts.map((text) => {
    const count = text.split('\n').length;
    from += count;
    return lines.slice(from - count, from).join('\n');
  });
  return {
    ...document,
    title: document.title === null ? null : title,
    blocks: document.blocks.map((block, index) => ({ ...block, text: blocks[index] ?? '' })),
  };
}

/**
 * Embeds the documents, and returns a note instead of throwing if that fails. Documents without an embedding
 * are still found by their words.
 */
async function embedQuietly(
  deps: KnowledgeServiceDeps,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  if (deps.semantic === null) return null;
  try {
    const limit = AbortSignal.timeout(EMBED_MS);
    await embedAll(deps, signal === undefined ? limit : AbortSignal.any([limit, signal]));
    return null;
  } catch (error) {
    deps.logger.warn({ error }, 'knowledge is not embedded yet; it is found by words only');
    const why = error instanceof TriageError ? error.message : getErrorMessage(error);
    return (
      `Found by words only until it is embedded (${why.replace(/\.$/, '')}). To embed it, run: ` +
      'faultline knowledge reindex'
    );
  }
}

async function embedAll(
  { semantic, curated, store }: KnowledgeServiceDeps,
  signal: AbortSignal | undefined,
): Promise<Embedded> {
  if (semantic === null) return { embedder: null, embedded: 0, removed: 0 };
  const ofCurated = await synchronizeItems(semantic, 'knowledge', await curated(), signal);
  const ofTeam = await synchronizeItems(
    semantic,
    'team_knowledge',
    async () => (await store.all()).map(toItem),
    signal,
  );
  return {
    embedder: semantic.embedder,
    embedded: ofCurated.fresh.length + ofTeam.fresh.length,
    removed: ofCurated.gone.length + ofTeam.gone.length,
  };
}

function toItem({ document, position, place, text }: PassageOf): VectorItem {
  const { id, source, title, category } = document;
  return createHashedItem(`${id}/${position}`, text, {
    documentId: id,
    source,
    title,
    position,
    place,
    ...(category === null ? {} : { category }),
  });
}

/**
 * The maximum number of tokens of a passage: enough for a step with its reason, and few enough for several
 * passages in one prompt.
 */
const MAX_TOKENS = 500;
/** The number of tokens of a passage that the next one repeats, so that no sentence loses its context. */
const OVERLAP_TOKENS = 60;
const MAX_PASSAGES = 4_000;
const MAX_HEADING = 120;

/** The blocks under one heading, on one page or slide, or in one sheet. */
interface Section {
  readonly headings: readonly string[];
  readonly place: DocumentPlace;
  readonly blocks: DocumentBlock[];
}

/**
 * Splits a document into passages of about 500 tokens: first at headings, pages, slides and sheets, and only
 * within them by length, with some overlap. Each begins with its headings and has its position. Throws
 * TriageError `too-large` above 4,000 passages.
 */
export function cutPassages(document: ReadDocument): Passage[] {
  const passages: Passage[] = [];
  for (const section of splitSections(document)) {
    for (const { text, place } of cutSection(section))
      passages.push({ position: passages.length + 1, place, text });
    if (passages.length > MAX_PASSAGES) {
      throw new TriageError(
        'too-large',
        `The document has more than ${MAX_PASSAGES} passages. Provide only the part that matters.`,
      );
    }
  }
  return passages;
}

function splitSections({ blocks }: ReadDocument): Section[] {
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
    if (open !== undefined && isSamePart(open.place, place)) open.blocks.push(block);
    else
      sections.push({
        headings: hasPlace(place) ? [] : path.map(({ text }) => text),
        place,
        blocks: [block],
      });
  }
  const nonEmpty = sections.filter(({ blocks: body }) => body.length > 0);
  return nonEmpty.length > 0 ? nonEmpty : sections.slice(-1);
}

/** Checks whether the passage is on a page, slide or sheet, which is then its citation. */
function hasPlace({ page, slide, sheet }: DocumentPlace): boolean {
  return page !== undefined || slide !== undefined || sheet !== undefined;
}

function isSamePart(left: DocumentPlace, right: DocumentPlace): boolean {
  return left.page === right.page && left.slide === right.slide && left.sheet === right.sheet;
}

interface Piece {
  readonly text: string;
  readonly tokens: number;
  readonly row: number | undefined;
}

function cutSection(section: Section): { text: string; place: string }[] {
  const pieces = section.blocks.flatMap((block) =>
    splitPieces(block.text).map((piece) => ({ ...piece, row: block.place.row })),
  );
  const first = pieces[0];
  // Cells need the names of their columns to be understood.
  const header = section.place.sheet !== undefined && first?.row === 1 && pieces.length > 1 ? first : null;
  const separator = section.place.sheet === undefined ? '\n\n' : '\n';
  const headings = section.headings.join(' › ');
  if (pieces.length === 0) return [{ text: headings, place: formatCitation(section, []) }];
  return pack(pieces).map((group) => {
    const lines = header === null || group[0] === header ? group : [header, ...group];
    const body = lines.map(({ text }) => text).join(separator);
    return { text: headings === '' ? body : `${headings}\n\n${body}`, place: formatCitation(section, group) };
  });
}

function pack(pieces: readonly Piece[]): Piece[][] {
  const groups: Piece[][] = [];
  let group: Piece[] = [];
  let tokens = 0;
  for (const piece of pieces) {
    if (group.length > 0 && tokens + piece.tokens > MAX_TOKENS) {
      groups.push(group);
      group = piece.row === undefined ? takeOverlap(group) : [];
      tokens = group.reduce((sum, other) => sum + other.tokens, 0);
    }
    group.push(piece);
    tokens += piece.tokens;
  }
  return group.length > 0 ? [...groups, group] : groups;
}

/** Returns the last piece, or its last sentences, as far as they fit the overlap. */
function takeOverlap(group: readonly Piece[]): Piece[] {
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

/**
 * Splits a text into pieces of at most 500 tokens at the best place available: between lines, sentences or
 * words, or else anywhere.
 */
function splitPieces(text: string): Omit<Piece, 'row'>[] {
  return splitAt(text, ['\n', '. ', ' ', '']);
}

function splitAt(text: string, separators: readonly string[]): Omit<Piece, 'row'>[] {
  const tokens = countTokens(text);
  if (tokens <= MAX_TOKENS) return text.trim() === '' ? [] : [{ text, tokens }];
  const [separator = '', ...finer] = separators;
  const parts = separator === '' ? splitIntoLengths(text) : text.split(separator);
  const pieces: Omit<Piece, 'row'>[] = [];
  let collected: string[] = [];
  let size = 0;
  const flush = () => {
    if (collected.length > 0) pieces.push({ text: collected.join(separator), tokens: size });
    collected = [];
    size = 0;
  };
  for (const part of parts) {
    const partTokens = countTokens(part) + 1;
    if (size + partTokens > MAX_TOKENS) flush();
    if (partTokens > MAX_TOKENS && separator !== '') append(pieces, splitAt(part, finer));
    else {
      collected.push(part);
      size += partTokens;
    }
  }
  flush();
  return pieces.filter((piece) => piece.text.trim() !== '');
}

/**
 * Splits a text into lengths of 100 characters, which always fit because a character has at most a few
 * tokens.
 */
function splitIntoLengths(text: string): string[] {
  const characters = Array.from(text);
  const lengths: string[] = [];
  for (let from = 0; from < characters.length; from += 100)
    lengths.push(characters.slice(from, from + 100).join(''));
  return lengths;
}

function formatCitation({ place, headings }: Section, group: readonly Piece[]): string {
  if (place.page !== undefined) return `page ${place.page}`;
  if (place.slide !== undefined) return [`slide ${place.slide}`, ...headings.slice(-1)].join(': ');
  if (place.sheet !== undefined) {
    const [from, to] = [group[0]?.row ?? 1, group.at(-1)?.row ?? 1];
    return `sheet ${place.sheet}, ${from === to ? `row ${from}` : `rows ${from}–${to}`}`;
  }
  return headings.length === 0 ? 'beginning' : headings.join(' › ');
}
