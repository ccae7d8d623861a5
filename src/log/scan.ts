import type { Automaton } from './aho-corasick.ts';

/** Which lines of a text hold which literals. */
export interface Scan {
  /** Offset of each line's first character; line n (1-based) starts at `starts[n - 1]`. */
  readonly starts: Uint32Array;
  /** By literal id: the 1-based lines it stands on, ascending, each once. */
  readonly hits: readonly (readonly number[])[];
}

/** Lines kept for one literal from each end of a text: enough for any real log, bounded for hostile ones. */
const MAX_HITS = 40_000;

/** One pass over the text: finds line starts and every literal of the automaton. */
export function scanText(text: string, automaton: Automaton): Scan {
  const { columns, width, next, outputs, accepting } = automaton;
  const hits: number[][] = automaton.outputs.length > 0 ? literalSlots(automaton) : [];
  let starts = new Uint32Array(Math.max(16, text.length >> 5));
  let line = 1;
  let state = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 10) {
      if (line === starts.length) starts = grow(starts);
      starts[line++] = i + 1;
      state = 0;
      continue;
    }
    state = next[state * width + (columns[code] ?? 0)] ?? 0;
    if (accepting[state] === 1) for (const id of outputs[state] ?? []) note(hits[id], line);
  }
  return { starts: starts.slice(0, line), hits };
}

/** Offsets of the lines of a text, without looking for anything. */
export function lineStarts(text: string): Uint32Array {
  let starts = new Uint32Array(Math.max(16, text.length >> 5));
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    if (line === starts.length) starts = grow(starts);
    starts[line++] = at + 1;
  }
  return starts.slice(0, line);
}

function literalSlots(automaton: Automaton): number[][] {
  const count = Math.max(-1, ...automaton.outputs.flat()) + 1;
  return Array.from({ length: count }, () => []);
}

function note(lines: number[] | undefined, line: number): void {
  if (lines === undefined || lines[lines.length - 1] === line) return;
  if (lines.length < 2 * MAX_HITS) lines.push(line);
  else {
    lines.copyWithin(MAX_HITS, MAX_HITS + MAX_HITS / 2);
    lines.length = MAX_HITS + MAX_HITS / 2;
    lines.push(line);
  }
}

function grow(starts: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(starts.length * 2);
  larger.set(starts);
  return larger;
}
