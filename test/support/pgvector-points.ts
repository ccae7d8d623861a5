import type { Embedder } from '../../src/ports/vector-index.ts';

/**
 * Creates an embedder that treats texts as numbers. Each number is a point near one of `centres`, always the
 * same one. Because points are close together, high recall takes effort.
 */
export function pointEmbedder(name: string, dimensions: number, centres: number): Embedder {
  const centre = (number: number) => createDirections(number * 7919 + 1, dimensions);
  const embedOne = (text: string): Float32Array => {
    const number = Number(text);
    const around = centre(number % centres);
    const own = createDirections(number + 104_729, dimensions);
    const mixed = around.map((value, index) => value + 0.8 * (own[index] ?? 0));
    const length = Math.hypot(...mixed);
    return mixed.map((value) => value / length);
  };
  return { name, dimensions, embed: async (texts) => texts.map(embedOne) };
}

/** Returns a direction that depends only on the seed. */
function createDirections(seed: number, dimensions: number): Float32Array {
  let state = (seed * 2_654_435_761) >>> 0 || 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 0xffff_ffff - 0.5;
  };
  for (let warm = 0; warm < 8; warm += 1) next();
  return Float32Array.from({ length: dimensions }, next);
}
