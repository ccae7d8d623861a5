import { listCodes } from '../../src/log/fingerprint/distinctive.ts';
import { listSearchWords, scorePassage } from '../../src/log/fingerprint/naming.ts';
import { parseQuestion } from '../../src/log/fingerprint/normalize.ts';
import type { Passage, PassageOf, TeamDocument, TeamKnowledgeStore } from '../../src/ports/knowledge.ts';

const CANDIDATES = 60;
/**
 * The usual constants of Okapi BM25 (Robertson, Walker, Jones, Hancock-Beaulieu, Gatford: Okapi at TREC-3,
 * 1994).
 */
const K1 = 1.2;
const B = 0.75;

interface Indexed {
  readonly passage: PassageOf;
  readonly words: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
}

interface Kept {
  readonly document: TeamDocument;
  readonly passages: readonly Indexed[];
}

/** Creates a store of a team's documents in memory, which uses BM25 and the same scores as the database. */
export function createMemoryTeamKnowledge(): TeamKnowledgeStore {
  const kept = new Map<string, Kept>();
  const bySource = () =>
    [...kept.values()].sort((left, right) => (left.document.source < right.document.source ? -1 : 1));
  return {
    async put(document, passages) {
      const id =
        [...kept.values()].find((one) => one.document.source === document.source)?.document.id ?? document.id;
      const stored = { ...document, id };
      kept.set(id, { document: stored, passages: passages.map((passage) => indexPassage(stored, passage)) });
      return id;
    },
    find: async (idOrSource) =>
      [...kept.values()].find(({ document }) => document.id === idOrSource || document.source === idOrSource)
        ?.document ?? null,
    passages: async (id, around) =>
      (kept.get(id)?.passages ?? [])
        .map(({ passage: { position, place, text } }) => ({ position, place, text }))
        .filter(({ position }) => around === undefined || Math.abs(position - around) <= 50),
    list: async () => bySource().map(({ document }) => document),
    all: async () => bySource().flatMap(({ passages }) => passages.map(({ passage }) => passage)),
    remove: async (id) => kept.delete(id),
    async search({ text, limit, category }) {
      const wanted = parseQuestion(text);
      const inReach = bySource().flatMap(({ passages }) => passages);
      const asked = inReach.filter(
        ({ passage }) => category === undefined || (passage.document.category ?? category) === category,
      );
      return rankByBm25([...listCodes(text), ...wanted.terms], asked)
        .map(({ passage }) => ({ ...passage, score: scorePassage(text, passage.text) }))
        .filter(({ score }) => score > 0)
        .toSorted((left, right) => right.score - left.score)
        .slice(0, Math.max(0, limit));
    },
  };
}

function indexPassage({ id, source, title, category }: TeamDocument, passage: Passage): Indexed {
  const words = listSearchWords(passage.text);
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return { passage: { ...passage, document: { id, source, title, category } }, words, counts };
}

function rankByBm25(terms: readonly string[], passages: readonly Indexed[]): Indexed[] {
  const average = passages.reduce((sum, { words }) => sum + words.length, 0) / Math.max(1, passages.length);
  const rarity = new Map(
    terms.map((term) => {
      const having = passages.filter(({ counts }) => counts.has(term)).length;
      return [term, Math.log(1 + (passages.length - having + 0.5) / (having + 0.5))] as const;
    }),
  );
  return passages
    .map((entry) => {
      let rank = 0;
      for (const [term, weight] of rarity) {
        const count = entry.counts.get(term) ?? 0;
        rank +=
          (weight * count * (K1 + 1)) /
          (count + K1 * (1 - B + (B * entry.words.length) / Math.max(1, average)));
      }
      return { entry, rank };
    })
    .filter(({ rank }) => rank > 0)
    .sort((left, right) => right.rank - left.rank)
    .slice(0, CANDIDATES)
    .map(({ entry }) => entry);
}
