import type { ChatTool, ToolChoiceRequest } from '../../ports/chat-model.ts';
import type { Message, Wishes } from './connect.ts';
import type { Dialect, Format, ToolFormat } from './dialect.ts';
import type { Turn } from './question.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * The schema of the reason. It has no description, because the prompt explains the reason once for all tools.
 */
const WHY = { type: 'string' };

export function isCalling(format: ToolFormat): format is 'strict_tools' | 'tools' {
  return format === 'strict_tools' || format === 'tools';
}

/**
 * Returns the request in the best format that the server supports. `more` are additional messages that
 * follow.
 */
export function createToolTurn(
  request: ToolChoiceRequest,
  format: ToolFormat,
  dialect: Dialect,
  more: readonly Message[],
): Turn {
  const { system, user, tools, name } = request;
  if (!isCalling(format)) {
    return {
      messages: createMessages(`${system}\n\n${describeTools(tools)}`, user, more),
      wishes: formatWish(format, name, buildCallsSchema(tools)),
    };
  }
  const strict = format === 'strict_tools';
  const definitions = tools.map((tool) => ({
    type: 'function' as const,
    function: {
      name: tool.name,
      description: tool.description,
      parameters: buildParameters(tool, strict),
      ...(strict ? { strict } : {}),
    },
  }));
  return {
    messages: createMessages(
      `${system}\n\nCall the tools themselves, with one short sentence on the reason in "why". ` +
        'Call none where none would help.',
      user,
      more,
    ),
    wishes: {
      tools: definitions,
      tool_choice: 'auto',
      ...(dialect.parallel ? { parallel_tool_calls: true } : {}),
    },
  };
}

/** Returns the format for a choice without function calling, which depends on the format of values. */
export function formatWithoutCalling(dialect: Dialect): Format {
  return isCalling(dialect.tools) ? dialect.value : dialect.tools;
}

/** Checks whether the tool has its own argument named `why`, the name used for the reason. */
export function hasOwnWhy(tool: ChatTool): boolean {
  return Object.hasOwn(getProperties(tool.parameters), 'why');
}

function createMessages(system: string, user: string, more: readonly Message[]): Message[] {
  return [{ role: 'system', content: system }, { role: 'user', content: user }, ...more];
}

function buildParameters(tool: ChatTool, strict: boolean): Record<string, unknown> {
  const { $schema: _version, ...schema } = tool.parameters;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const shape = hasOwnWhy(tool)
    ? { properties: getProperties(schema) }
    : { properties: { ...getProperties(schema), why: WHY }, required: [...required, 'why'] };
  const parameters = { ...schema, type: 'object', ...shape };
  return strict ? { ...toStrictSchema(parameters) } : parameters;
}

function describeTools(tools: readonly ChatTool[]): string {
  const listed = tools.map(
    (tool) => `- ${tool.name}: ${tool.description} Arguments: ${JSON.stringify(buildArgumentsSchema(tool))}`,
  );
  return [
    'The tools:',
    ...listed,
    '',
    'Reply with one JSON object {"calls": [{"tool": its name, "args": {its arguments}, "why": ' +
      'one short sentence}]} and nothing else. An empty list where none would help.',
  ].join('\n');
}

/**
 * Builds a schema in which each tool name is tied to its own arguments, so that a strict server can enforce
 * them.
 */
function buildCallsSchema(tools: readonly ChatTool[]): Json {
  const call = (tool: ChatTool) =>
    closeSchema({
      tool: { type: 'string', enum: [tool.name] },
      args: buildArgumentsSchema(tool),
      why: { type: 'string' },
    });
  return closeSchema({ calls: { type: 'array', items: { anyOf: tools.map(call) } } });
}

/** Returns the schema of a tool's arguments. The parameters of a tool without arguments may be empty. */
function buildArgumentsSchema(tool: ChatTool): Json {
  const { $schema: _version, ...schema } = tool.parameters;
  return { type: 'object', ...schema };
}

function getProperties(schema: Json): Json {
  const { properties } = schema;
  return typeof properties === 'object' && properties !== null ? { ...properties } : {};
}

function closeSchema(properties: Json): Json {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

/**
 * The keywords that OpenAI's strict mode supports everywhere. Others are removed, because `parse` checks
 * them.
 */
const KEPT = ['type', 'enum', 'const', 'description', 'anyOf', 'items', '$ref'];

/**
 * Converts a schema for OpenAI's strict mode. Every object is closed, and every property is required;
 * optional ones become nullable. Bounds move into the description and patterns are removed, because the reply
 * is checked when it is parsed.
 */
export function toStrictSchema(schema: Json): Json {
  return isRecord(schema.properties) || schema.type === 'object'
    ? toStrictObject(schema)
    : toStrictValue(schema);
}

function toStrictObject(schema: Json): Json {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const strict: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    const inner = toStrictNode(property);
    strict[name] = required.has(name) || allowsNull(inner) ? inner : makeNullable(inner);
  }
  const described = typeof schema.description === 'string' ? { description: schema.description } : {};
  return {
    type: 'object',
    ...described,
    properties: strict,
    required: Object.keys(strict),
    additionalProperties: false,
  };
}

/**
 * Makes a schema nullable. A simple type becomes a list of types, which is half as long as a union of two
 * schemas. The length matters because tools are sent with every question.
 */
function makeNullable(schema: Json): Json {
  if (
    typeof schema.type !== 'string' ||
    schema.type === 'object' ||
    schema.type === 'array' ||
    schema.const !== undefined
  ) {
    return { anyOf: [schema, { type: 'null' }] };
  }
  const choices = Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {};
  return { ...schema, type: [schema.type, 'null'], ...choices };
}

function toStrictValue(schema: Json): Json {
  const kept: Record<string, unknown> = {};
  for (const key of KEPT) {
    if (schema[key] === undefined) continue;
    if (key === 'items') kept[key] = toStrictNode(schema[key]);
    else if (key === 'anyOf' && Array.isArray(schema[key])) kept[key] = schema[key].map(toStrictNode);
    else kept[key] = schema[key];
  }
  if (kept.const !== undefined && kept.type === undefined) kept.type = typeof kept.const;
  const limits = describeBounds(schema);
  return limits === null
    ? kept
    : {
        ...kept,
        description: schema.description === undefined ? limits : `${schema.description} (${limits})`,
      };
}

/** The bound that Zod sets for every integer. It is omitted. */
const UNBOUNDED = Number.MAX_SAFE_INTEGER;

/** Describes bounds in words, because strict schemas have none: "1 to 20", "at most 200 characters". */
function describeBounds({ minimum, maximum, maxLength }: Json): string | null {
  if (typeof maxLength === 'number') return `at most ${maxLength} characters`;
  const least = typeof minimum === 'number' && minimum > -UNBOUNDED ? minimum : null;
  const most = typeof maximum === 'number' && maximum < UNBOUNDED ? maximum : null;
  if (most === null) return least === null ? null : `at least ${least}`;
  return least === null ? `at most ${most}` : `${least} to ${most}`;
}

function toStrictNode(node: unknown): Json {
  return isRecord(node) ? toStrictSchema(node) : { type: 'string' };
}

function allowsNull(schema: Json): boolean {
  if (Array.isArray(schema.type)) return schema.type.includes('null');
  return (
    schema.type === 'null' ||
    (Array.isArray(schema.anyOf) && schema.anyOf.some((option) => isRecord(option) && option.type === 'null'))
  );
}

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
/** Returns the parameters that request a reply in this format. */

export function formatWish(format: Format, name: string, schema: Readonly<Record<string, unknown>>): Wishes {
  if (format === 'text') return {};
  if (format === 'json_object') return { response_format: { type: 'json_object' } };
  return {
    response_format: {
      type: 'json_schema',
      json_schema: { name, schema: toStrictSchema(schema), strict: true },
    },
  };
}
