import { z } from 'zod';

/**
 * The requests that Pinecone accepts, for the operations that we use, after its published OpenAPI description,
 * data plane and control plane of
 * 2026-04 (Apache-2.0), with the shape of an index as 2026-07 has it, and after its page of operation and identifier limits. Stricter in
 * one thing: a field that is not described is refused.
 */
export const API_VERSION = '2026-07';

const MAX_METADATA_BYTES = 40 * 1024;

const Id = z
  .string()
  .min(1)
  .max(512)
  .regex(/^[\x01-\x7f]+$/, 'ids are ASCII');

const Namespace = z
  .string()
  .max(512)
  .regex(/^[\x20-\x7e]*$/, 'namespaces are ASCII');

const MetadataValue = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);

const Metadata = z
  .record(z.string().regex(/^[^$]/, 'keys do not start with $'), MetadataValue)
  .refine(
    (value) => Buffer.byteLength(JSON.stringify(value)) <= MAX_METADATA_BYTES,
    'metadata size exceeds the limit of 40960 bytes',
  );

const Scalar = z.union([z.string(), z.number(), z.boolean()]);
const Operators = z
  .strictObject({
    $eq: Scalar,
    $ne: Scalar,
    $gt: z.number(),
    $gte: z.number(),
    $lt: z.number(),
    $lte: z.number(),
    $in: z.array(Scalar).max(10_000),
    $nin: z.array(Scalar).max(10_000),
    $exists: z.boolean(),
  })
  .partial()
  .refine((operators) => Object.keys(operators).length > 0, 'a condition needs an operator');
export type Operators = z.infer<typeof Operators>;

const Filter = z
  .record(z.string().regex(/^[^$]/, 'only fields are conditions here'), z.union([Scalar, Operators]))
  .refine((fields) => Object.keys(fields).length > 0, 'an empty filter');
export type Filter = z.infer<typeof Filter>;

/** Vectors of one index have its length, and a direction. */
function listValues(dimension: number) {
  return z
    .array(z.number())
    .length(dimension, `Vector dimension does not match the dimension of the index ${dimension}`)
    .refine(
      (values) => values.some((value) => value !== 0),
      'Dense vectors must contain at least one non-zero value',
    );
}

export function upsertRequest(dimension: number) {
  const Vector = z.strictObject({ id: Id, values: listValues(dimension), metadata: Metadata.optional() });
  return z.strictObject({ namespace: Namespace.optional(), vectors: z.array(Vector).min(1).max(1_000) });
}

export function queryRequest(dimension: number) {
  return z.strictObject({
    namespace: Namespace.optional(),
    topK: z.int().min(1).max(10_000),
    filter: Filter.optional(),
    includeValues: z.boolean().optional(),
    includeMetadata: z.boolean().optional(),
    vector: listValues(dimension),
  });
}

export const DeleteRequest = z
  .strictObject({
    namespace: Namespace.optional(),
    ids: z.array(Id).min(1).max(1_000).optional(),
    deleteAll: z.boolean().optional(),
    filter: Filter.optional(),
  })
  .refine(
    ({ ids, deleteAll, filter }) =>
      [ids, deleteAll || undefined, filter].filter((one) => one !== undefined).length === 1,
    {
      error: 'exactly one of ids, deleteAll and filter',
    },
  );

export const ListQuery = z.strictObject({
  namespace: Namespace.optional(),
  prefix: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(100).default(100),
  paginationToken: z.string().optional(),
});

export const FetchQuery = z.strictObject({
  namespace: Namespace.optional(),
  ids: z.array(Id).min(1).max(1_000),
});

export const StatsRequest = z.strictObject({});
