/** Tells of each place in a text where one of the literals stands, in order; places may overlap. */
export type FindLiterals = (text: string, found: (literal: number, from: number) => void) => void;

const TABLE = 1 << 16;

/**
 * Looks for any number of literals at once, each at least two characters, exactly as written. Wu and Manber's method ("A
 * fast algorithm for multi-pattern searching", 1994) over blocks of two characters: most of a text is skipped.
 */
export function createFinder(literals: readonly string[]): FindLiterals {
  const shortest = literals.reduce((least, { length }) => Math.min(least, length), 255);
  const shifts = new Uint8Array(TABLE).fill(shortest - 1);
  const buckets = new Map<number, number[]>();
  for (const [id, literal] of literals.entries()) {
    for (let end = 1; end < shortest; end++) {
      const block = blockAt(literal, end);
      shifts[block] = Math.min(shifts[block] ?? 0, shortest - 1 - end);
      if (end === shortest - 1) buckets.set(block, [...(buckets.get(block) ?? []), id]);
    }
  }
  return (text, found) => {
    if (literals.length === 0) return;
    for (let end = shortest - 1; end < text.length; ) {
      const block = blockAt(text, end);
      const shift = shifts[block] ?? 0;
      if (shift > 0) {
        end += shift;
        continue;
      }
      const from = end - shortest + 1;
      for (const id of buckets.get(block) ?? []) if (text.startsWith(literals[id] ?? '', from)) found(id, from);
      end++;
    }
  };
}

/** Two characters as a place in the table; places may be shared, since each hit is compared. */
function blockAt(text: string, end: number): number {
  return ((text.charCodeAt(end - 1) * 251) ^ text.charCodeAt(end)) & (TABLE - 1);
}
