import type { Automaton } from '../aho-corasick.ts';
import { buildAutomaton } from '../aho-corasick.ts';
import type { LogText } from '../lines.ts';
import type { Scan } from '../scan.ts';
import { STRUCTURE_LITERALS } from '../sections.ts';
import { EXTRACTORS } from './all.ts';
import type { Extraction } from './extraction.ts';
import { newExtraction } from './extraction.ts';

/** Literals of all extractors, each once; its index is its id in a scan. */
const LITERALS: readonly string[] = [
  ...new Set([...EXTRACTORS.flatMap(({ literals }) => literals), ...STRUCTURE_LITERALS].map((literal) => literal.toLowerCase())),
];

const IDS: ReadonlyMap<string, number> = new Map(LITERALS.map((literal, id) => [literal, id]));

/** Families that are shapes rather than tools. */
const NO_TOOLCHAIN: ReadonlySet<string> = new Set([
  'tests',
  'stack-trace',
  'compiler',
  'linter',
  'packages',
  'records',
  'shell',
  'generic',
  'harness',
  'commands',
]);

let automaton: Automaton | undefined;

/** The automaton that finds every literal any extractor asks for; built once. */
export function extractorAutomaton(): Automaton {
  automaton ??= buildAutomaton(LITERALS);
  return automaton;
}

/** Runs every extractor over its candidate lines of one log. */
export function extractAll(log: LogText, scan: Scan): Extraction {
  const found = newExtraction();
  for (const extractor of EXTRACTORS) {
    const lines = linesOf(scan, extractor.literals);
    if (lines.length === 0) continue;
    const before = found.failingTests.length + found.diagnostics.length + found.exceptions.length;
    extractor.extract(log, lines, found);
    if (found.failingTests.length + found.diagnostics.length + found.exceptions.length > before && !NO_TOOLCHAIN.has(extractor.name)) {
      found.toolchains.add(extractor.name);
    }
  }
  return found;
}

/** The lines that hold any of the literals, ascending, each once. Only literals known to {@link extractorAutomaton} are found. */
export function linesOf(scan: Scan, literals: readonly string[]): readonly number[] {
  const lists = literals.map((literal) => scan.hits[IDS.get(literal.toLowerCase()) ?? -1] ?? []).filter((list) => list.length > 0);
  if (lists.length <= 1) return lists[0] ?? [];
  return Array.from(new Set(lists.flat())).sort((a, b) => a - b);
}
