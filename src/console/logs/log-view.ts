import { failingEnd } from './failing-end.ts';
import type { LogDeps, LogFacts } from './log-facts.ts';
import { type Kept, type LogQuery, placeAddress } from './log-query.ts';
import { type ReadStretch, readStretches } from './read-stretches.ts';
import type { RowsOptions } from './rows.ts';
import { aroundView, foldedView, openedGap, type Range, type Stretch, WINDOW, windowView } from './window.ts';

/** Which lines of a log a page shows, and how its rows are drawn. */
export interface LogView {
  readonly stretches: readonly ReadStretch[];
  /** Folded: what matters, and gaps. Else one window of the whole. */
  readonly folded: boolean;
  readonly rows: RowsOptions;
}

/** Reads what the address asks for. Null where the text went away meanwhile. */
export async function readView(deps: LogDeps, facts: LogFacts, query: LogQuery, stamps: boolean): Promise<LogView | null> {
  const { build, source } = facts;
  const folded = isFolded(query);
  const of = { buildId: build.id, name: source.name };
  const stretches = await readStretches(deps.archive, of, await stretchesFor(deps, facts, query));
  return stretches && { stretches, folded, rows: { ...rowOptions(facts, query, stamps), opening: !folded && query.part === null } };
}

/** How the rows of any view of a log are drawn. */
export function rowOptions({ build, source, evidence }: LogFacts, query: LogQuery, stamps: boolean): RowsOptions {
  const kept = keptOf(query);
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

/** What links within a log take along. */
export function keptOf({ ts, wrap, analysis, q, case: matchCase }: LogQuery): Kept {
  return { ts, wrap, analysis, q, case: matchCase };
}

function isFolded({ L, from, view, part }: LogQuery): boolean {
  return L === null && view === undefined && (from === 0 || part !== null);
}

async function stretchesFor(deps: LogDeps, facts: LogFacts, { L, from, to, view, part }: LogQuery): Promise<Stretch[]> {
  const { lines } = facts.source;
  const window: Range = { from, to: to === 0 ? from + WINDOW - 1 : to };
  if (part !== null) return openedGap({ from: part.from, to: Math.min(part.to, lines) }, window);
  if (from > 0) return windowView(lines, window);
  if (L !== null) return aroundView(lines, L);
  if (view === 'full') return windowView(lines, { from: 1, to: WINDOW });
  return await foldedStretches(deps, facts);
}

async function foldedStretches({ archive }: LogDeps, { build, source, evidence }: LogFacts): Promise<Stretch[]> {
  if (source.lines <= WINDOW) return foldedView({ lineCount: source.lines, evidence });
  const last = evidence.reduce((line, { to }) => Math.max(line, to), 0);
  const end = await failingEnd(archive, { buildId: build.id, name: source.name }, last === 0 ? source.lines : Math.min(last, source.lines));
  return foldedView({ lineCount: source.lines, evidence, ...(end !== null && { failedAt: end }) });
}
