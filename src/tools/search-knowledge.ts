import type { Category } from '../domain/category.ts';
import { TriageError } from '../domain/errors.ts';
import { type FindingFrom, readData } from '../domain/finding-data.ts';
import { omitUndefined } from '../lib/collections.ts';
import { limitTime } from '../lib/resilience.ts';
import type { Passage as KeptPassage, PassageMatch, TeamKnowledgeStore } from '../ports/knowledge.ts';
import type { Clues } from '../ports/toolbox.ts';
import type { SemanticIndex, VectorIndex, VectorMatch } from '../ports/vector-index.ts';
import { formatFailureHeadline, formatFailureText, listInformativeLines } from './findings.ts';
import { type Explanation, explain, findBestNaming } from './parent-document.ts';
import { createRetrievalParameters } from './retrieval-parameters.ts';
import { ANY_CATEGORY, defineTool, type Tool } from './tool.ts';

type KnowledgeFinding = FindingFrom<'search_knowledge'>;

/** The maximum number of lines of the failure that are looked up separately. */
const MAX_LINES = 8;
/** The maximum number of passages for each line. */
const PER_LINE = 10;
/** The decrease in weight with each further line, because a failure states the most important fact first. */
const LATER = 0.03;
/** The share of a line's words that a team's passage must contain to be relevant. */
const MIN_SAID = 0.35;
/** The maximum number of passages found by meaning. */
const BY_MEANING = 20;
/**
 * The minimum word similarity of a curated document. Of 254 labeled jobs, 1 in 18 of the documents below it
 * was of the right kind, and 1 in 2 of the best documents above it.
 */
const MIN_WORDS = 0.4;
/** The minimum likeness of a shown passage. Lower likeness may be chance. */
const MIN_LIKE = 0.2;
/**
 * Time limit of semantic search, in milliseconds. Search by words returns at once and does not wait longer
 * for it.
 */
const MEANING_MS = 5_000;

const KnowledgeParameters = createRetrievalParameters('Only documents of this category');

/** The sources of knowledge in addition to the curated documents. Absent sources are not searched. */
export interface KnowledgeSources {
  readonly team?: TeamKnowledgeStore | undefined;
  readonly semantic?: SemanticIndex | null | undefined;
}

/**
 * Creates the tool that finds the curated document, or the passage of the team's documents, that describes
 * this kind of failure. Words are always compared. If an embedding
 * model is configured, meaning is compared too, and the two rankings are merged by reciprocal rank fusion.
 * The score is the higher of the two similarities, never
 * the fused rank: 0.75 always means that most of a line of the failure is in the document. If the model is
 * unavailable, only words
 * are compared, and `data.note` of each finding says so.
 */
export function searchKnowledge(vectorIndex: VectorIndex, { team, semantic }: KnowledgeSources = {}): Tool {
  return defineTool({
    name: 'search_knowledge',
    question:
      'Which curated document or runbook of the team describes this kind of failure, its causes and ' +
      'its fixes?',
    serves: ANY_CATEGORY,
    investigator: 'documents',
    asks: 'knowledge',
    precedence: 3,
    always: true,
    costClass: 'low',
    usualLatencyMs: 200,
    provider: `vector-index:${vectorIndex.driver}`,
    parameters: KnowledgeParameters,
    alternative: {
      tool: 'search_web',
      args: (_call, subject) => ({ query: formatFailureHeadline(subject) }),
    },
    argumentsFrom: buildQuery,
    async run({ query, category, limit }, { subject, signal }) {
      const asked = query ?? formatFailureText(subject);
      const informative = listInformativeLines(asked).slice(0, MAX_LINES);
      const lines = informative.length > 0 || asked === '' ? informative : [asked];
      const [byWords, byMeaning] = await Promise.all([
        findByWords(vectorIndex, team, lines, category, signal),
        semantic ? findByMeaning(semantic, lines.join('\n'), category, signal) : { passages: [], note: null },
      ]);
      const fused = fuse(byMeaning.passages.length === 0 ? [byWords] : [byWords, byMeaning.passages]);
      const best = fused.filter(({ score }) => score >= MIN_LIKE).slice(0, limit);
      const findings = await Promise.all(
        best.map((passage) => toFinding(passage, lines, { vectorIndex, team }, signal)),
      );
      const { note } = byMeaning;
      return findings
        .filter((finding) => finding !== null)
        .map((finding) => (note === null ? finding : { ...finding, data: { ...finding.data, note } }));
    },
  });
}

async function findByWords(
  index: VectorIndex,
  team: TeamKnowledgeStore | undefined,
  lines: readonly string[],
  category: Category | undefined,
  signal: AbortSignal,
): Promise<Passage[]> {
  const filter = category === undefined ? {} : { filter: { category } };
  const ofLines = await Promise.all(
    lines.map(async (text, line) => {
      const weight = 1 - LATER * line;
      const [curated, own] = await Promise.all([
        index.search('knowledge', { text, limit: PER_LINE, ...filter }, signal),
        team?.search({ text, limit: PER_LINE, ...(category === undefined ? {} : { category }) }) ?? [],
      ]);
      const known = curated.filter(({ score }) => score >= MIN_WORDS);
      const relevant = own.filter(({ score }) => score >= MIN_SAID);
      return [
        ...known.map((match) => createCuratedPassage(match, match.score * weight)),
        ...relevant.map((match) => createTeamPassage(match, match.score * weight)),
      ];
    }),
  );
  return keepBestOfDocuments(ofLines.flat());
}

async function findByMeaning(
  index: SemanticIndex,
  text: string,
  category: Category | undefined,
  signal: AbortSignal,
): Promise<{ passages: Passage[]; note: string | null }> {
  if (text === '') return { passages: [], note: null };
  const query = { text, limit: BY_MEANING, ...(category === undefined ? {} : { filter: { category } }) };
  const late = () =>
    new TriageError('timeout', `The embedding server did not answer within ${MEANING_MS / 1000} s`);
  try {
    const [curated, team] = await limitTime({ limitMs: MEANING_MS, signal, late }, (limit) =>
      Promise.all([index.search('knowledge', query, limit), index.search('team_knowledge', query, limit)]),
    );
    const found = [
      ...curated.map((match) => createCuratedPassage(match)),
      ...team.map(createEmbeddedTeamPassage),
    ];
    return { passages: keepBestOfDocuments(found.filter(({ score }) => score >= MIN_LIKE)), note: null };
  } catch (error) {
    if (signal.aborted || !(error instanceof TriageError)) throw error;
    return { passages: [], note: `Found by words only: ${error.message}` };
  }
}

/**
 * Reciprocal rank fusion (Cormack, Clarke, Büttcher: Reciprocal Rank Fusion outperforms Condorcet, SIGIR
 * 2009) and its constant.
 */
const K = 60;

/** A search hit by its key. `score` is 0..1 and states how well the hit fits. */
interface Ranked {
  readonly key: string;
  readonly score: number;
}

/**
 * Fuses lists that are each sorted, best first. The result is sorted by fused rank, and then by score. Each
 * item is taken from the list with its best score. A single list is returned unchanged.
 */
export function fuse<Item extends Ranked>(lists: readonly (readonly Item[])[]): Item[] {
  const fused = new Map<string, { item: Item; rank: number }>();
  for (const list of lists) {
    for (const [index, item] of list.entries()) {
      const known = fused.get(item.key);
      const rank = (known?.rank ?? 0) + 1 / (K + index + 1);
      fused.set(item.key, {
        item: known === undefined || item.score > known.item.score ? item : known.item,
        rank,
      });
    }
  }
  return [...fused.values()]
    .sort((left, right) => right.rank - left.rank || right.item.score - left.item.score)
    .map(({ item }) => item);
}

/** The best passage of one document for a question, curated or from the team. */
interface Passage {
  /** The id of the document. */
  readonly key: string;
  readonly score: number;
  readonly curated: VectorMatch | null;
  readonly team: TeamPassage | null;
}

type TeamPassage = Pick<PassageMatch, 'position' | 'place' | 'text' | 'document'>;

/** Creates a passage from a match in a curated document. */
function createCuratedPassage(match: VectorMatch, score = match.score): Passage {
  return { key: getDocumentId(match), score: bound(score), curated: match, team: null };
}

/** Creates a passage from a document of the team. */
function createTeamPassage(match: TeamPassage, score: number): Passage {
  return { key: match.document.id, score: bound(score), curated: null, team: match };
}

/** Creates a passage of a team document from a match in the vector index. */
function createEmbeddedTeamPassage({ id, text, metadata, score }: VectorMatch): Passage {
  const of = (field: string) => (typeof metadata[field] === 'string' ? metadata[field] : '');
  const document = { id: of('documentId') || id, source: of('source'), title: of('title'), category: null };
  const position = typeof metadata.position === 'number' ? metadata.position : 0;
  return createTeamPassage({ position, place: of('place'), text, document }, score);
}

/** Keeps the best passage of each document, sorted best first. */
function keepBestOfDocuments(passages: Iterable<Passage>): Passage[] {
  const best = new Map<string, Passage>();
  for (const passage of passages)
    if (passage.score > (best.get(passage.key)?.score ?? 0)) best.set(passage.key, passage);
  return [...best.values()].sort((left, right) => right.score - left.score);
}

interface Sources {
  readonly vectorIndex: VectorIndex;
  readonly team: TeamKnowledgeStore | undefined;
}

/** Converts a passage to a finding with its citation. */
async function toFinding(
  passage: Passage,
  lines: readonly string[],
  { vectorIndex, team }: Sources,
  signal: AbortSignal,
): Promise<KnowledgeFinding | null> {
  if (passage.curated !== null)
    return createCuratedFinding(
      passage.curated,
      passage.score,
      await readWholeText(vectorIndex, passage.curated, signal),
    );
  if (passage.team === null) return null;
  const { document, position } = passage.team;
  return convertTeamFinding(
    passage.team,
    passage.score,
    lines,
    (await team?.passages(document.id, position)) ?? [],
  );
}

function createCuratedFinding(match: VectorMatch, score: number, text: string): KnowledgeFinding {
  const { title, part } = match.metadata;
  const { category, kind, fix } = readData('search_knowledge', { data: match.metadata });
  const documentId = getDocumentId(match);
  const phrase = part === 'signal' ? { matchedPhrase: match.text } : {};
  return {
    title: `${documentId}: ${title ?? documentId}`,
    text,
    source: `knowledge/${documentId}`,
    score,
    data: {
      documentId,
      ...omitUndefined({
        category: category ?? undefined,
        kind: kind ?? undefined,
        title,
        fix: fix ?? undefined,
      }),
      ...phrase,
    },
  };
}

/** Converts a team's passage to a finding, with what its document says about cause and fix. */
function convertTeamFinding(
  hit: TeamPassage,
  score: number,
  lines: readonly string[],
  passages: readonly KeptPassage[],
): KnowledgeFinding {
  const { document, place } = hit;
  const { id, source, title, category } = document;
  const naming = findBestNaming(lines, hit.text);
  const explanation = explain(naming, hit, passages);
  const { named, cause, fix } = explanation;
  return {
    title: `${title} (${place})`,
    text: describeParent(hit, explanation),
    source: `team-knowledge/${source}#${place}`,
    score,
    data: {
      documentId: id,
      document: source,
      title,
      place,
      ...omitUndefined({ category: category ?? undefined, named, cause, fix }),
    },
  };
}

/** The maximum number of characters of a passage that are shown before its document's cause and fix. */
const MAX_HIT = 400;
const MAX_SHORT = 900;

/** Formats a passage with its document's fix and cause, which precede the rest of a long passage. */
function describeParent({ text, place }: TeamPassage, { offset, cause, fix, places }: Explanation): string {
  if (places.length === 0 && text.length <= MAX_SHORT) return text;
  const from = Math.max(0, offset - MAX_HIT / 4);
  const parts = [
    text.slice(from, from + MAX_HIT),
    fix === null ? '' : `Fix: ${fix}`,
    cause === null ? '' : `Cause: ${cause}`,
  ];
  const rest = text.length > MAX_HIT ? `${place}\n\n${text}` : '';
  return [...parts, rest].filter((part) => part !== '').join('\n\n');
}

/** Returns the full text of the document that contains the passage. */
async function readWholeText(index: VectorIndex, match: VectorMatch, signal: AbortSignal): Promise<string> {
  if (match.metadata.part !== 'signal') return match.text;
  const filter = { documentId: getDocumentId(match), part: 'document' };
  const [whole] = await index.search('knowledge', { text: match.text, limit: 1, filter }, signal);
  return whole?.text ?? match.text;
}

function getDocumentId(match: VectorMatch): string {
  const { documentId } = match.metadata;
  return typeof documentId === 'string' ? documentId : match.id;
}

function bound(score: number): number {
  return Math.min(Math.max(score, 0), 1);
}

/** The maximum number of messages in a query, in addition to the decisive line and the headline. */
const MAX_MESSAGES = 4;
/** The maximum number of characters of each line of a query. */
const MAX_LINE = 300;

/**
 * Builds a query from the messages, one per line and most informative first: the fact of the decisive rule
 * comes before the headline. Returns null if there is no text.
 */
function buildQuery({ subject, headline, decisive }: Clues): Record<string, unknown> | null {
  const texts = [
    decisive ?? '',
    headline,
    subject.diagnostics[0]?.message ?? '',
    subject.exceptions[0]?.message ?? '',
  ].concat(subject.messages.slice(0, MAX_MESSAGES).map(({ text }) => text));
  const lines = texts
    .map((text) => text.replace(/\s+/g, ' ').trim().slice(0, MAX_LINE))
    .filter((text) => text !== '');
  const words =
    lines.length > 0
      ? [...new Set(lines)].join('\n')
      : (subject.excerpts[0]?.text ?? '').trim().slice(0, MAX_LINE);
  return words === '' ? null : { query: words, limit: 5 };
}
