type Json = Readonly<Record<string, unknown>>;

/** Keywords that OpenAI's strict structured outputs understand everywhere; others are dropped, `parse` checks them. */
const KEPT = ['type', 'enum', 'const', 'description', 'anyOf', 'items', '$ref'];

/**
 * The same schema as OpenAI's strict mode wants it: every object closed, every property required. A property that was
 * optional may be null instead. Bounds go into the description and patterns are dropped: the reply is checked when it is parsed.
 */
export function strictSchema(schema: Json): Json {
  return isRecord(schema.properties) || schema.type === 'object' ? strictObject(schema) : strictValue(schema);
}

function strictObject(schema: Json): Json {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const strict: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    const inner = strictNode(property);
    strict[name] = required.has(name) || allowsNull(inner) ? inner : orNull(inner);
  }
  const described = typeof schema.description === 'string' ? { description: schema.description } : {};
  return { type: 'object', ...described, properties: strict, required: Object.keys(strict), additionalProperties: false };
}

/** A simple type is named beside null, which is half as long as a choice of two schemas: tools are sent with every question. */
function orNull(schema: Json): Json {
  if (typeof schema.type !== 'string' || schema.type === 'object' || schema.type === 'array' || schema.const !== undefined) {
    return { anyOf: [schema, { type: 'null' }] };
  }
  const choices = Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {};
  return { ...schema, type: [schema.type, 'null'], ...choices };
}

function strictValue(schema: Json): Json {
  const kept: Record<string, unknown> = {};
  for (const key of KEPT) {
    if (schema[key] === undefined) continue;
    if (key === 'items') kept[key] = strictNode(schema[key]);
    else if (key === 'anyOf' && Array.isArray(schema[key])) kept[key] = schema[key].map(strictNode);
    else kept[key] = schema[key];
  }
  if (kept.const !== undefined && kept.type === undefined) kept.type = typeof kept.const;
  const limits = limitsOf(schema);
  return limits === null ? kept : { ...kept, description: schema.description === undefined ? limits : `${schema.description} (${limits})` };
}

/** Zod gives integers the bounds of what a number can count to. */
const UNBOUNDED = Number.MAX_SAFE_INTEGER;

/** Bounds in words, since strict schemas know none: "1 to 20", "at most 200 characters". */
function limitsOf({ minimum, maximum, maxLength }: Json): string | null {
  if (typeof maxLength === 'number') return `at most ${maxLength} characters`;
  const least = typeof minimum === 'number' && minimum > -UNBOUNDED ? minimum : null;
  const most = typeof maximum === 'number' && maximum < UNBOUNDED ? maximum : null;
  if (most === null) return least === null ? null : `at least ${least}`;
  return least === null ? `at most ${most}` : `${least} to ${most}`;
}

function strictNode(node: unknown): Json {
  return isRecord(node) ? strictSchema(node) : { type: 'string' };
}

function allowsNull(schema: Json): boolean {
  if (Array.isArray(schema.type)) return schema.type.includes('null');
  return schema.type === 'null' || (Array.isArray(schema.anyOf) && schema.anyOf.some((one) => isRecord(one) && one.type === 'null'));
}

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
