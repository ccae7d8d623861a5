import { z } from 'zod';
import type { Analysis } from '../../domain/analysis.ts';
import type { Build } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import { findMax } from '../../lib/collections.ts';
import { toLogBytes } from '../../log/lines/bytes.ts';
import { openLog } from '../../log/lines/lines.ts';
import { buildMatcher, type Matcher } from '../../log/scan/matcher.ts';
import { scanLog } from '../../log/scan/scan-log.ts';
import { readStructure, STRUCTURE_LITERALS } from '../../log/sections.ts';
import type { ArchivedSource, BuildArchive } from '../../ports/build-archive.ts';
import { findBuild } from '../../service/answers/views.ts';
import { formatAnalysisAddress, formatLogAddress } from '../addresses.ts';
import { writeTexts } from '../answer/texts.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import type { Html } from '../html.ts';
import { listContentWords, placeNotes } from './notes.ts';
import {
  createAroundView,
  createWindowView,
  type EvidenceLines,
  foldLog,
  getProofRanges,
  listEvidenceLines,
  openGap,
  type Range,
  type ReadStretch,
  type RowsOptions,
  readRange,
  readStretches,
  type Stretch,
  WINDOW,
  writeRange,
} from './rows.ts';

/** The dependencies of the log pages. */
type LogDeps = Pick<ConsoleDeps, 'archive' | 'stores'>;

/** One text of a build, and the known facts about its lines. */
export interface LogFacts {
  readonly build: Build;
  /** All texts of the build, as they were received. */
  readonly sources: readonly ArchivedSource[];
  readonly source: ArchivedSource;
  readonly evidence: readonly EvidenceLines[];
  /** The answers about the build to which the evidence belongs. */
  readonly analyses: readonly Analysis[];
  /** The address of the log's page at the CI system. Undefined if none is known. */
  readonly page: string | undefined;
}

/** A build whose texts are missing, with the reason if it is known. */
export interface NoLog {
  readonly build: Build;
  readonly sources: readonly ArchivedSource[];
  /** The day when retention deleted them. */
  readonly deletedAt: string | null;
  readonly wanted: string | null;
}

/**
 * Finds a text of a build that the user may see: the one named `file`, or the largest log. Throws `not-found`
 * if there is no such build.
 */
export async function findLog(
  { archive, stores }: LogDeps,
  id: string,
  wanted: { readonly file?: string | undefined; readonly analysis?: string | undefined },
): Promise<LogFacts | NoLog> {
  const build = await findBuild(stores.builds, id, {});
  const sources = await archive.list(build.id);
  const source =
    wanted.file === undefined ? chooseLargest(sources) : sources.find(({ name }) => name === wanted.file);
  if (source === undefined) {
    return {
      build,
      sources,
      deletedAt: await stores.builds.logsForgottenAt(build.id),
      wanted: wanted.file ?? null,
    };
  }
  const analyses = await listAnalyses(stores, build, wanted.analysis);
  const page = (await stores.ciLinks.logPages(build.id)).get(source.name);
  return { build, sources, source, analyses, page, evidence: listEvidence(analyses, source.name) };
}

/** Finds a log like `findLog`, but throws `not-found` if there is none. */
export async function requireLog(deps: LogDeps, id: string, file: string | undefined): Promise<LogFacts> {
  const facts = await findLog(deps, id, { file });
  if ('source' in facts) return facts;
  throw new TriageError('not-found', sayNoLog(facts));
}

/** Explains in one sentence why there is nothing to show. */
export function sayNoLog({ build, sources, deletedAt, wanted }: NoLog): string {
  if (deletedAt !== null) return `Retention deleted the log on ${deletedAt.slice(0, 10)}.`;
  if (sources.length > 0) return `Build ${build.number} has no log named ${wanted ?? ''}.`;
  return (
    'The build has no log. Its runner may have been lost before the first line, or the log has not ' +
    'been fetched yet.'
  );
}

function chooseLargest(sources: readonly ArchivedSource[]): ArchivedSource | undefined {
  const bySize = sources.toSorted((left, right) => right.bytes - left.bytes);
  return bySize.find(({ kind }) => kind === 'log') ?? bySize[0];
}

async function listAnalyses(
  stores: LogDeps['stores'],
  { id }: Build,
  wanted: string | undefined,
): Promise<readonly Analysis[]> {
  if (wanted === undefined) return await stores.analyses.listByBuild(id);
  const analysis = await stores.analyses.find(wanted);
  return analysis?.buildId === id ? [analysis] : [];
}

/**
 * Lists the evidence on the lines of a log. If several answers cite the same log, the number of the answer
 * distinguishes their evidence.
 */
function listEvidence(analyses: readonly Analysis[], name: string): EvidenceLines[] {
  return analyses.flatMap((analysis, at) =>
    listEvidenceLines(analysis, name).map((item) => ({
      ...item,
      ...(analyses.length > 1 && {
        id: `${at + 1}·${item.id}`,
        title: `${analysis.answer.title}: ${item.title}`,
      }),
      anchor: false,
      href: `${formatAnalysisAddress(analysis.id)}#${item.id}`,
    })),
  );
}

const range = z
  .string()
  .max(40)
  .transform((text) => readRange(text))
  .catch(null)
  .default(null);
const line = z.coerce.number().int().min(1).max(999_999_999).catch(0).default(0);
const onOff = z.enum(['0', '1']).optional().catch(undefined);

/** The query fields of the viewer. Invalid values are ignored. */
export const LogQuery = z.object({
  /** The name of the text. If absent, the build's largest log is shown. */
  file: z.string().max(2_000).optional().catch(undefined),
  L: range,
  from: line,
  to: line,
  view: z.literal('full').optional().catch(undefined),
  /** Words to search for, in one line. */
  q: z.string().max(500).catch('').default(''),
  case: z.literal('1').optional().catch(undefined),
  /** The number of the first hit to show. */
  hit: z.coerce.number().int().min(1).max(999_999_999).catch(1).default(1),
  ts: onOff,
  wrap: onOff,
  /** The analysis whose evidence is shown. If absent, the evidence of all analyses is shown. */
  analysis: z.string().max(300).optional().catch(undefined),
  /** The review item from which the log was opened, with its place in the queue. */
  back: z
    .string()
    .max(600)
    .regex(/^\/review\/[\w-]+(?:\?[\w=&%.+*-]*)?$/)
    .optional()
    .catch(undefined),
  /** The gap whose rows are requested. Then only its rows are returned. */
  part: range,
});
export type LogQuery = z.infer<typeof LogQuery>;

/** A place in one log of the viewer. */
export interface Place {
  readonly marked?: Range;
  readonly window?: Range;
  readonly view?: 'full';
  readonly hit?: number;
}

/** The query fields that links within a log keep. */
type Kept = Pick<LogQuery, 'ts' | 'wrap' | 'analysis' | 'back' | 'q' | 'case'>;

/** Returns the address of a place in a log, with the kept query fields. */
export function placeAddress(
  buildId: string,
  file: string,
  kept: Partial<Kept>,
  { marked, window, view, hit }: Place = {},
): string {
  const settings = {
    view,
    from: window?.from,
    to: window?.to,
    hit,
    L: marked === undefined ? undefined : writeRange(marked),
  };
  const asked = Object.entries({ ...kept, q: kept.q || undefined, ...settings }).filter(
    ([, value]) => value !== undefined,
  );
  const query = asked
    .map(([name, value]) => `&${name}=${encodeURIComponent(String(value).toWellFormed())}`)
    .join('');
  const first = marked?.from ?? window?.from;
  return `${formatLogAddress(buildId, file)}${query}${first === undefined ? '' : `#L${first}`}`;
}

/** The lines of a log that a page shows, and the options for rendering its rows. */
export type LogView = NonNullable<Awaited<ReturnType<typeof readView>>>;

/** Reads the lines for the address. Returns null if the text has been deleted since. */
export async function readView(deps: LogDeps, facts: LogFacts, query: LogQuery, stamps: boolean) {
  const { build, source } = facts;
  const of = { buildId: build.id, name: source.name };
  const stretches = await readStretches(deps.archive, of, await chooseStretches(deps, facts, query));
  if (stretches === null) return null;
  const opening = !isFolded(query) && query.part === null;
  const titleWords = facts.analyses.flatMap(({ answer }) => listContentWords(answer.title));
  const rows = {
    ...createRowOptions(facts, query, stamps),
    opening,
    notes: listNotes(facts, stretches),
    titleWords,
  };
  return { stretches, rows };
}

/** Returns the claims that the lines prove, by line number, for all answers. */
function listNotes({ analyses, source }: LogFacts, read: readonly ReadStretch[]) {
  const all = new Map<number, readonly Html[]>();
  for (const analysis of analyses) {
    const evidence = listEvidenceLines(analysis, source.name);
    const { claims } = writeTexts(analysis);
    const noted = { name: source.name, evidence, claims, hasIds: false };
    for (const [line, notes] of placeNotes(analysis, noted, read).notes)
      all.set(line, [...(all.get(line) ?? []), ...notes]);
  }
  return all;
}

/** Returns the options for rendering the rows of a view. */
export function createRowOptions(
  { build, source, evidence }: LogFacts,
  query: LogQuery,
  stamps: boolean,
): RowsOptions {
  const kept = pickKept(query);
  const here = placeAddress(build.id, source.name, kept);
  return {
    lineAddress: (line) => `${here}&L=${line}#L${line}`,
    windowAddress: (window) => placeAddress(build.id, source.name, kept, { window }),
    evidence,
    marked: query.L,
    found: query.q === '' ? null : { text: query.q, matchCase: query.case === '1' },
    stamps,
    ...(!isFolded(query) && { step: WINDOW }),
  };
}

/** Returns the query fields that links within a log keep. */
export function pickKept({ ts, wrap, analysis, back, q, case: matchCase }: LogQuery): Kept {
  return { ts, wrap, analysis, back, q, case: matchCase };
}

function isFolded({ L, from, view, part }: LogQuery): boolean {
  return L === null && view === undefined && (from === 0 || part !== null);
}

async function chooseStretches(
  deps: LogDeps,
  facts: LogFacts,
  { L, from, to, view, part }: LogQuery,
): Promise<Stretch[]> {
  const { lines } = facts.source;
  const window: Range = { from, to: to === 0 ? from + WINDOW - 1 : to };
  if (part !== null) return openGap({ from: part.from, to: Math.min(part.to, lines) }, window);
  if (from > 0) return createWindowView(lines, window);
  if (L !== null) return createAroundView(lines, L);
  if (view === 'full') return createWindowView(lines, { from: 1, to: WINDOW });
  return await foldStretches(deps, facts);
}

async function foldStretches(
  { archive }: LogDeps,
  { build, source, evidence }: LogFacts,
): Promise<Stretch[]> {
  const proof = evidence.flatMap(getProofRanges);
  if (source.lines <= WINDOW) return foldLog({ lineCount: source.lines, evidence: proof });
  const last = findMax(
    evidence.map(({ to }) => to),
    0,
  );
  const end = await findFailingEnd(
    archive,
    { buildId: build.id, name: source.name },
    last === 0 ? source.lines : Math.min(last, source.lines),
  );
  return foldLog({ lineCount: source.lines, evidence: proof, ...(end !== null && { failedAt: end }) });
}

/**
 * The number of lines searched in each direction. A step ends soon after its error, and this many lines are
 * read in a few milliseconds.
 */
const LOOKED_AT = 1_000;

let matcher: Matcher | undefined;

/**
 * Returns the last line of the failed step, according to the marks of the CI system near `line`. Returns null
 * if there are none.
 */
export async function findFailingEnd(
  archive: Pick<BuildArchive, 'lines'>,
  of: { readonly buildId: string; readonly name: string },
  line: number,
): Promise<number | null> {
  const from = Math.max(1, line - LOOKED_AT + 1);
  const window = await archive.lines(of.buildId, of.name, from, line + LOOKED_AT);
  if (window === null || window.lines.length === 0) return null;
  matcher ??= buildMatcher([STRUCTURE_LITERALS]);
  const bytes = toLogBytes(window.lines.join('\n'));
  const scan = scanLog(bytes, matcher);
  const { failedSections } = readStructure(openLog(of.name, bytes, scan.index, []), scan.hits[0] ?? []);
  const ends = failedSections
    .filter(({ consequence }) => consequence !== true)
    .map(({ lineEnd }) => from + lineEnd - 1);
  return ends.find((end) => end >= line) ?? ends.at(-1) ?? null;
}
