import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { messageOf, TriageError } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import type { Clock } from '../../lib/time.ts';
import type { Masker } from '../../log/mask/mask.ts';
import type {
  AddedDocument,
  DocumentReader,
  Embedded,
  KnowledgeService,
  NewDocument,
  PassageOf,
  ReadDocument,
  TeamDocument,
  TeamKnowledgeStore,
} from '../../ports/knowledge.ts';
import type { Logger } from '../../ports/telemetry.ts';
import type { SemanticIndex, VectorItem } from '../../ports/vector-index.ts';
import { bringInStep, hashedItem } from './bring-in-step.ts';
import { cutPassages } from './cut-passages.ts';

export interface KnowledgeServiceDeps {
  readonly store: TeamKnowledgeStore;
  readonly reader: DocumentReader;
  readonly masker: Masker;
  /** Null where no embedding model is configured. */
  readonly semantic: SemanticIndex | null;
  /** The curated documents as items of the index, to be embedded beside the team's. */
  readonly curated: () => Promise<readonly VectorItem[]>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Part of every hash: a reader that reads better reads again. */
const READING = 'passages-1';
const MAX_TITLE = 200;
/** What a person waits for after adding a document; the rest is embedded later. Milliseconds. */
const EMBED_MS = 60_000;

/** Reads, masks, cuts and stores what a team brings, and embeds it where a model is configured. */
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
      // Vectors without their passage are never shown, and go with the next embedding at the latest.
      await embedQuietly(deps, undefined);
      return document;
    },
    async embed({ anew = false } = {}, signal) {
      if (anew) await deps.semantic?.clear();
      return embedAll(deps, signal);
    },
  };
}

async function add(deps: KnowledgeServiceDeps, file: NewDocument, signal: AbortSignal | undefined): Promise<AddedDocument> {
  const { source, bytes, category, importedBy, dryRun = false } = file;
  const hash = createHash('sha256')
    .update(`${READING}\n${category ?? ''}\n`)
    .update(bytes)
    .digest('hex');
  const known = await deps.store.find(source);
  if (known?.source === source && known.hash === hash) return { outcome: 'unchanged', document: known, notes: [] };
  const read = await masked(deps.masker, await deps.reader.read({ name: source, bytes }, signal));
  const passages = cutPassages(read);
  const now = deps.clock.now();
  const document: TeamDocument = {
    id: known?.id ?? newId('doc', now),
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
  return { outcome, document: { ...document, id }, notes: note === null ? read.notes : [...read.notes, note] };
}

/** The whole document is masked in one piece, so that a key is hidden that reaches over paragraphs; lines stay lines. */
async function masked(masker: Masker, document: ReadDocument): Promise<ReadDocument> {
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

/** Without an embedding a document is still found by its words: that it failed is a note. */
async function embedQuietly(deps: KnowledgeServiceDeps, signal: AbortSignal | undefined): Promise<string | null> {
  if (deps.semantic === null) return null;
  try {
    const limit = AbortSignal.timeout(EMBED_MS);
    await embedAll(deps, signal === undefined ? limit : AbortSignal.any([limit, signal]));
    return null;
  } catch (error) {
    deps.logger.warn({ error }, 'knowledge is not embedded yet; it is found by words alone');
    const why = error instanceof TriageError ? error.message : messageOf(error);
    return `Found by words only until it is embedded (${why.replace(/\.$/, '')}). To embed it, run: faultline knowledge reindex`;
  }
}

async function embedAll({ semantic, curated, store }: KnowledgeServiceDeps, signal: AbortSignal | undefined): Promise<Embedded> {
  if (semantic === null) return { embedder: null, embedded: 0, removed: 0 };
  const ofCurated = await bringInStep(semantic, 'knowledge', await curated(), signal);
  const ofTeam = await bringInStep(semantic, 'team_knowledge', async () => (await store.all()).map(itemOf), signal);
  return {
    embedder: semantic.embedder,
    embedded: ofCurated.fresh.length + ofTeam.fresh.length,
    removed: ofCurated.gone.length + ofTeam.gone.length,
  };
}

function itemOf({ document, position, place, text }: PassageOf): VectorItem {
  const { id, source, title, category } = document;
  return hashedItem(`${id}/${position}`, text, {
    documentId: id,
    source,
    title,
    position,
    place,
    ...(category === null ? {} : { category }),
  });
}
