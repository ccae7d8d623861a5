type Json = Readonly<Record<string, unknown>>;

/** Keywords that OpenAI's strict structured outputs understand everywhere; others are dropped, `parse` checks them. */
const KEPT = ['type', 'enum', 'const', 'description', 'anyOf', 'items', '$ref'];

/**
 * The same schema as OpenAI's strict mode wants it: every object closed, every property required. A property that was
 * optional may be null instead. Bounds and patterns are dropped: the reply is checked when it is parsed.
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
    strict[name] = required.has(name) || allowsNull(inner) ? inner : { anyOf: [inner, { type: 'null' }] };
  }
  const described = typeof schema.description === 'string' ? { description: schema.description } : {};
  return { type: 'object', ...described, properties: strict, required: Object.keys(strict), additionalProperties: false };
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
  return kept;
}

function strictNode(node: unknown): Json {
  return isRecord(node) ? strictSchema(node) : { type: 'string' };
}

function allowsNull(schema: Json): boolean {
  return schema.type === 'null' || (Array.isArray(schema.anyOf) && schema.anyOf.some((one) => isRecord(one) && one.type === 'null'));
}

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
