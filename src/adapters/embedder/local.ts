import { TriageError } from '../../domain/errors.ts';
import { append } from '../../lib/lists.ts';
import type { Embedder } from '../../ports/vector-index.ts';
import { type Extract, findModel, loadModel } from './local-model.ts';
import { meanCosine, UNRELATED } from './unrelated.ts';

export interface LocalEmbedderOptions {
  /** A folder with an ONNX model as transformers.js reads them, or a name of the hub such as `Xenova/all-MiniLM-L6-v2`. */
  readonly model: string;
  /** Whether a model of the hub may be fetched. */
  readonly download: boolean;
  /** transformers.js, where it is not the installed one. */
  readonly importLibrary?: () => Promise<unknown>;
}

/** Texts that are computed together; more would only hold up whoever waits for one. */
const BATCH = 16;
/** Models read 256 to 512 tokens, and no script has fewer than one token in about eight characters; the rest is cut here. */
const MAX_TEXT = 8_000;

/**
 * Embeds with a sentence model on this machine, through transformers.js; nothing leaves the process. The model is loaded when the first
 * text comes. Throws TriageError: `invalid-config` where the model or the package is missing, `cancelled`, `internal`.
 */
export async function openLocalEmbedder({ model, download, importLibrary }: LocalEmbedderOptions): Promise<Embedder> {
  const found = await findModel(model);
  let loading: Promise<Extract> | undefined;
  let dimensions: number | null = null;
  let floor: number | null = null;

  async function load(): Promise<Extract> {
    loading ??= loadModel(found, download, importLibrary).catch((error: unknown) => {
      // What was missing may be there at the next try.
      loading = undefined;
      throw error;
    });
    return await loading;
  }

  async function embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> {
    // Texts of a batch cost as much as its longest one: like goes with like.
    const byLength = texts
      .map((text, place) => ({ text: asRead(text), place }))
      .sort((left, right) => left.text.length - right.text.length);
    const vectors: { readonly place: number; readonly vector: Float32Array }[] = [];
    for (let start = 0; start < byLength.length; start += BATCH) {
      const some = byLength.slice(start, start + BATCH);
      const made = await unlessAborted(embedSome(some.map(({ text }) => text)), signal);
      append(
        vectors,
        made.map((vector, index) => ({ vector, place: some[index]?.place ?? 0 })),
      );
    }
    dimensions ??= vectors[0]?.vector.length ?? null;
    return vectors.sort((left, right) => left.place - right.place).map(({ vector }) => vector);
  }

  async function embedSome(texts: readonly string[]): Promise<Float32Array[]> {
    const extract = await load();
    const vectors = (await extract(texts)).map((numbers) => unit(Float32Array.from(numbers)));
    const length = dimensions ?? vectors[0]?.length;
    if (vectors.length === texts.length && vectors.every((vector) => vector.length === length)) return vectors;
    throw new TriageError('internal', `The model ${found.source} returned vectors that do not fit its texts`);
  }

  return {
    name: found.name,
    get dimensions() {
      return dimensions;
    },
    embed,
    unrelated: async (signal) => {
      floor ??= meanCosine(await embed(UNRELATED, signal));
      return floor;
    },
  };
}

/** Models have no word for what is not text; an empty text is a space. */
function asRead(text: string): string {
  return text.slice(0, MAX_TEXT).toWellFormed().replaceAll('\0', ' ').trim() || ' ';
}

/** Work on this machine cannot be taken back, but nobody need wait for it. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await work;
  const cancelled = () => new TriageError('cancelled', 'Embedding was canceled.', { cause: signal.reason });
  work.catch(() => undefined);
  if (signal.aborted) throw cancelled();
  const ended = Promise.withResolvers<never>();
  const end = () => ended.reject(cancelled());
  signal.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([work, ended.promise]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, number) => sum + number ** 2, 0));
  if (length > 0) return vector.map((number) => number / length);
  return vector.map((_, index) => (index === 0 ? 1 : 0));
}
