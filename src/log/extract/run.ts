import { BRANCH_LITERALS } from '../lines/branches.ts';
import type { LogText } from '../lines/lines.ts';
import type { Matcher } from '../scan/matcher.ts';
import { beginningsOf, buildMatcher } from '../scan/matcher.ts';
import type { Scan } from '../scan/scan-log.ts';
import { STRUCTURE_LITERALS } from '../sections.ts';
import { EXTRACTORS } from './all.ts';
import type { Extraction } from './extraction.ts';
import { newExtraction } from './extraction.ts';

/** One group of literals for each extractor, in their order, then these two. */
const STRUCTURE = EXTRACTORS.length;
const BRANCHES = EXTRACTORS.length + 1;

/** Families that are shapes rather than tools. */
const NO_TOOLCHAIN: ReadonlySet<string> = new Set([
  'tests',
  'stack-trace',
  'places',
  'records',
  'shell',
  'generic',
  'harness',
  'commands',
  'sanitizers',
  'crashes',
]);

const GROUPS = [...EXTRACTORS.map(({ literals }) => literals), STRUCTURE_LITERALS, BRANCH_LITERALS].map(beginningsOf);

let matcher: Matcher | undefined;

/** What is searched for all readers, in lower case, each once. */
export function readerLiterals(): readonly string[] {
  return [...new Set(GROUPS.flat())];
}

/** The matcher that finds every literal any reader asks for; built once. */
export function readerMatcher(): Matcher {
  matcher ??= buildMatcher(GROUPS);
  return matcher;
}

/** The lines of a {@link readerMatcher}'s scan that the CI system's own marks may stand on. */
export function structureLines(scan: Scan): readonly number[] {
  return scan.hits[STRUCTURE] ?? [];
}

/** The lines that may name a parallel branch. */
export function branchLines(scan: Scan): readonly number[] {
  return scan.hits[BRANCHES] ?? [];
}

/** The reader of general phrases, the net under all others. */
export const NET = 'generic';

/** Runs every extractor over its candidate lines of one log; `only` names the one to run, for measurements. */
export function extractAll(log: LogText, scan: Scan, only: string | null = null): Extraction {
  const found = newExtraction();
  for (const [group, extractor] of EXTRACTORS.entries()) {
    const lines = scan.hits[group] ?? [];
    if (lines.length === 0 || (only !== null && extractor.name !== only)) continue;
    const before = found.failingTests.length + found.diagnostics.length + found.exceptions.length;
    extractor.extract(log, lines, found);
    if (found.failingTests.length + found.diagnostics.length + found.exceptions.length > before && !NO_TOOLCHAIN.has(extractor.name)) {
      found.toolchains.add(extractor.name);
    }
  }
  return found;
}
