import { z } from 'zod';
import {
  DeleteRequest,
  FetchQuery,
  ListQuery,
  queryRequest,
  StatsRequest,
  upsertRequest,
} from './pinecone-schema.ts';
import type { Spaces } from './pinecone-spaces.ts';

export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
  /** The reason why the real service would have refused the request. */
  readonly refusal?: string;
}

const MAX_RESULT = 4 * 1024 * 1024;

export function expectRefusal(status: number, message: string): Reply {
  return { status, body: { code: 3, message, details: [] }, refusal: message };
}

/** Creates the operations of the data plane that we use, by method and path. */
export function createOperations(
  spaces: Spaces,
  dimension: number,
): Readonly<Record<string, (asked: unknown) => Reply>> {
  return {
    'POST /vectors/upsert': withSchema(upsertRequest(dimension), ({ namespace = '', vectors }) => {
      const written = spaces.upsert(namespace, vectors);
      return replyOk({ upsertedCount: vectors.length }, { 'x-pinecone-request-lsn': String(written) });
    }),
    'POST /vectors/delete': withSchema(DeleteRequest, ({ namespace = '', ids = null }) => {
      const written = spaces.remove(namespace, ids);
      if (written === null)
        return { status: 404, body: { code: 5, message: 'Namespace not found', details: [] } };
      return replyOk({}, { 'x-pinecone-request-lsn': String(written) });
    }),
    'POST /query': withSchema(queryRequest(dimension), ({ namespace = '', ...asked }) => {
      const { matches, indexed } = spaces.query(namespace, asked);
      if (JSON.stringify(matches).length > MAX_RESULT)
        return expectRefusal(400, 'the result is larger than 4 MB');
      return replyOk(
        { matches, namespace, usage: { readUnits: 1 } },
        { 'x-pinecone-max-indexed-lsn': String(indexed) },
      );
    }),
    'GET /vectors/list': withSchema(ListQuery, ({ namespace = '', ...asked }) =>
      replyOk(spaces.list(namespace, asked)),
    ),
    'GET /vectors/fetch': withSchema(FetchQuery, ({ namespace = '', ids }) =>
      replyOk({ vectors: spaces.fetch(namespace, ids), namespace }),
    ),
    'POST /describe_index_stats': withSchema(StatsRequest, () =>
      replyOk({ dimension, metric: 'cosine', vectorType: 'dense', ...spaces.stats() }),
    ),
  };
}

function replyOk(body: object, headers: Record<string, string> = {}): Reply {
  return { status: 200, body, headers };
}

function withSchema<T>(schema: z.ZodType<T>, answer: (asked: T) => Reply): (asked: unknown) => Reply {
  return (asked) => {
    const result = schema.safeParse(asked);
    return result.success
      ? answer(result.data)
      : expectRefusal(400, z.prettifyError(result.error).slice(0, 500));
  };
}
