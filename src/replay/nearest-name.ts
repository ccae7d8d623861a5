/**
 * Returns the known name with the fewest edits, which was probably meant. Returns null if none is near
 * enough.
 */
export function findNearestName(name: string, known: readonly string[]): string | null {
  const wanted = name.toLowerCase();
  let best: { readonly name: string; readonly edits: number } | null = null;
  for (const candidate of new Set(known)) {
    const edits = countEdits(wanted, candidate.toLowerCase());
    if (best === null || edits < best.edits) best = { name: candidate, edits };
  }
  // A name that differs in more than a third of the letters is not a typing error.
  return best !== null && best.edits <= Math.max(2, Math.ceil(name.length / 3)) ? best.name : null;
}

/** Computes the Levenshtein distance (1966), one row of the table at a time. */
function countEdits(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (const [at, letter] of [...left].entries()) {
    const next = [at + 1];
    for (const [column, other] of [...right].entries()) {
      const change = (row[column] ?? 0) + Number(letter !== other);
      next.push(Math.min(change, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
