import type { Quote } from '../../domain/analysis.ts';
import type { Evidence } from '../../domain/evidence.ts';
import type { Inquiry, PlaceTopic } from '../../ports/analyst.ts';
import { cite, type Draft, record } from '../drafts.ts';
import { type DefinitionEvidence, getLine, listBroughtBy, listDefinitionEvidence } from './place-evidence.ts';
import { isPathName, type PlaceQuestion } from './place-questions.ts';

type Asked = Inquiry<PlaceTopic>;

const MAX_LISTED = 10;
const MAX_COMMENT_LINES = 4;
const MAX_QUOTE = 300;

/** Answers a question of a known form from what its tools found; what was not found is said. */
export function answerPlaceQuestion(question: PlaceQuestion, input: Asked): Draft[] {
  const { form, entities } = question;
  switch (form) {
    case null:
      return [record(LIMITS)];
    case 'overview':
      return describeDocument(input);
    case 'layout':
      return describeLayout(input);
    case 'stack':
      return describeStack(input);
    case 'callers':
      return entities.flatMap((name) => describeUses(name, input));
    case 'changed':
      return entities.flatMap((name) => describeChanges(name, input));
    case 'where':
      return entities.flatMap((name) =>
        isPathName(name) ? describePaths(name, input) : describeWhere(name, input),
      );
    case 'compare':
      return compare(entities, input);
    case 'how':
      return describeJourney(entities, input);
    default:
      return entities.flatMap((name) =>
        isPathName(name) ? describeOutline(name, input) : describeWhat(name, input),
      );
  }
}

const LIMITS =
  'Without a language model I answer where something is defined, what it does by its comment, what calls ' +
  'it, who changed it, how it differs from something else, what a file defines, and what the repository ' +
  'is, contains and is built with. I cannot answer this question.';

function describeWhere(name: string, input: Asked): Draft[] {
  const found = listDefinitionEvidence(input, name);
  if (found.length === 0) return [createMissing(name, input)];
  return found.slice(0, MAX_LISTED).map((definition) => describeDefinition(definition));
}

function describeDefinition({ item, data }: DefinitionEvidence): Draft {
  const { path, line, kind, container, name } = data;
  const inside = container === null ? '' : ` of ${container}`;
  const text = `${path}:${line} defines the ${kind} ${name}${inside}`;
  const quote = quoteLine(item, line);
  if (quote === null) return cite(`${text}.`, [item.id]);
  return cite(`${text}: “${quote.text}”.`, [item.id], [quote]);
}

/** States what a definition's own comment says, and where it is. */
function describeWhat(name: string, input: Asked): Draft[] {
  const found = listDefinitionEvidence(input, name);
  if (found.length === 0) return [createMissing(name, input)];
  const described = found.filter(({ data }) => data.comment !== null);
  const chosen = (described.length > 0 ? described : found).slice(0, 3);
  return chosen.flatMap((definition) => [describeDefinition(definition), describeComment(definition, input)]);
}

/** Tells what comments say as the story, and the definitions as the components. */
function describeJourney(names: readonly string[], input: Asked): Draft[] {
  const all = names.flatMap((name) =>
    isPathName(name) ? describeOutline(name, input) : describeWhat(name, input),
  );
  const isStory = ({ text }: Draft) => /^(?:Its|No) comment says/.test(text);
  const components = all.filter((draft) => !isStory(draft));
  if (components.every(({ basis }) => basis !== 'evidence')) return components;
  return [record('Story:'), ...all.filter(isStory), record('Key components:'), ...components];
}

/** Holds the first definitions of two names and their comments side by side, a row each. */
function compare(names: readonly string[], input: Asked): Draft[] {
  const sides = names.map((name) => describeWhat(name, input));
  const [first, second] = sides;
  if (first === undefined || second === undefined || sides.some(([draft]) => draft?.basis !== 'evidence'))
    return sides.flat();
  const rows = ['Definition', 'Comment'].flatMap((aspect, index): Draft[] => {
    const [left, right] = [first[index], second[index]];
    return left === undefined || right === undefined ? [] : [joinRow(aspect, left, right)];
  });
  const [left = '', right = ''] = names;
  return [record(`Aspect | ${left} | ${right}`), ...rows];
}

function joinRow(aspect: string, first: Draft, second: Draft): Draft {
  const cell = ({ text }: Draft) => text.replaceAll('|', '¦');
  return {
    text: `${aspect} | ${cell(first)} | ${cell(second)}`,
    evidence: [...new Set([...first.evidence, ...second.evidence])],
    quotes: [...first.quotes, ...second.quotes],
    basis: first.basis === 'evidence' || second.basis === 'evidence' ? 'evidence' : 'record',
  };
}

function describeComment({ item, data }: DefinitionEvidence, input: Asked): Draft {
  const quotes: Quote[] = [];
  const first = data.comment?.lineStart ?? 0;
  // A long comment is evidence of its own.
  const holder =
    [item, ...listBroughtBy(input, 'find_definition')].find(
      ({ source, lineStart = 0, lineEnd = 0 }) =>
        source === data.path && lineStart <= first && first <= lineEnd,
    ) ?? item;
  for (let line = data.comment?.lineStart ?? 1; line <= (data.comment?.lineEnd ?? 0); line += 1) {
    const quote = quoteLine(holder, line, stripCommentMarks);
    if (quote !== null && /\w/.test(quote.text)) quotes.push(quote);
    else if (quotes.length > 0) break;
    if (quotes.length === MAX_COMMENT_LINES) break;
  }
  if (quotes.length === 0)
    return record(
      `No comment says what ${data.name} does; its code is at ${data.path}:${data.line}–${data.end}.`,
    );
  return cite(`Its comment says: “${quotes.map(({ text }) => text).join(' ')}”`, [holder.id], quotes);
}

function stripCommentMarks(line: string): string {
  return line
    .replace(/^\s*(?:\/\/[/!]?|\/\*\*?|\*(?!\/)|#+|--|[rRuU]?"""|''')\s?/, '')
    .replace(/\s*(?:\*\/|"""|''')\s*$/, '')
    .trim();
}

function describeUses(name: string, input: Asked): Draft[] {
  const uses = listBroughtBy(input, 'find_uses');
  if (uses.length === 0)
    return [record(`No line of code in ${input.topic.place.name} calls or uses ${name}.`)];
  const total = String(uses[0]?.data?.total ?? uses.length);
  const isCall = uses.some(({ data }) => data?.isCall === true);
  const lines = uses.slice(0, MAX_LISTED).map((item): Draft => {
    const { within = null, path, line } = item.data ?? {};
    const where = typeof within === 'string' ? ` (in ${within})` : '';
    const quote = typeof line === 'number' ? quoteLine(item, line) : null;
    const text = `${path}:${line}${where}`;
    return quote === null ? cite(text, [item.id]) : cite(`${text}: “${quote.text}”.`, [item.id], [quote]);
  });
  const what = isCall ? 'call' : 'use';
  const more = Number.parseInt(total, 10) > lines.length || total.endsWith('+');
  return more ? [...lines, record(`${total} lines ${what} ${name} in all; these are the first.`)] : lines;
}

function describeChanges(name: string, input: Asked): Draft[] {
  const { place } = input.topic;
  if (!place.hasHistory)
    return [record(`${place.name} has no git history, so who changed ${name} is not known.`)];
  if (!isPathName(name) && listDefinitionEvidence(input, name).length === 0)
    return [createMissing(name, input)];
  const commits = listBroughtBy(input, 'read_commit_history').filter(({ source }) =>
    source.startsWith('commit/'),
  );
  if (commits.length === 0) return [record(`No commit that changed ${name} was found.`)];
  return commits
    .slice(0, 5)
    .map((item, index) =>
      cite(`${index === 0 ? `${name} was last changed by` : 'Before that:'} ${item.title}.`, [item.id]),
    );
}

function describePaths(name: string, input: Asked): Draft[] {
  const listed = listBroughtBy(input, 'list_files');
  const paths = listed.flatMap(({ data }) => (Array.isArray(data?.paths) ? data.paths : []));
  if (paths.length === 0) return [record(`${input.topic.place.name} has no file ${name}.`)];
  const ids = listed.map(({ id }) => id);
  return paths.slice(0, MAX_LISTED).map((path) => cite(`${path}`, ids));
}

function describeOutline(name: string, input: Asked): Draft[] {
  const [outline] = listBroughtBy(input, 'outline_file').filter(
    ({ data }) => typeof data?.lines === 'number',
  );
  if (outline === undefined) return [record(`${input.topic.place.name} has no file ${name}.`)];
  const rows = outline.text
    .split('\n')
    .filter((row) => row !== '')
    .slice(0, 20);
  return [cite(`${outline.title}.`, [outline.id]), ...rows.map((row) => cite(`line ${row}`, [outline.id]))];
}

/** Quotes the first lines of prose of the document that describes the repository. */
function describeDocument(input: Asked): Draft[] {
  const document = listBroughtBy(input, 'read_repository_docs').find(
    ({ lineStart }) => lineStart !== undefined,
  );
  if (document === undefined)
    return [record(`${input.topic.place.name} has no llms.txt and no README that describes it.`)];
  const quotes = listFirstProse(document);
  if (quotes.length === 0)
    return [cite(`${document.source} describes it, without a paragraph of prose.`, [document.id])];
  return [
    cite(`${document.source} says: “${quotes.map(({ text }) => text).join(' ')}”`, [document.id], quotes),
  ];
}

const MAX_PROSE_LINES = 5;

/** Returns the lines of the first paragraph that is prose: no heading, badge, list, table, code or markup. */
function listFirstProse(item: Evidence): Quote[] {
  const quotes: Quote[] = [];
  let isCode = false;
  for (const [index, raw] of item.text.split('\n').entries()) {
    const line = raw.trim();
    if (/^(?:```|~~~)/.test(line)) isCode = !isCode;
    const isProse =
      !isCode &&
      !/^(?:#|!?\[|<|\||[-*+=~`]{1,3}(?: |$)|\.\. |:\w|\d+\. |---|===|```|$)/.test(line) &&
      line.split(' ').length >= 4;
    const isQuotation = line.startsWith('> ');
    if (isProse || isQuotation) {
      const quote = quoteLine(item, (item.lineStart ?? 1) + index, (text) => text.trim().replace(/^> /, ''));
      if (quote !== null) quotes.push(quote);
    } else if (quotes.length > 0) break;
    if (quotes.length === MAX_PROSE_LINES) break;
  }
  return quotes;
}

function describeLayout(input: Asked): Draft[] {
  const tree = listBroughtBy(input, 'read_repository_docs').find(({ lineStart }) => lineStart === undefined);
  if (tree === undefined) return [record(`${input.topic.place.name} has no files.`)];
  return [
    cite(`${tree.title}.`, [tree.id]),
    ...tree.text
      .split('\n')
      .slice(0, 30)
      .map((row) => cite(row, [tree.id])),
  ];
}

function describeStack(input: Asked): Draft[] {
  const [summary, ...manifests] = listBroughtBy(input, 'describe_stack');
  if (summary === undefined) return [record(`${input.topic.place.name} has no files.`)];
  const named = manifests.map((item) =>
    cite(`${item.source} names its dependencies and settings.`, [item.id]),
  );
  return [...summary.text.split('\n').map((row) => cite(row, [summary.id])), ...named];
}

function createMissing(name: string, { topic: { place }, outcomes }: Asked): Draft {
  const failed = outcomes.find(({ status }) => status !== 'ok' && status !== 'empty');
  if (failed !== undefined)
    return record(`${failed.call.tool} had no answer (${failed.status}): ${failed.summary}`);
  return record(`I found no definition of ${name} in ${place.name}.`);
}

/** Quotes a line of evidence literally, without its indent; null if it is blank. */
function quoteLine(item: Evidence, line: number, trim = (text: string) => text.trim()): Quote | null {
  const whole = getLine(item, line);
  const text = whole === null ? '' : trim(whole).slice(0, MAX_QUOTE).trim();
  return text === '' ? null : { source: item.source, line, text };
}
