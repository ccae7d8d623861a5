import type { ChatTool, ToolChoiceRequest } from '../../ports/chat-model.ts';
import { formatWish } from './ask-value.ts';
import type { Message } from './connect.ts';
import type { Dialect, Format, ToolFormat } from './dialect.ts';
import type { Turn } from './question.ts';
import { strictSchema } from './strict-schema.ts';

type Json = Readonly<Record<string, unknown>>;

/** Said once in words, not with each tool. */
const WHY = { type: 'string' };

export function isCalling(format: ToolFormat): format is 'strict_tools' | 'tools' {
  return format === 'strict_tools' || format === 'tools';
}

/** The question in the best way that the server has; `more` are turns after it. */
export function toolTurn(request: ToolChoiceRequest, format: ToolFormat, dialect: Dialect, more: readonly Message[]): Turn {
  const { system, user, tools, name } = request;
  if (!isCalling(format)) {
    return { messages: messages(`${system}\n\n${inWords(tools)}`, user, more), wishes: formatWish(format, name, callsSchema(tools)) };
  }
  const strict = format === 'strict_tools';
  const definitions = tools.map((tool) => ({
    type: 'function' as const,
    function: { name: tool.name, description: tool.description, parameters: parametersOf(tool, strict), ...(strict ? { strict } : {}) },
  }));
  return {
    messages: messages(
      `${system}\n\nCall the tools themselves, with one short sentence on the reason in "why". Call none where none would help.`,
      user,
      more,
    ),
    wishes: { tools: definitions, tool_choice: 'auto', ...(dialect.parallel ? { parallel_tool_calls: true } : {}) },
  };
}

/** How a choice is asked for without function calling, given how values are. */
export function formatWithoutCalling(dialect: Dialect): Format {
  return isCalling(dialect.tools) ? dialect.value : dialect.tools;
}

/** Whether the tool has an argument of its own by the name under which the reason is asked for. */
export function hasOwnWhy(tool: ChatTool): boolean {
  return Object.hasOwn(propertiesOf(tool.parameters), 'why');
}

function messages(system: string, user: string, more: readonly Message[]): Message[] {
  return [{ role: 'system', content: system }, { role: 'user', content: user }, ...more];
}

function parametersOf(tool: ChatTool, strict: boolean): Record<string, unknown> {
  const { $schema: _version, ...schema } = tool.parameters;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const shape = hasOwnWhy(tool)
    ? { properties: propertiesOf(schema) }
    : { properties: { ...propertiesOf(schema), why: WHY }, required: [...required, 'why'] };
  const parameters = { ...schema, type: 'object', ...shape };
  return strict ? { ...strictSchema(parameters) } : parameters;
}

function inWords(tools: readonly ChatTool[]): string {
  const listed = tools.map((tool) => `- ${tool.name}: ${tool.description} Arguments: ${JSON.stringify(argumentsOf(tool))}`);
  return [
    'The tools:',
    ...listed,
    '',
    'Reply with one JSON object {"calls": [{"tool": its name, "args": {its arguments}, "why": one short sentence}]} and nothing else. An empty list where none would help.',
  ].join('\n');
}

/** Each name with its own arguments, so that a strict server can hold the model to them. */
function callsSchema(tools: readonly ChatTool[]): Json {
  const call = (tool: ChatTool) =>
    closed({ tool: { type: 'string', enum: [tool.name] }, args: argumentsOf(tool), why: { type: 'string' } });
  return closed({ calls: { type: 'array', items: { anyOf: tools.map(call) } } });
}

/** A tool without arguments may describe them as nothing at all. */
function argumentsOf(tool: ChatTool): Json {
  const { $schema: _version, ...schema } = tool.parameters;
  return { type: 'object', ...schema };
}

function propertiesOf(schema: Json): Json {
  const { properties } = schema;
  return typeof properties === 'object' && properties !== null ? { ...properties } : {};
}

function closed(properties: Json): Json {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}
