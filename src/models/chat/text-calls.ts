import { parseJson } from '../../lib/text.ts';
import type { ChatTool } from '../../ports/chat-model.ts';
import type { WrittenCall } from './driver.ts';
import { findJsonObjects } from './json-in-text.ts';

type Json = Readonly<Record<string, unknown>>;

/** A call in a text, or the text of a call that cannot be read. */
type Item = WrittenCall | { readonly unreadable: string };

/** The calls of one form in a text, and the index of the first one. */
interface CallsInText {
  readonly at: number;
  readonly items: readonly Item[];
}

/**
 * The forms in which models write calls as text. Each reader returns null if the text has no calls of its
 * form.
 */
const FORMS: readonly ((text: string, tools: readonly ChatTool[]) => CallsInText | null)[] = [
  /** `{"calls": […]}` as we request it, `{"tool_calls": […]}`, or `{"name", "arguments"}` in any tags. */
  readJsonCalls,
  /** `<function=x>{…}</function>` and `<invoke name="x"><parameter name="y">…</parameter></invoke>`. */
  readTaggedCalls,
  /** `Action: x`, then `Action Input: {…}`. */
  readActions,
];

/** The maximum number of characters that are read. It exceeds the longest answer that is requested. */
const MAX_TEXT = 150_000;

/**
 * Reads the calls that a model wrote as text. The form that begins first is used, since text that looks like
 * another form may be part of its arguments. Returns null if the text contains no calls. Names and arguments
 * are returned as written and unchecked.
 */
export function readCallsInText(reply: string, tools: readonly ChatTool[]) {
  const text = reply.slice(0, MAX_TEXT);
  const found = FORMS.flatMap((read) => read(text, tools) ?? []);
  if (found.length === 0) {
    const mark = JSON_MARK.exec(text);
    return mark === null ? null : { calls: [], unreadable: [text.slice(mark.index)] };
  }
  const { items } = found.reduce((first, other) => (other.at < first.at ? other : first));
  return {
    calls: items.filter((item): item is WrittenCall => !('unreadable' in item)),
    unreadable: items.flatMap((item) => ('unreadable' in item ? [item.unreadable] : [])),
  };
}

const LISTS = ['calls', 'tool_calls', 'function_calls'];
const NAMES = ['tool', 'name', 'function_name', 'tool_name', 'function', 'action'];
const ARGUMENTS = ['args', 'arguments', 'parameters', 'input', 'tool_input', 'action_input'];
/** The beginning of calls in JSON, even if the JSON is invalid. */
const JSON_MARK = /"(?:tool_calls|function_calls|calls)"\s{0,5}:\s{0,5}\[|<tool_call>|\[TOOL_CALLS\]/;

function readJsonCalls(text: string): CallsInText | null {
  const found = findJsonObjects(text).flatMap(({ at, value }) => {
    const items = readCallsOfObject(value);
    return items === null ? [] : [{ at, items }];
  });
  const [first] = found;
  return first === undefined ? null : { at: first.at, items: found.flatMap(({ items }) => items) };
}

/** Reads a list of calls, or an object that is a call because it has both a name and arguments. */
function readCallsOfObject(value: unknown): readonly Item[] | null {
  if (!isRecord(value)) return null;
  const list = LISTS.map((key) => value[key]).find(Array.isArray);
  if (list !== undefined) return list.map(readListedCall);
  const call = isRecord(value.function) ? value.function : value;
  const isCall = findName(call) !== null && ARGUMENTS.some((key) => call[key] !== undefined);
  return isCall ? [readListedCall(call)] : null;
}

/** Reads an item of a list of calls. A missing argument list becomes an empty one. */
function readListedCall(item: unknown): Item {
  if (isRecord(item) && isRecord(item.function)) return readListedCall(item.function);
  const name = isRecord(item) ? findName(item) : null;
  if (!isRecord(item) || name === null) return { unreadable: JSON.stringify(item) };
  const args = ARGUMENTS.map((key) => item[key]).find((value) => value !== undefined) ?? {};
  if (typeof args === 'string') return { name, args: args.trim() === '' ? '{}' : args };
  const hasWhy = typeof item.why === 'string' && isRecord(args) && args.why === undefined;
  return { name, args: JSON.stringify(hasWhy ? { ...args, why: item.why } : args) };
}

function findName(item: Json): string | null {
  const name = NAMES.map((key) => item[key]).find((value) => typeof value === 'string' && value !== '');
  return typeof name === 'string' ? name : null;
}

const TAG =
  /<(\/?)(?:[a-z]{1,20}:)?(invoke|function|parameter)(?:(?:\s{1,3}name)?=["']?([\w.:-]{1,100})["']?)?\s?>/g;

interface Tag {
  readonly isEnd: boolean;
  readonly element: string;
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

function readTaggedCalls(text: string, tools: readonly ChatTool[]): CallsInText | null {
  const tags = [...text.matchAll(TAG)].map((match): Tag => {
    const [whole, slash = '', element = '', name = ''] = match;
    return { isEnd: slash === '/', element, name, from: match.index, to: match.index + whole.length };
  });
  const items: Item[] = [];
  let at: number | null = null;
  for (let index = 0; index < tags.length; index++) {
    const open = tags[index];
    if (open === undefined || open.isEnd || open.element === 'parameter' || open.name === '') continue;
    at ??= open.from;
    const call = readTaggedCall(text, tags, { open, index }, findTool(tools, open.name));
    items.push(call.item);
    index = call.last;
  }
  return at === null ? null : { at, items };
}

/** Reads the call that the tag at `index` opens. `last` is the index of its last tag. */
function readTaggedCall(
  text: string,
  tags: readonly Tag[],
  { open, index }: { open: Tag; index: number },
  tool: ChatTool | undefined,
) {
  const isJson = text.slice(open.to).trimStart().startsWith('{');
  const values: Record<string, unknown> = {};
  let parameter: Tag | null = null;
  for (let last = index + 1; last < tags.length; last++) {
    const tag = tags[last];
    if (tag === undefined) break;
    const isParameter = tag.element === 'parameter' && !isJson;
    if (parameter !== null) {
      if (!tag.isEnd || !isParameter) continue;
      values[parameter.name] = readParameter(text.slice(parameter.to, tag.from), parameter.name, tool);
      parameter = null;
    } else if (isParameter && !tag.isEnd) parameter = tag;
    else if (tag.isEnd && tag.element === open.element) {
      const args = isJson ? text.slice(open.to, tag.from) : JSON.stringify(values);
      return { item: { name: open.name, args }, last };
    }
  }
  const rest = text.slice(open.to);
  const item: Item = isJson ? { name: open.name, args: rest } : { unreadable: text.slice(open.from) };
  return { item, last: tags.length };
}

/** Reads a parameter by its schema. Text is taken literally; other values are JSON. */
function readParameter(written: string, name: string, tool: ChatTool | undefined): unknown {
  const { properties } = tool?.parameters ?? {};
  const schema = isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  const isText = !isRecord(schema) || schema.type === 'string' || schema.enum !== undefined;
  const text = written.replace(/^\r?\n/, '').replace(/\r?\n$/, '');
  return isText ? text : (parseJson(text.trim()) ?? text);
}

const ACTION = 'Action:';
const INPUT = 'Action Input:';
const LABELS = [ACTION, INPUT, 'Observation:', 'Thought:', 'Final Answer:'];

function readActions(text: string, tools: readonly ChatTool[]): CallsInText | null {
  const parts = splitAtLabels(text);
  const found = parts.flatMap(({ label, words, at }, index): { at: number; item: Item }[] => {
    if (label !== ACTION) return [];
    const name = words.replace(/[`*]/g, '').trim();
    const next = parts[index + 1];
    if (next?.label === INPUT) return [{ at, item: { name, args: next.words.trim() } }];
    return findTool(tools, name) === undefined ? [] : [{ at, item: { unreadable: `${ACTION} ${name}` } }];
  });
  const [first] = found;
  return first === undefined ? null : { at: first.at, items: found.map(({ item }) => item) };
}

/** Splits a text into its labeled parts, at lines that begin with a label, which may be bold. */
function splitAtLabels(text: string) {
  const parts: { label: string; at: number; words: string }[] = [];
  let at = 0;
  for (const line of text.split('\n')) {
    const start = line.trim().replace(/^\*\*/, '');
    const label = LABELS.find((known) => start.startsWith(known));
    const last = parts.at(-1);
    if (label !== undefined) parts.push({ label, at, words: start.slice(label.length).replace(/^\*\*/, '') });
    else if (last !== undefined) last.words += `\n${line}`;
    at += line.length + 1;
  }
  return parts;
}

function findTool(tools: readonly ChatTool[], name: string): ChatTool | undefined {
  return tools.find((tool) => tool.name === name);
}

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
