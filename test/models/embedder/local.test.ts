import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHashingEmbedder } from '../../../src/models/embedder/hashing.ts';
import { openLocalEmbedder } from '../../../src/models/embedder/local.ts';
import { testEmbedderContract } from '../../contract/embedder-contract.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-model-'));
  await createModelFolder('mini', { 'onnx/model.onnx': 'weights', 'onnx/model_quantized.onnx': 'few' });
});
afterAll(async () => rm(folder, { recursive: true, force: true }));

async function createModelFolder(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, name, path, '..'), { recursive: true });
    await writeFile(join(folder, name, path), text);
  }
  return join(folder, name);
}

interface Played {
  readonly asked: { task: string; model: string; options: object }[];
  readonly texts: string[][];
  readonly how: object[];
}

/** Knows its numbers by `this`, as the real one does. */
class Tensor {
  readonly rows: number[][];
  constructor(rows: number[][]) {
    this.rows = rows;
  }
  tolist(): number[][] {
    return this.rows;
  }
}

/** transformers.js as it is used here: a pipeline that gives a tensor. */
function createPlayed(
  vectors = async (texts: string[]) =>
    (await createHashingEmbedder().embed(texts)).map((vector) => [...vector]),
) {
  const seen: Played = { asked: [], texts: [], how: [] };
  const pipeline = async (task: string, model: string, options: object) => {
    seen.asked.push({ task, model, options });
    return async (texts: string[], how: object) => {
      seen.texts.push(texts);
      seen.how.push(how);
      return new Tensor(await vectors(texts));
    };
  };
  const env = { cacheDir: null, other: 1 };
  return { seen, env, importLibrary: async () => ({ env, pipeline }) };
}

const open = (library = createPlayed(), model = join(folder, 'mini'), download = false) =>
  openLocalEmbedder({ model, download, importLibrary: library.importLibrary });

testEmbedderContract('local, its library played', async () => {
  const embedder = await open();
  await embedder.embed(['what is known after the first text']);
  return embedder;
});

describe('a model in a folder', () => {
  it('is loaded once, for the first text, from the folder only, with small weights first', async () => {
    const library = createPlayed();
    const embedder = await open(library);
    expect(library.seen.asked).toEqual([]);
    await Promise.all([embedder.embed(['a']), embedder.embed(['b'])]);

    const options = { dtype: 'q8', local_files_only: true };
    expect(library.seen.asked).toMatchObject([
      { task: 'feature-extraction', model: join(folder, 'mini'), options },
    ]);
    expect(library.seen.how[0]).toEqual({ pooling: 'mean', normalize: true });
    expect(library.env.cacheDir).toMatch(/faultline/);
    expect(embedder.name).toBe('local:mini:q8:3');
  });

  it('gets batches of texts of similar length, in a form that it can read', async () => {
    const library = createPlayed();
    const embedder = await open(library);
    const texts = [
      'x'.repeat(50_000),
      ...Array.from({ length: 20 }, (_, number) => `text number ${number}`),
      '',
      'half \ud800',
    ];
    const vectors = await embedder.embed(texts);
    expect(library.seen.texts.map(({ length }) => length)).toEqual([16, 7]);
    expect(library.seen.texts[0]?.slice(0, 2)).toEqual([' ', 'half \ufffd']);
    expect(library.seen.texts[1]?.at(-1)).toBe('x'.repeat(8_000));
    const asked = await createHashingEmbedder().embed(texts.slice(1, 21));
    expect(vectors.slice(1, 21)).toEqual(
      asked.map((vector) => expect.objectContaining({ 0: expect.closeTo(vector[0] ?? 0, 5) })),
    );
  });

  it('is pooled as its folder states, and differs in name from other weights', async () => {
    const cls = await createModelFolder('cls', {
      'onnx/model.onnx': 'weights',
      '1_Pooling/config.json': '{"pooling_mode_cls_token": true}',
    });
    const library = createPlayed();
    const embedder = await open(library, cls);
    await embedder.embed(['a']);
    expect(library.seen.how[0]).toMatchObject({ pooling: 'cls' });
    expect(embedder.name).toBe('local:cls:fp32:7');
  });

  it('calibrates similarity by its results for unrelated texts', async () => {
    const same = await open(createPlayed(async (texts) => texts.map(() => [0, 3, 4])));
    expect(await same.unrelated?.()).toBeCloseTo(1, 5);
  });
});

describe('a model of the hub', () => {
  it('is downloaded only if that is allowed', async () => {
    for (const download of [false, true]) {
      const library = createPlayed();
      await (await open(library, 'Xenova/all-MiniLM-L6-v2', download)).embed(['a']);
      expect(library.seen.asked).toMatchObject([
        { model: 'Xenova/all-MiniLM-L6-v2', options: { local_files_only: !download } },
      ]);
    }
  });

  it('that is neither here nor downloadable is reported with advice', async () => {
    const pipeline = () => Promise.reject(new Error('file was not found locally'));
    const library = {
      ...createPlayed(),
      importLibrary: async () => ({ env: { cacheDir: null, other: 1 }, pipeline }),
    };
    const embedder = await open(library, 'Xenova/other');
    await expect(embedder.embed(['a'])).rejects.toMatchObject({
      code: 'invalid-config',
      message: /FAULTLINE_EMBEDDER_DOWNLOAD=true/,
    });
  });
});

describe('a missing part', () => {
  it.each([
    ['no folder', '/nowhere/model'],
    ['nothing at all', 'model'],
  ])('is named: %s', async (_, model) => {
    await expect(open(createPlayed(), model)).rejects.toMatchObject({
      code: 'invalid-config',
      message: /FAULTLINE_EMBEDDER_MODEL/,
    });
  });

  it('is named: a folder without weights', async () => {
    const empty = await createModelFolder('empty', { 'config.json': '{}' });
    await expect(open(createPlayed(), empty)).rejects.toMatchObject({
      message: expect.stringContaining('onnx/model_quantized.onnx'),
    });
  });

  it('is named: the package, which is not a dependency; and it is tried again', async () => {
    const embedder = await openLocalEmbedder({ model: join(folder, 'mini'), download: false });
    for (const _ of [1, 2]) {
      await expect(embedder.embed(['a'])).rejects.toMatchObject({
        code: 'invalid-config',
        message: expect.stringContaining('npm install @huggingface/transformers'),
      });
    }
  });

  it('or an invalid result of a model is reported', async () => {
    const odd = await open(createPlayed(async () => [[1, 0]]));
    await expect(odd.embed(['a', 'b'])).rejects.toMatchObject({ code: 'internal' });
  });
});

it('waiting for a model stops on abort', async () => {
  const embedder = await open(createPlayed(() => new Promise(() => undefined)));
  await expect(embedder.embed(['a'], AbortSignal.timeout(20))).rejects.toMatchObject({ code: 'cancelled' });
});
