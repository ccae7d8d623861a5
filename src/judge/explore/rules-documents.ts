import { z } from 'zod';
import type { Evidence, ToolCall } from '../../domain/evidence.ts';
import type { Inquiry, PlaceTopic } from '../../ports/analyst.ts';
import { cite, type Draft, record } from '../drafts.ts';
import { getLine, listBroughtBy } from './place-evidence.ts';

type Asked = Inquiry<PlaceTopic>;

/** The share of a question's words that a passage must hold to be quoted. */
const ENOUGH = 0.7;
/** The share for a passage of a document that a quoted passage refers to. */
const ENOUGH_REFERRED = 0.1;
const MAX_QUOTED = 3;
const MAX_FOLLOWED = 3;
const MAX_HOPS = 3;

const References = z.array(z.object({ words: z.string(), path: z.string().nullable(), line: z.int() }));

/** Chooses the calls of a round: scan and search, then the documents that the best passages refer to. */
export function chooseDocumentCalls({
  round,
  question,
  ...input
}: Asked & { readonly round: number }): ToolCall[] {
  const words = question.slice(0, 500);
  if (!input.outcomes.some(({ call }) => call.tool === 'search_documents'))
    return [
      { tool: 'scan_documents', args: { question: words }, why: 'every document is previewed' },
      { tool: 'search_documents', args: { words }, why: 'the passages that say most of the question' },
    ];
  if (round > MAX_HOPS + 1) return [];
  const followed = new Set(input.outcomes.map(({ call }) => call.args.document));
  const passages = listPassages({ ...input, question });
  return listReferred(passages)
    .filter(({ path }) => !followed.has(path))
    .slice(0, MAX_FOLLOWED)
    .map(({ path, from, said }) => ({
      tool: 'search_documents',
      args: { words, document: path, limit: 1 },
      why: `${from} refers to it: “${said.slice(0, 80)}”`,
    }));
}

interface Referred {
  readonly path: string;
  readonly from: string;
  readonly said: string;
}

function listReferred(passages: readonly Evidence[]): Referred[] {
  return passages.flatMap(({ source, data }) => {
    const references = References.safeParse(data?.references).data ?? [];
    return references.flatMap(({ path, words }) =>
      path === null ? [] : [{ path, from: source, said: words }],
    );
  });
}

/** Returns the passages that answer the question: good ones, and those of documents that they refer to. */
function listPassages(input: Asked): Evidence[] {
  const all = listBroughtBy(input, 'search_documents');
  const best = all.filter(({ score = 0 }) => score >= ENOUGH).slice(0, MAX_QUOTED);
  const chosen = new Map(best.map((item) => [item.id, item]));
  for (let hop = 0; hop < MAX_HOPS; hop += 1) {
    const paths = new Set(listReferred([...chosen.values()]).map(({ path }) => path));
    for (const item of all)
      if (paths.has(item.source) && (item.score ?? 0) >= ENOUGH_REFERRED) chosen.set(item.id, item);
  }
  return [...chosen.values()];
}

/** Quotes the passages that say what is asked, and those of the documents to which they refer. */
export function answerFromDocuments(input: Asked): Draft[] {
  const passages = listPassages(input);
  if (passages.length === 0) return [record(NOTHING)];
  const referred = listReferred(passages);
  return [...passages.slice(0, 6).map((item) => quotePassage(item, referred)), ...listBroken(passages)];
}

const NOTHING =
  'No passage of the documents holds enough words of this question, and no language model is configured ' +
  'that could read them. Ask with words that the documents use.';

function quotePassage(item: Evidence, referred: readonly Referred[]): Draft {
  const { source, lineStart = 1, lineEnd = lineStart } = item;
  const quotes = Array.from(
    { length: Math.min(6, lineEnd - lineStart + 1) },
    (_, index) => lineStart + index,
  ).flatMap((line) => {
    const text = (getLine(item, line) ?? '').trim().slice(0, 400);
    return text === '' ? [] : [{ source, line, text }];
  });
  const by = referred.find(({ path }) => path === source);
  const place = typeof item.data?.place === 'string' ? ` (${item.data.place})` : '';
  const lead = by === undefined ? '' : `, to which ${by.from} refers,`;
  return cite(
    `${source}:${lineStart}${place}${lead} says: “${quotes.map(({ text }) => text).join(' ')}”`,
    [item.id],
    quotes,
  );
}

/** States which references of the quoted passages lead to no document. */
function listBroken(passages: readonly Evidence[]): Draft[] {
  const broken = passages.flatMap(({ id, data }) =>
    (References.safeParse(data?.references).data ?? []).flatMap(({ path, words }) =>
      path === null ? [{ id, words }] : [],
    ),
  );
  return broken
    .slice(0, 3)
    .map(({ id, words }) => cite(`It refers to ${words}, which is not among the documents.`, [id]));
}
