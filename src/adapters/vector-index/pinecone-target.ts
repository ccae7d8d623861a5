import { TriageError } from '../../domain/errors.ts';
import type { PineconeCall } from './pinecone-calls.ts';

/** Where the index answers, and what it holds. */
export interface PineconeTarget {
  readonly host: string;
  readonly dimension: number;
}

export interface PineconePlace {
  /** Name of the index. */
  readonly index: string;
  /** Of the control plane; null: Pinecone's own. */
  readonly baseUrl: string | null;
  /** How long vectors of the embedder are; null where nobody knows yet. */
  readonly dimensions: number | null;
}

/** Says that it is the service that is not as it should be: a start goes on without it. */
const DETAILS = { details: { backend: 'pinecone' } };

/**
 * Asks the control plane for the index. Throws `invalid-config` where there is none, or not a usable one, with how to mend it; `upstream-failed`
 * where it is not ready yet; and what `call` throws.
 */
export async function findTarget(call: PineconeCall, place: PineconePlace, signal?: AbortSignal): Promise<PineconeTarget> {
  const { index, dimensions } = place;
  const { value } = await call((client) => client.indexes.describe(index), signal).catch((error: unknown) => {
    if (error instanceof TriageError && error.code === 'not-found') throw missing(index, dimensions);
    throw error;
  });
  const field = Object.values(value.schema.fields).find((one) => 'type' in one && one.type === 'dense_vector');
  if (field === undefined || !('dimension' in field)) throw unfit(index, 'has no dense vectors', dimensions);
  const { dimension, metric } = field;
  if (typeof dimension !== 'number') throw unfit(index, 'has no dense vectors', dimensions);
  if (metric !== 'cosine') throw unfit(index, `measures by ${metric}`, dimensions);
  if (dimensions !== null && dimension < dimensions) throw tooShort(index, dimension, dimensions);
  if (!value.status.ready) {
    throw new TriageError('upstream-failed', `Pinecone's index ${index} is not ready yet (${value.status.state})`, { retryable: true });
  }
  return { host: addressOf(value.privateHost ?? value.host, place), dimension };
}

/** The index has fewer places than a vector has numbers. */
export function tooShort(index: string, dimension: number, wanted: number): TriageError {
  return unfit(index, `has ${dimension} dimensions, but the embedder produces ${wanted}`, wanted);
}

/** A control plane of one's own may name hosts without a scheme; the key goes to no other host than Pinecone's otherwise. */
function addressOf(host: string, { index, baseUrl }: PineconePlace): string {
  const address = /^https?:\/\//.test(host) ? host : `${baseUrl?.startsWith('http://') ? 'http' : 'https'}://${host}`;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || (baseUrl === null && (url.protocol !== 'https:' || !url.hostname.endsWith('.pinecone.io')))) {
    throw new TriageError('upstream-failed', `Pinecone returned an unexpected host for the index ${index}: ${host.slice(0, 200)}`);
  }
  return address;
}

function missing(index: string, dimensions: number | null): TriageError {
  return new TriageError('invalid-config', `Pinecone has no index named ${index}. ${remedy(dimensions)}`, DETAILS);
}

function unfit(index: string, why: string, dimensions: number | null): TriageError {
  return new TriageError('invalid-config', `Pinecone's index ${index} ${why}. ${remedy(dimensions)}`, DETAILS);
}

function remedy(dimensions: number | null): string {
  const length = dimensions === null ? 'as many dimensions as the embedder produces' : `at least ${dimensions} dimensions`;
  return `Create one with dense vectors, metric cosine and ${length}, and name it in FAULTLINE_PINECONE_INDEX.`;
}
