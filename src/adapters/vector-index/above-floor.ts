/**
 * A cosine as likeness. Models differ in what they give to texts that have nothing in common (0.1 for some, 0.8 for others): measured from
 * there, 0 means unrelated and 1 the same text, whatever the model.
 */
export function aboveFloor(cosine: number, floor: number): number {
  if (floor >= 1) return 0;
  return Math.min(Math.max((cosine - floor) / (1 - floor), 0), 1);
}
