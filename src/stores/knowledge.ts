import { listCodes } from '../log/fingerprint/distinctive.ts';
import { listSearchWords, scorePassage } from '../log/fingerprint/naming.ts';
import { parseQuestion } from '../log/fingerprint/normalize.ts';
import type { Database } from '../ports/database.ts';
import {
  Passage,
  type PassageMatch,
  type PassageOf,
  TeamDocument,
  type TeamKnowledgeStore,
} from '../ports/knowledge.ts';
import { insert, listColumns, queryAll, queryFirst } from './sql.ts';

/** The maximum number of passages that are compared word by word, chosen by full text and trigrams. */
const CANDIDATES = 60;
const MAX_TERMS = 40;
/**
 * The maximum length of text that is compared by trigrams. The similarity between a long question and a short
 * word is meaningless.
 */
const MAX_LIKENESS = 300;
const MAX_DOCUMENTS = 10_000;
const MAX_PASSAGES = 200_000;

const Found = Passage.extend({
  document: TeamDocument.pick({ id: true, source: true, title: true, category: true }),
});

/**
 * Creates the store of team documents in the database. Passages are found by full text or trigrams and scored
 * by their words.
 */
export function createTeamKnowledgeStore(db: Database): TeamKnowledgeStore {
  return {
    put: (document, passages) =>
      db.transaction(async (sql) => {
        const [row] = await insert(sql, 'knowledge_documents', TeamDocument.parse(document), REPLACE);
        const { id } = TeamDocument.pick({ id: true }).parse(row);
        await sql.query('delete from knowledge_passages where document_id = $1', [id]);
        const rows = passages.map((passage) => ({
          ...passage,
          words: listSearchWords(passage.text).join(' '),
        }));
        await sql.query(PUT_PASSAGES, [id, { rows }]);
        return id;
      }),
    find: async (idOrSource) =>
      await queryFirst(
        db,
        TeamDocument,
        `select ${DOCUMENT} from knowledge_documents where id = $1 or source = $1 limit 1`,
        [idOrSource],
      ),
    passages: async (id, around) => await queryAll(db, Passage, PASSAGES, [id, around ?? null, AROUND]),
    list: async () =>
      await queryAll(
        db,
        TeamDocument,
        `select ${DOCUMENT} from knowledge_documents order by source limit $1`,
        [MAX_DOCUMENTS],
      ),
    all: async () => (await db.query(ALL, [MAX_PASSAGES])).map((row): PassageOf => Found.parse(row)),
    remove: async (id) =>
      (await db.query('delete from knowledge_documents where id = $1 returning id', [id])).length > 0,
    search: async ({ text, limit, category }) => {
      const wanted = parseQuestion(text);
      if (wanted.terms.length === 0 || limit < 1) return [];
      const question = [...listCodes(text), ...wanted.terms]
        .slice(0, MAX_TERMS)
        .map((term) => `'${term}'`)
        .join(' | ');
      const like = wanted.terms.join(' ').slice(0, MAX_LIKENESS);
      const rows = await db.query(SEARCH, [question, like, category ?? null, CANDIDATES]);
      return rows
        .map((row) => Found.parse(row))
        .map((found): PassageMatch => ({ ...found, score: scorePassage(text, found.text) }))
        .filter(({ score }) => score > 0)
        .toSorted((left, right) => right.score - left.score)
        .slice(0, limit);
    },
  };
}

const DOCUMENT = listColumns(TeamDocument);

/** The number of passages of a document that are read before and after one of them. */
const AROUND = 50;

const PASSAGES = `
  select position, place, text from knowledge_passages
  where document_id = $1
    and ($2::integer is null or position between $2::integer - $3::integer and $2::integer + $3::integer)
  order by position`;

const REPLACED = [
  'title',
  'format',
  'category',
  'hash',
  'bytes',
  'passages',
  'notes',
  'imported_by',
  'imported_at',
];

const REPLACE = `on conflict (source) do update
  set ${REPLACED.map((column) => `${column} = excluded.${column}`).join(', ')} returning id`;

const PUT_PASSAGES = `
  insert into knowledge_passages (document_id, position, place, text, words)
  select $1, (r->>'position')::integer, r->>'place', r->>'text', r->>'words'
  from jsonb_array_elements($2::jsonb->'rows') as r`;

const FOUND = `p.position, p.place, p.text,
  jsonb_build_object('id', d.id, 'source', d.source, 'title', d.title, 'category', d.category) as document`;

const ALL = `
  select ${FOUND} from knowledge_passages p join knowledge_documents d on d.id = p.document_id
  order by d.source, p.position limit $1`;

// The rank considers the length (1), so that a long passage is not found for containing some of everything.
const SEARCH = `
  select ${FOUND} from knowledge_passages p join knowledge_documents d on d.id = p.document_id
  where (p.terms @@ $1::tsquery or $2 <% p.words)
    and ($3::text is null or d.category is null or d.category = $3)
  order by ts_rank(p.terms, $1::tsquery, 1) + word_similarity($2, p.words) desc, d.source, p.position
  limit $4`;
