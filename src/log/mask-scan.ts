import { buildAutomaton } from './aho-corasick.ts';

/** Told of each line that holds a literal: where it stands, and a bit for each group of literals that it holds. */
export type Candidate = (from: number, to: number, groups: number) => void;

/**
 * The first stage: one pass over a text that finds the lines worth a second look. Every line with a literal is told, however
 * many there are. At most 31 groups; the case of ASCII letters does not count.
 */
export function createScan(groups: readonly (readonly string[])[]): (text: string, candidate: Candidate) => void {
  const literals = groups.flatMap((group, bit) => group.map((literal) => ({ literal, bits: 1 << bit })));
  const { columns, width, next, outputs } = buildAutomaton(literals.map(({ literal }) => literal));
  const bitsOf = Uint32Array.from(outputs, (ids) => ids.reduce((bits, id) => bits | (literals[id]?.bits ?? 0), 0));
  return (text, candidate) => {
    let from = 0;
    let state = 0;
    let bits = 0;
    const length = text.length;
    for (let at = 0; at < length; at++) {
      const code = text.charCodeAt(at);
      if (code === 10) {
        if (bits !== 0) candidate(from, at, bits);
        from = at + 1;
        state = 0;
        bits = 0;
        continue;
      }
      state = next[state * width + (columns[code] ?? 0)] ?? 0;
      bits |= bitsOf[state] ?? 0;
    }
    if (bits !== 0) candidate(from, length, bits);
  };
}
