import { z } from 'zod';
import { getErrorMessage } from '../../domain/errors.ts';
import { parseJson } from '../../lib/text.ts';
import type { ChatTool, ChatToolCall } from '../../ports/chat-model.ts';
import type { Completion } from './driver.ts';
import { extractJsonObjectsIn } from './json-in-text.ts';
import { readCallsInText } from './text-calls.ts';
import { hasOwnWhy } from './tool-format.ts';

/** The value of a reply, or its problem. `isCorrectable` is true if the model may be able to correct it. */
type ParsedReply<Value> =
  | { readonly value: Value }
  | { readonly problem: string; readonly isCorrectable: boolean };

const MAX_PROBLEM_CHARACTERS = 1_000;

/**
 * Returns the reason why the model or its server refused the reply, which a correction cannot change. Returns
 * null if neither did; the reply may still be empty or cut off.
 */
export function findRefusal(completion: Pick<Completion, 'refused' | 'finish'>): string | null {
  if (completion.refused) return 'the model refused to answer';
  return completion.finish === 'content_filter' ? "the server's content filter stopped the reply" : null;
}

/**
 * Returns the only valid JSON object of a reply. If two different ones are valid, the reply is rejected,
 * because the choice would be a guess.
 */
export function readValue<Value>(
  completion: Completion,
  parse: (reply: unknown) => Value,
): ParsedReply<Value> {
  const unanswered = findRefusal(completion);
  if (unanswered !== null) return { problem: unanswered, isCorrectable: false };
  const objects = extractJsonObjectsIn(completion.text);
  if (objects.length === 0) {
    const cut = completion.finish === 'length';
    return {
      problem: cut
        ? 'the reply was cut off before its end; be briefer'
        : 'the reply contains no complete JSON object',
      isCorrectable: true,
    };
  }
  const values: Value[] = [];
  let problem = '';
  for (const object of objects) {
    try {
      values.push(parse(object));
    } catch (error) {
      problem = (error instanceof z.ZodError ? z.prettifyError(error) : getErrorMessage(error)).slice(
        0,
        MAX_PROBLEM_CHARACTERS,
      );
    }
  }
  const [value, ...others] = values;
  if (value === undefined) return { problem, isCorrectable: true };
  if (others.length > 0)
    return { problem: 'the reply contains several different JSON objects; give one', isCorrectable: true };
  return { value };
}

export type ReplyCalls = ReturnType<typeof readCalls>;

type Arguments = Readonly<Record<string, unknown>>;

/**
 * The maximum number of calls that are read. It is the number of tools that OpenAI accepts in a request. More
 * calls show that the model repeats itself, and are ignored.
 */
const MAX_CALLS = 128;
const MAX_WHY_CHARACTERS = 300;
const MAX_SHOWN_CHARACTERS = 200;

/**
 * Extracts the tool calls of a reply: the server's own calls, or else those in the text, in any common form.
 * They may name tools that were not offered. `problem` says that the reply has no call, which calls cannot be
 * parsed, or that no call names an offered tool. It is null if nothing has to be corrected. `by` says how the
 * calls were given: `calling` by the server's function calling, `text` in the text, `nothing` if there are
 * none.
 */
export function readCalls(completion: Completion, tools: readonly ChatTool[]) {
  const structured = completion.calls.length > 0 ? completion.calls : null;
  const inText = structured === null ? readCallsInText(completion.text, tools) : null;
  const given = structured ?? inText?.calls ?? null;
  if (given === null) {
    const problem =
      completion.finish === 'length'
        ? 'the reply was cut off before its end; be briefer'
        : 'the reply contains no complete JSON object';
    return { calls: [], problem, by: 'nothing' };
  }
  const calls: ChatToolCall[] = [];
  const problems = (inText?.unreadable ?? []).map((call) => `a call cannot be read: ${formatShown(call)}`);
  for (const { name, args } of given.slice(0, MAX_CALLS)) {
    const read = readArguments(args);
    if (read === null)
      problems.push(`the arguments of ${formatShown(name)} are not a JSON object: ${formatShown(args)}`);
    else calls.push(toToolCall(name, read, tools, completion.text));
  }
  if (calls.length > 0 && !calls.some((call) => isOffered(call, tools))) {
    const unknown = [...new Set(calls.map((call) => formatShown(call.name)))].slice(0, 5).join(', ');
    problems.push(
      `there are no such tools: ${unknown}; offered are ${tools.map((tool) => tool.name).join(', ')}`,
    );
  }
  return {
    calls,
    problem: problems.length === 0 ? null : problems.slice(0, 5).join('; '),
    by: structured === null ? 'text' : 'calling',
  };
}

export function isOffered(call: ChatToolCall, tools: readonly ChatTool[]): boolean {
  return tools.some((tool) => tool.name === call.name);
}

/**
 * Converts a call. The reason is its argument `why`, or else the text of the reply. Removes the nulls that
 * strict schemas put in place of absent arguments.
 */
function toToolCall(
  givenName: string,
  args: Arguments,
  tools: readonly ChatTool[],
  text: string,
): ChatToolCall {
  const name = givenName.trim().replace(/^functions\./, '');
  const tool = tools.find((chatTool) => chatTool.name === name);
  const { why, ...others } = args;
  const hasWhy = tool !== undefined && hasOwnWhy(tool);
  const kept = Object.entries(hasWhy ? args : others).filter(([, value]) => value !== null);
  const reason = !hasWhy && typeof why === 'string' && why !== '' ? why : text;
  return {
    name,
    args: Object.fromEntries(kept),
    why: reason.replace(/\s+/g, ' ').trim().slice(0, MAX_WHY_CHARACTERS),
  };
}

function readArguments(text: string): Arguments | null {
  const value = parseJson(text);
  if (isRecord(value)) return value;
  if (value === undefined) return findOnlyObject(text);
  // Some models write the object as a string.
  return typeof value === 'string' ? findOnlyObject(value) : null;
}

function findOnlyObject(text: string): Arguments | null {
  const [object, ...others] = extractJsonObjectsIn(text);
  return isRecord(object) && others.length === 0 ? object : null;
}

function formatShown(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, MAX_SHOWN_CHARACTERS);
}

function isRecord(value: unknown): value is Arguments {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
