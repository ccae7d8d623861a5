import { z } from 'zod';

/**
 * A setting with its environment variable. The environment is read, and the documentation is written, from
 * the same table of variables.
 */
export interface Variable {
  readonly name: string;
  /** The path in `Config`, such as `http.port`. */
  readonly path: string;
  readonly type: 'text' | 'number' | 'flag' | 'list' | 'pairs' | 'tokens' | 'proxies' | 'json';
  /** True if the value may also be given as NAME_FILE, the path of a file that contains it. */
  readonly secret?: true;
  readonly meaning: string;
}

type Named = Omit<Variable, 'path' | 'type'> & Partial<Pick<Variable, 'type'>>;
/** The variables that set each setting; if there are several, the last one takes precedence. */
const NAMES = new WeakMap<z.core.$ZodType, readonly Named[]>();

/**
 * Registers a setting with its variable and its description for users. The type of the variable is derived
 * from the schema unless it is given.
 */
export function defineSetting<Schema extends z.ZodType>(
  name: string,
  schema: Schema,
  meaning: string,
  more: Partial<Pick<Variable, 'secret' | 'type'>> = {},
): Schema {
  NAMES.set(schema, [...(NAMES.get(schema) ?? []), { name, meaning, ...more }]);
  return schema;
}

/** Creates a switch that is off by default. */
export function flag(name: string, meaning: string) {
  return defineSetting(name, z.boolean().default(false), meaning);
}

/**
 * Creates a setting for the kinds of texts that may be written at a provider. By default, none may be
 * written.
 */
export function defineWriteSetting<const Kind extends string>(
  name: string,
  kinds: readonly Kind[],
  meaning: string,
) {
  return defineSetting(name, z.array(z.enum(kinds)).default([]), meaning);
}

/** Creates a setting for a credential of this installation; null if it is not set. */
export function defineCredential(name: string, meaning: string) {
  return defineSetting(name, z.string().nullable().default(null), meaning, { secret: true });
}

/** Creates a setting for the secrets that senders share with us. There are two while one is rotated. */
export function defineWebhookSecrets(name: string, meaning: string) {
  return defineSetting(name, z.array(z.string().min(8)).default([]), meaning, { secret: true });
}

/** Creates the schema of an HTTP or HTTPS URL. */
export function createHttpUrlSchema() {
  return z.url({ protocol: /^https?$/ });
}

/**
 * Creates the schema of a URL with one of these schemes. The message names the missing part and the
 * alternative.
 */
export function createUrlSchema(schemes: readonly string[], instead?: string) {
  const start = new RegExp(`^(?:${schemes.map((scheme) => scheme.replace('+', '\\+')).join('|')})://.`);
  return z
    .string(instead === undefined ? 'is not set' : `is not set; ${instead}`)
    .regex(
      start,
      `must be an address that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
    );
}

/** Creates the schema of an API URL, which is derived from the URL that users copy from a browser. */
export function createApiUrlSchema(toApi: (text: string) => string) {
  return createHttpUrlSchema()
    .refine((text) => !/^https?:\/\/[^/]{0,400}@/.test(text), 'must not contain a user or password')
    .transform(toApi);
}

/**
 * Extracts the password of a URL. It also accepts several servers (mongodb://user:password@one,two/), which
 * `URL` does not parse.
 */
export function extractPassword(url: string | null): string | null {
  const spelt = /^[^:/]+:\/\/[^:@/]*:([^/?#]+)@/.exec(url ?? '')?.[1];
  if (spelt === undefined) return null;
  try {
    return decodeURIComponent(spelt);
  } catch {
    return spelt;
  }
}

/** Creates the schema of settings that belong together, each with a default. */
export function group<Shape extends z.ZodRawShape>(shape: Shape): z.ZodPrefault<z.ZodObject<Shape>> {
  return z.prefault(z.object(shape), {} as z.input<z.ZodObject<Shape>>);
}

/**
 * Lists the variables of all settings in a schema, in order. A setting that several drivers share is listed
 * once.
 */
export function listVariables(schema: z.core.$ZodType, path = ''): Variable[] {
  const names = NAMES.get(schema);
  if (names !== undefined)
    return names.map((named) => ({ ...named, path, type: named.type ?? toVariableType(schema) }));
  const inner = unwrapSchema(schema);
  if (inner instanceof z.ZodDiscriminatedUnion) {
    const all = inner.options.flatMap((option) => listVariables(option, path));
    return [...new Map(all.map((variable) => [variable.name, variable])).values()];
  }
  if (!(inner instanceof z.ZodObject)) return [];
  return Object.entries(inner.shape).flatMap(([field, one]) =>
    listVariables(one, path === '' ? field : `${path}.${field}`),
  );
}

function unwrapSchema(schema: z.core.$ZodType): z.core.$ZodType {
  const wraps =
    schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodNullable;
  return wraps ? unwrapSchema(schema.unwrap()) : schema;
}

function toVariableType(schema: z.core.$ZodType): Variable['type'] {
  const inner = unwrapSchema(schema);
  if (inner instanceof z.ZodNumber) return 'number';
  if (inner instanceof z.ZodBoolean) return 'flag';
  if (inner instanceof z.ZodArray) return 'list';
  return inner instanceof z.ZodRecord ? 'pairs' : 'text';
}

/**
 * The variables that only the command line reads, in addition to the table above: locations and output
 * settings.
 */
export const TERMINAL_VARIABLES: readonly Pick<Variable, 'name' | 'meaning'>[] = [
  { name: 'FAULTLINE_DATA_DIR', meaning: 'Data directory, unless --data names one. Default: .faultline.' },
  {
    name: 'FAULTLINE_URL',
    meaning: 'URL of the service that `faultline review` uses, unless --url names one.',
  },
  {
    name: 'FAULTLINE_TOKEN',
    meaning: 'Bearer token that `faultline review` uses, unless --token gives one.',
  },
  {
    name: 'LANGSMITH_TRACING',
    meaning:
      'Set to true to send log excerpts, prompts and answers, with secrets masked, to LangSmith, ' +
      'configured by LANGSMITH_API_KEY, LANGSMITH_ENDPOINT and LANGSMITH_PROJECT. ' +
      'Each start prints a notice. Otherwise, these variables are ignored. ' +
      'LANGCHAIN_… is always ignored.',
  },
  { name: 'NO_COLOR', meaning: 'If set, output has no color and no box, as with --plain.' },
  {
    name: 'XDG_CACHE_HOME',
    meaning: 'Directory for compiled code, in a folder `faultline`. Default: ~/.cache.',
  },
  { name: 'NODE_DISABLE_COMPILE_CACHE', meaning: 'Set to 1 to keep no compiled code between runs.' },
];
