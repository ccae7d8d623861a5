/** A finite automaton over UTF-16 code units that finds many literals at once, ignoring the case of ASCII letters. */
export interface Automaton {
  /** Code unit to column; those in no literal share column 0. */
  readonly columns: Uint8Array;
  readonly width: number;
  /** `next[state * width + column]` is the following state. */
  readonly next: Uint16Array;
  /** Literal ids that end in a state; empty for most. */
  readonly outputs: readonly (readonly number[])[];
  /** 1 where `outputs` is not empty: one byte is quicker to test than an array. */
  readonly accepting: Uint8Array;
}

/** Builds the automaton. The literals' index is their id. At most 65,535 states. */
export function buildAutomaton(literals: readonly string[]): Automaton {
  const columns = columnsOf(literals);
  const width = columns.reduce((most, column) => Math.max(most, column), 0) + 1;
  const trie = growTrie(literals, columns, width);
  const { next, outputs } = linkFailures(trie.next, trie.outputs, width);
  return { columns, width, next, outputs, accepting: Uint8Array.from(outputs, (ids) => (ids.length > 0 ? 1 : 0)) };
}

function columnsOf(literals: readonly string[]): Uint8Array {
  const columns = new Uint8Array(65_536);
  let used = 0;
  for (const code of new Set(Array.from(literals.join('').toLowerCase(), (char) => char.charCodeAt(0)))) {
    columns[code] = ++used;
    const upper = String.fromCharCode(code).toUpperCase().charCodeAt(0);
    if (code < 128) columns[upper] = used;
  }
  return columns;
}

function growTrie(literals: readonly string[], columns: Uint8Array, width: number): { next: number[]; outputs: number[][] } {
  const next: number[] = new Array(width).fill(0);
  const outputs: number[][] = [[]];
  for (const [id, literal] of literals.entries()) {
    let state = 0;
    for (let i = 0; i < literal.length; i++) {
      const cell = state * width + (columns[literal.charCodeAt(i)] ?? 0);
      if ((next[cell] ?? 0) === 0) {
        next[cell] = outputs.length;
        outputs.push([]);
        for (let c = 0; c < width; c++) next.push(0);
      }
      state = next[cell] ?? 0;
    }
    outputs[state]?.push(id);
  }
  return { next, outputs };
}

function linkFailures(trie: number[], outputs: number[][], width: number): { next: Uint16Array; outputs: number[][] } {
  const next = Uint16Array.from(trie);
  const failure = new Uint16Array(outputs.length);
  const queue: number[] = [];
  for (let c = 0; c < width; c++) if (next[c]) queue.push(next[c] ?? 0);
  for (let head = 0; head < queue.length; head++) {
    const state = queue[head] ?? 0;
    const fallback = failure[state] ?? 0;
    outputs[state]?.push(...(outputs[fallback] ?? []));
    for (let c = 0; c < width; c++) {
      const child = next[state * width + c] ?? 0;
      const other = next[fallback * width + c] ?? 0;
      if (child === 0) next[state * width + c] = other;
      else {
        failure[child] = other;
        queue.push(child);
      }
    }
  }
  return { next, outputs };
}
