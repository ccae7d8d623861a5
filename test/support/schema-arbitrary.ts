import fc from 'fast-check';
import { z } from 'zod';

const Schema = z.object({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  allOf: z.array(z.unknown()).optional(),
  items: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  format: z.string().optional(),
});

/**
 * Texts that often break programs: NUL, half of a surrogate pair, SQL, paths, very long texts, and other
 * directions.
 */
export const NASTY: readonly string[] = [
  '',
  '\u0000',
  'a\u0000b',
  '\ud800',
  'x\udfff',
  '\u202e',
  "' or 1=1 --",
  '%',
  '_\\',
  '../../etc/passwd',
  '$1',
  '{{x}}',
  '__proto__',
  'constructor',
  '9'.repeat(30),
  '-1',
  'NaN',
  '1e309',
  'null',
  'a'.repeat(5_000),
  '2026-02-30T25:61:00Z',
  '+010000-01-01T00:00:00Z',
  'github:1',
  'github:\u0000',
];

const garbage: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(...NASTY, null, true, -1, 0, 1.5, 1e308, Number.MAX_SAFE_INTEGER, [], {}, [[[]]]),
  fc.string({ maxLength: 40 }),
  fc.jsonValue({ maxDepth: 2 }),
);

/** Creates values that match a JSON schema, mixed with others. `depth` limits the nesting. */
export function listValues(schema: unknown, depth = 4): fc.Arbitrary<unknown> {
  const parsed = Schema.safeParse(schema);
  if (!parsed.success || depth === 0) return garbage;
  return fc.oneof(
    { weight: 5, arbitrary: createFitting(parsed.data, depth) },
    { weight: 1, arbitrary: garbage },
  );
}

function createFitting(schema: z.infer<typeof Schema>, depth: number): fc.Arbitrary<unknown> {
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (choices !== undefined && choices.length > 0)
    return fc.oneof(...choices.map((choice) => listValues(choice, depth - 1)));
  if (schema.enum !== undefined && schema.enum.length > 0) return fc.constantFrom(...schema.enum);
  if (schema.const !== undefined) return fc.constant(schema.const);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === 'integer') return fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer());
  if (type === 'number') return fc.double({ noNaN: true, noDefaultInfinity: true });
  if (type === 'boolean') return fc.boolean();
  if (type === 'null') return fc.constant(null);
  if (type === 'array') return fc.array(listValues(schema.items, depth - 1), { maxLength: 3 });
  if (type === 'object') return createObjects(schema, depth);
  return createTexts(schema.format);
}

function createTexts(format: string | undefined): fc.Arbitrary<unknown> {
  const ordinary = fc.string({ unit: 'binary', maxLength: 60 });
  if (format === 'date-time') return fc.oneof(fc.constant('2026-01-02T03:04:05.000Z'), ordinary);
  if (format === 'uri') return fc.oneof(fc.webUrl(), ordinary);
  return fc.oneof(ordinary, fc.constantFrom(...NASTY));
}

function createObjects(
  { properties = {}, required = [] }: z.infer<typeof Schema>,
  depth: number,
): fc.Arbitrary<unknown> {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const value = listValues(schema, depth - 1);
    return [name, required.includes(name) ? value : fc.option(value, { nil: undefined })] as const;
  });
  return fc.record(Object.fromEntries(fields), { noNullPrototype: true });
}
