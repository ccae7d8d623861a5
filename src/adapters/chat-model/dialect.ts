/** What a server is asked for beyond plain text. Servers differ; a refusal makes us ask for less. */
export interface Dialect {
  readonly format: 'json_schema' | 'json_object' | 'text';
  /** Whether a temperature is sent; reasoning models refuse any but their own. */
  readonly temperature: boolean;
}

/** What to try first: everything, except that OpenAI's reasoning models get no temperature. */
export function firstDialect(model: string): Dialect {
  return { format: 'json_schema', temperature: !/^(?:o\d|gpt-5(?!-chat))/.test(model) };
}

/** The next weaker dialect where the server's words show that it refused a part of this one; null where they do not. */
export function weakerDialect(dialect: Dialect, refusal: { readonly status: number; readonly message: string }): Dialect | null {
  if (![400, 404, 415, 422, 500, 501].includes(refusal.status)) return null;
  if (dialect.temperature && /temperature/i.test(refusal.message)) return { ...dialect, temperature: false };
  if (!/response_format|json_schema|json_object|json mode|structured output|guided|grammar|schema/i.test(refusal.message)) return null;
  if (dialect.format === 'json_schema') return { ...dialect, format: 'json_object' };
  if (dialect.format === 'json_object') return { ...dialect, format: 'text' };
  return null;
}
