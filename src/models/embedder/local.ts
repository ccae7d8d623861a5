import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { append } from '../../lib/collections.ts';
import { parseJson } from '../../lib/text.ts';
import { settleOrAbort } from '../../lib/time.ts';
import type { Embedder } from '../../ports/vector-index.ts';
import { createUnrelatedMeasure, toUnitVector } from './vectors.ts';

export interface LocalEmbedderOptions {
  /**
   * A folder with an ONNX model in the layout of transformers.js, or a name on the hub, such as
   * `Xenova/all-MiniLM-L6-v2`.
   */
  readonly model: string;
  /** True if a model may be downloaded from the hub. */
  readonly download: boolean;
  /** Imports another transformers.js than the installed one. */
  readonly importLibrary?: () => Promise<unknown>;
}

/** The number of texts per batch. A larger batch would delay callers that wait for a single text. */
const BATCH = 16;
/**
 * The maximum length of a text in characters; the rest is cut. Models read 256 to 512 tokens, and in every
 * script eight characters have at least about one token.
 */
const MAX_TEXT = 8_000;

/**
 * Opens an embedder with a sentence model on this machine, through transformers.js. No text leaves the
 * process. The model is loaded when the first text is embedded. Throws TriageError: `invalid-config` if the
 * model or the package is missing, `cancelled`, or `internal`.
 */
export async function openLocalEmbedder({
  model,
  download,
  importLibrary,
}: LocalEmbedderOptions): Promise<Embedder> {
  const found = await findModel(model);
  let loading: Promise<Extract> | undefined;
  let dimensions: number | null = null;

  async function load(): Promise<Extract> {
    loading ??= loadModel(found, download, importLibrary).catch((error: unknown) => {
      // The next attempt loads the model again, because a missing file may exist by then.
      loading = undefined;
      throw error;
    });
    return await loading;
  }

  async function embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> {
    // Every text of a batch costs as much as the longest one, so texts of similar length are grouped.
    const byLength = texts
      .map((text, place) => ({ text: toModelText(text), place }))
      .sort((left, right) => left.text.length - right.text.length);
    const vectors: { readonly place: number; readonly vector: Float32Array }[] = [];
    for (let start = 0; start < byLength.length; start += BATCH) {
      const some = byLength.slice(start, start + BATCH);
      const made = await stopOnAbort(embedSome(some.map(({ text }) => text)), signal);
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
    const vectors = (await extract(texts)).map((numbers) => toUnitVector(Float32Array.from(numbers)));
    const length = dimensions ?? vectors[0]?.length;
    if (vectors.length === texts.length && vectors.every((vector) => vector.length === length))
      return vectors;
    throw new TriageError('internal', `The model ${found.source} returned vectors that do not fit its texts`);
  }

  return {
    name: found.name,
    get dimensions() {
      return dimensions;
    },
    embed,
    unrelated: createUnrelatedMeasure(embed),
  };
}

/** Removes characters for which models have no token. An empty text becomes a space. */
function toModelText(text: string): string {
  return text.slice(0, MAX_TEXT).toWellFormed().replaceAll('\0', ' ').trim() || ' ';
}

/** Waits for the work until the signal aborts. The local computation itself cannot be interrupted. */
async function stopOnAbort<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await work;
  return await settleOrAbort(work, signal).catch((error: unknown) => {
    throw signal.aborted
      ? new TriageError('cancelled', 'Embedding was canceled.', { cause: signal.reason })
      : error;
  });
}

/** Computes one vector for each text. */
export type Extract = (texts: readonly string[]) => Promise<readonly (readonly number[])[]>;

/** The location of a model and the method that combines its token vectors into one. */
export interface LocalModel {
  /** The path of the folder, or the name on the hub. */
  readonly source: string;
  readonly isFolder: boolean;
  /** The precision of the weights, as transformers.js names it. */
  readonly dtype: string;
  readonly pooling: 'mean' | 'cls';
  /** The name of the model. Different models have different names. */
  readonly name: string;
}

const PACKAGE = '@huggingface/transformers';
/**
 * The weights to look for, in order. The first are a quarter of the size and precise enough for similarity.
 */
const WEIGHTS: readonly (readonly [dtype: string, file: string])[] = [
  ['q8', 'onnx/model_quantized.onnx'],
  ['fp16', 'onnx/model_fp16.onnx'],
  ['fp32', 'onnx/model.onnx'],
];

/** The threads of the runtime must sleep while they wait. Otherwise they use all CPU time of the machine. */
const SESSION = { extra: { session: { intra_op: { allow_spinning: '0' } } } };

/**
 * The part of transformers.js that is used. Its objects are not copied, because their methods need `this`.
 */
interface Library {
  readonly env: { cacheDir?: unknown };
  pipeline(task: string, model: string, options: object): Promise<unknown>;
}

const Vectors = z.array(z.array(z.number()));
const Pooling = z.object({ pooling_mode_cls_token: z.boolean().default(false) });

/**
 * Determines where a model is, before anything is loaded. A name such as `org/model` that is not a folder is
 * a name on the hub. Throws `invalid-config` if a folder has no usable model.
 */
export async function findModel(model: string): Promise<LocalModel> {
  const sizes = await Promise.all(
    WEIGHTS.map(async ([dtype, file]) => ({ dtype, file, size: await readSize(join(model, file)) })),
  );
  const found = sizes.find(({ size }) => size !== null);
  if (found !== undefined) {
    const pooling = Pooling.catch({ pooling_mode_cls_token: false }).parse(
      parseJson(await readFile(join(model, '1_Pooling/config.json'), 'utf8').catch(() => '')),
    );
    return {
      source: model,
      isFolder: true,
      dtype: found.dtype,
      pooling: pooling.pooling_mode_cls_token ? 'cls' : 'mean',
      name: `local:${basename(model)}:${found.dtype}:${found.size}`,
    };
  }
  if (!isAbsolute(model) && /^[\w.-]{1,96}\/[\w.-]{1,96}$/.test(model) && (await readSize(model)) === null) {
    return { source: model, isFolder: false, dtype: 'q8', pooling: 'mean', name: `local:${model}:q8` };
  }
  const files = WEIGHTS.map(([, file]) => file).join(', ');
  throw new TriageError(
    'invalid-config',
    `${model} is not a folder with a sentence model: it contains none of ${files} (FAULTLINE_EMBEDDER_MODEL)`,
  );
}

/**
 * Loads the model. Downloads from the hub if `download` is true, and from nowhere else. Throws
 * `invalid-config`.
 */
export async function loadModel(
  model: LocalModel,
  download: boolean,
  importLibrary = importPackage,
): Promise<Extract> {
  const library = await importLibrary();
  if (!isLibrary(library))
    throw new TriageError('internal', `This version of ${PACKAGE} has no pipeline function`);
  library.env.cacheDir = join(homedir(), '.cache', 'faultline', 'models');
  const options = {
    dtype: model.dtype,
    local_files_only: model.isFolder || !download,
    session_options: SESSION,
  };
  const extract = await library
    .pipeline('feature-extraction', model.source, options)
    .catch((error: unknown) => {
      throw new TriageError(
        'invalid-config',
        `The embedding model ${model.source} cannot be loaded: ${getReason(model, download, error)}`,
        {
          cause: error,
        },
      );
    });
  if (typeof extract !== 'function')
    throw new TriageError('internal', `${PACKAGE} returned something other than a pipeline`);
  return async (texts) => {
    const tensor: unknown = await extract([...texts], { pooling: model.pooling, normalize: true });
    if (!isTensor(tensor))
      throw new TriageError('internal', `${PACKAGE} returned something other than a tensor`);
    return Vectors.parse(tensor.tolist());
  };
}

function isLibrary(value: unknown): value is Library {
  if (typeof value !== 'object' || value === null || !('env' in value) || !('pipeline' in value))
    return false;
  return typeof value.env === 'object' && value.env !== null && typeof value.pipeline === 'function';
}

function isTensor(value: unknown): value is { tolist(): unknown } {
  return (
    typeof value === 'object' && value !== null && 'tolist' in value && typeof value.tolist === 'function'
  );
}

function getReason({ isFolder }: LocalModel, download: boolean, error: unknown): string {
  if (!isFolder && !download)
    return (
      'it is not available locally, and downloads are off; set FAULTLINE_EMBEDDER_DOWNLOAD=true to ' +
      'allow one'
    );
  return getErrorMessage(error).slice(0, 300);
}

/**
 * Imports the package through a variable, because it is not a dependency of ours. With its runtime, it has
 * hundreds of megabytes.
 */
async function importPackage(): Promise<unknown> {
  const name: string = PACKAGE;
  try {
    return await import(name);
  } catch (error) {
    const remedy = `Install it alongside Faultline (npm install ${PACKAGE}), or set FAULTLINE_EMBEDDER=hashing.`;
    throw new TriageError(
      'invalid-config',
      `A local embedding model needs the package ${PACKAGE}, which cannot be loaded. ${remedy}`,
      {
        cause: error,
      },
    );
  }
}

async function readSize(path: string): Promise<number | null> {
  return await stat(path).then(
    ({ size }) => size,
    () => null,
  );
}
