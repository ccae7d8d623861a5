import type { Diagnostic } from '../../domain/failure.ts';
import { ENVIRONMENT_LITERALS } from '../environment/read-environment.ts';
import { LEFT_OUT_LITERALS } from '../left-out.ts';
import { createRoleLookup, type LineRole } from '../line-roles.ts';
import type { LogBytes } from '../lines/bytes.ts';
import { BRANCH_LITERALS, type LogText, openLog } from '../lines/lines.ts';
import { buildMatcher, type Matcher, shortenLiterals } from '../scan/matcher.ts';
import { type Scan, scanLog } from '../scan/scan-log.ts';
import type { LineRange } from '../sections/system.ts';
import { readStructure, STRUCTURE_LITERALS, type Structure } from '../sections.ts';
import { failsOnWarnings, isLinter } from '../tool-kinds.ts';
import { type Extraction, type Extractor, Findings, hasFindings, withLists } from './extraction.ts';
import { CHECK_RUNNERS } from './tests/check-runners.ts';
import { harness, TAP, teamcity } from './tests/protocols.ts';
import { COMPILED_RUNNERS, SCRIPT_RUNNERS } from './tests/runners.ts';
import { createReader } from './tests/shapes.ts';
import { structural } from './tests/structural.ts';
import { anyTool, namedTools } from './tools/any-tool.ts';
import { ansible, BUILDERS, DELIVERY } from './tools/builders.ts';
import { COMPILERS, LINTERS } from './tools/compilers.ts';
import { crashes, sanitizers } from './tools/crashes.ts';
import { createReaders } from './tools/diagnostics.ts';
import { PACKAGE_MANAGERS } from './tools/packages.ts';
import { commands, listings, phrases, records, shell } from './tools/phrases.ts';
import { TOOL_NAMES } from './tools/place.ts';
import { goPanics, moreTraces, pythonTraceback, rustPanics, stackTrace } from './tools/traces.ts';

/** Readers of test runners' console output, most specific first; they come before those of build tools. */
export const TEST_EXTRACTORS: readonly Extractor[] = [
  ...[...SCRIPT_RUNNERS, TAP, ...COMPILED_RUNNERS, ...CHECK_RUNNERS].map(createReader),
  teamcity,
  goPanics,
  rustPanics,
  harness,
  structural,
];

/**
 * Readers of build tools, linters, package managers and infrastructure; they come after those of test
 * frameworks. The order is: tools known by name, traces and crashes, the shapes of unknown tools, and finally
 * the catch-all readers.
 */
// biome-ignore format: one row for each kind of tool
const TOOL_EXTRACTORS: readonly Extractor[] = [
  namedTools, listings,
  ...createReaders(LINTERS), ...createReaders(COMPILERS), ...createReaders(BUILDERS),
  ...createReaders(PACKAGE_MANAGERS), ...createReaders(DELIVERY), ansible,
  sanitizers, crashes, pythonTraceback, stackTrace, moreTraces, records,
  anyTool,
  ...shell, phrases, commands,
];

/**
 * Every reader of tool output, most specific first: test frameworks, then build tools. A new tool is a row of
 * a table in `tools/`.
 */
export const EXTRACTORS: readonly Extractor[] = [...TEST_EXTRACTORS, ...TOOL_EXTRACTORS];

/** The groups of literals: one for each extractor, in their order, and then those below. */
const STRUCTURE = EXTRACTORS.length;
const BRANCHES = EXTRACTORS.length + 1;
const LEFT_OUT = EXTRACTORS.length + 2;
const ENVIRONMENT = LEFT_OUT + LEFT_OUT_LITERALS.length;

/** Readers that recognize forms of output, whichever tool printed them. */
const GENERAL: ReadonlySet<string> = new Set([
  'tests',
  'places',
  'records',
  'generic',
  'commands',
  'shell',
  'stack-trace',
  'python',
  'sanitizers',
  'crashes',
  'harness',
]);

/** Readers whose names are not names of tools. */
const NOT_A_TOOL: ReadonlySet<string> = new Set([...GENERAL].filter((name) => name !== 'python'));

/** The literals to search for all readers, by group, as {@link shortenLiterals} returns them. */
export const READER_GROUPS: readonly (readonly string[])[] = [
  ...EXTRACTORS.map(({ literals }) => literals),
  STRUCTURE_LITERALS,
  BRANCH_LITERALS,
  ...LEFT_OUT_LITERALS,
  ...ENVIRONMENT_LITERALS,
].map(shortenLiterals);

let matcher: Matcher | undefined;

/** Returns the literals to search for all readers, in lower case, without duplicates. */
export function listReaderLiterals(): readonly string[] {
  return [...new Set(READER_GROUPS.flat())];
}

/** Returns the matcher that finds the literals of all readers; it is built once. */
export function createReaderMatcher(): Matcher {
  matcher ??= buildMatcher(READER_GROUPS);
  return matcher;
}

/** A log together with the scan for its readers' literals. */
export interface OpenedLog {
  readonly log: LogText;
  readonly scan: Scan;
}

/** Opens a log for its readers. `scan` is the result of {@link createReaderMatcher} on this log. */
export function openScanned(
  name: string,
  bytes: LogBytes,
  scan: Scan = scanLog(bytes, createReaderMatcher()),
): OpenedLog {
  return { log: openLog(name, bytes, scan.index, scan.hits[BRANCHES] ?? []), scan };
}

/** Reads the structure that the CI system's own markers describe. */
export function readCiStructure({ log, scan }: OpenedLog): Structure {
  return readStructure(log, scan.hits[STRUCTURE] ?? []);
}

/**
 * Splits the hits by their use: the lines for each reader, for {@link LEFT_OUT_LITERALS}, and for {@link
 * ENVIRONMENT_LITERALS}.
 */
export function splitHits({
  hits,
}: Scan): Record<'ofReaders' | 'ofLeftOut' | 'ofEnvironment', readonly (readonly number[])[]> {
  return {
    ofReaders: hits.slice(0, LEFT_OUT),
    ofLeftOut: hits.slice(LEFT_OUT, ENVIRONMENT),
    ofEnvironment: hits.slice(ENVIRONMENT),
  };
}

/**
 * Returns the names of the readers of specific tools and of all tools known by name. With these left out,
 * only the readers of unknown tools remain.
 */
export function listToolReaders(): ReadonlySet<string> {
  return new Set([
    ...EXTRACTORS.map(({ name }) => name).filter((name) => !GENERAL.has(name)),
    ...TOOL_NAMES.map(({ tool }) => tool),
  ]);
}

/** Runs every extractor over its candidate lines of one log, without those of the tools in `leftOut`. */
export function extractAll({ log, scan }: OpenedLog, leftOut: ReadonlySet<string> = new Set()): Extraction {
  const found = new Findings(log.name, leftOut);
  for (const [group, extractor] of EXTRACTORS.entries()) {
    const lines = scan.hits[group] ?? [];
    if (lines.length === 0 || leftOut.has(extractor.name)) continue;
    const before = found.size;
    extractor.extract(log, lines, found);
    if (found.size > before && !NOT_A_TOOL.has(extractor.name)) found.toolchains.add(extractor.name);
  }
  return found;
}

/** Roles of lines on which a diagnostic or message counts as a possible cause. */
const MAY_CAUSE: ReadonlySet<LineRole> = new Set(['cause', 'wrapper', 'ending', 'blank']);

/**
 * Removes findings that cannot be a cause: in remarks, in commands that were only echoed, and after the
 * failed step. If the failed steps have findings of their own, also removes those outside.
 */
export function filterFailedSteps(log: LogText, found: Extraction, structure: Structure): Extraction {
  const roleAt = createRoleLookup(log, structure);
  const isIn = (ranges: readonly LineRange[], line: number) =>
    ranges.some(({ start, end }) => line >= start && line <= end);
  const sections = structure.failedSections.map(({ lineStart, lineEnd }) => ({
    start: lineStart,
    end: lineEnd,
  }));
  const output = keepLines(found, (line) => roleAt(line) !== 'echo' && !isIn(structure.afterwards, line));
  const causes: Extraction = {
    ...output,
    diagnostics: output.diagnostics.filter(
      ({ at, severity, tool }) =>
        severity !== 'error' || at === null || failsOnWarnings(tool) || MAY_CAUSE.has(roleAt(at.line)),
    ),
    exceptions: output.exceptions.filter(({ type }) => !/Warning$/.test(type)),
    messages: output.messages.filter(({ at }) => at === null || MAY_CAUSE.has(roleAt(at.line))),
  };
  const failed = sections.length === 0 ? causes : keepLines(causes, (line) => isIn(sections, line));
  return withWarningsThatFailed([failed, causes, output].find(hasFindings) ?? found, structure);
}

/** Turns a linter's warnings into errors if a step failed and nothing else in it did. */
function withWarningsThatFailed(found: Extraction, { failedSections, exits }: Structure): Extraction {
  const { diagnostics, failingTests, exceptions } = found;
  if (failingTests.length > 0 || failedSections.length + exits.length === 0) return found;
  const hasErrors = diagnostics.some(({ severity }) => severity === 'error') || exceptions.length > 0;
  const isFinding = ({ tool, file }: Diagnostic) =>
    file !== null && (failsOnWarnings(tool) || (!hasErrors && isLinter(tool)));
  return {
    ...found,
    diagnostics: diagnostics.map((diagnostic) =>
      isFinding(diagnostic) ? { ...diagnostic, severity: 'error' } : diagnostic,
    ),
  };
}

/** Returns the findings on lines that satisfy `isKept`. */
export function keepLines(found: Extraction, isKept: (line: number) => boolean): Extraction {
  return withLists(found, (all) => all.filter(({ at }) => at === null || isKept(at.line)));
}
