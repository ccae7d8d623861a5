import { z } from 'zod';

/** An issue of zod. */
interface Issue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly keys?: unknown;
  readonly values?: unknown;
  readonly options?: unknown;
  readonly errors?: unknown;
}

/** The maximum number of valid alternatives that one text names. */
const MAX_WAYS = 3;

/**
 * Lists the problems of an external value: the path of each field and a message for the sender. The message
 * names what is missing, the names
 * that are allowed, or both ends of the range. `schema` is the schema that the value was parsed with.
 */
export function explainIssues(
  issues: readonly Issue[],
  input: unknown,
  schema: unknown,
): { path: string; message: string }[] {
  return issues.map((issue) => ({ path: issue.path.join('.'), message: explainIssue(issue, input, schema) }));
}

/** Describes the first of the issues in one sentence; `what` names the value, such as "The metadata". */
export function summarizeIssues(
  what: string,
  [first]: readonly { readonly path: string; readonly message: string }[],
): string {
  const where = first === undefined || first.path === '' ? '' : ` at "${first.path}"`;
  return `${what} is invalid${where}: ${first?.message ?? 'unknown'}.`;
}

function explainIssue(issue: Issue, input: unknown, schema: unknown): string {
  const { code, path, message } = issue;
  if (code === 'unrecognized_keys') return explainUnknown(issue, findSchema(schema, path));
  if (path.length > 0 && findValue(input, path) === undefined) return 'required, but missing';
  if (code === 'invalid_union') return explainUnion(issue, input, schema);
  if (code === 'invalid_value' && Array.isArray(issue.values))
    return `must be one of ${issue.values.join(', ')}`;
  if (/^Too (?:big|small): expected number/.test(message))
    return explainNumber(issue, findSchema(schema, path));
  return message;
}

/** Names the allowed fields if a field is unknown. */
function explainUnknown({ keys, message }: Issue, schema: unknown): string {
  if (!(schema instanceof z.ZodObject) || !Array.isArray(keys)) return message;
  const named = keys.slice(0, MAX_WAYS).map((key) => `"${String(key).slice(0, 100)}"`);
  const allowed = Object.keys(schema.shape);
  return (
    `${named.join(', ')} is not known ` +
    `here; ${allowed.length === 0 ? 'give nothing' : `use ${allowed.join(', ')}`}`
  );
}

function explainUnion({ errors, path, options, message }: Issue, input: unknown, schema: unknown): string {
  if (Array.isArray(options)) return `must be one of ${options.join(', ')}`;
  const ways = z
    .array(z.array(z.looseObject({ path: z.array(z.union([z.string(), z.number()])), message: z.string() })))
    .safeParse(errors);
  const read = ways.data?.map(([first]) => first).filter((first) => first !== undefined) ?? [];
  if (read.length === 0) return message;
  const words = read.map((first) => {
    const explanation = explainIssue({ ...first, path: [...path, ...first.path] }, input, schema);
    return first.path.length === 0 ? explanation : `"${first.path.join('.')}": ${explanation}`;
  });
  return [...new Set(words)].slice(0, MAX_WAYS).join(', or ');
}

/** Describes the allowed range of a number. */
function explainNumber({ message }: Issue, schema: unknown): string {
  const { minValue, maxValue } = schema instanceof z.ZodNumber ? schema : { minValue: null, maxValue: null };
  const [from, to] = [minValue, maxValue].map((end) =>
    end !== null && Math.abs(end) < Number.MAX_SAFE_INTEGER ? end : null,
  );
  if (from == null) return to == null ? message : `must be at most ${to}`;
  return to == null ? `must be at least ${from}` : `must be from ${from} to ${to}`;
}

function findValue(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined),
    input,
  );
}

/** Returns the schema of the value at this path; undefined if it cannot be determined. */
function findSchema(schema: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((parent, name) => {
    if (parent instanceof z.ZodArray) return withoutWrappers(parent.element);
    return parent instanceof z.ZodObject ? withoutWrappers(parent.shape[String(name)]) : undefined;
  }, withoutWrappers(schema));
}

function withoutWrappers(schema: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable)
    return withoutWrappers(schema.unwrap());
  return schema instanceof z.ZodPipe ? withoutWrappers(schema.out) : schema;
}
