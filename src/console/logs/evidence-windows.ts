import type { Analysis } from '../../domain/analysis.ts';
import type { Evidence } from '../../domain/evidence.ts';
import type { ArchivedSource, BuildArchive } from '../../ports/build-archive.ts';
import type { ShownStores } from '../../ports/stores.ts';
import { logAddress } from '../addresses.ts';
import { type Html, html, joined, NOTHING } from '../html.ts';
import { showLines } from './render-line.ts';
import {
  type EvidenceLines,
  evidenceLines,
  linesOf,
  logList,
  READER,
  type ReadStretch,
  type RowsOptions,
  readStretches,
  rowsOf,
} from './rows.ts';
import { evidenceView, type Range } from './window.ts';

export interface EvidenceWindows {
  /** One list of lines for each log, with gaps between; nothing where no evidence stands on lines of a log. */
  readonly html: Html;
  /** Evidence of the reader that is in it: `#E3` leads to its first line. All other evidence is for the page to show. */
  readonly shown: ReadonlySet<string>;
}

export interface EvidenceWindowsDeps {
  readonly archive: Pick<BuildArchive, 'list' | 'lines'>;
  readonly stores: { readonly builds: Pick<ShownStores['builds'], 'logsForgottenAt'> };
}

export interface EvidenceWindowsOptions {
  /** Where on the page the claims are that rest on a piece of evidence, as "#claim-2"; null: it leads nowhere. Absent: `#claim-<n>`, from 1, of the first that cites it. */
  readonly claimAddress?: (evidenceId: string) => string | null;
  /** Absent: as the reader of the page likes it. */
  readonly wrap?: boolean;
  readonly stamps?: boolean;
}

/**
 * The exact lines on which the evidence stands that the reader of the logs chose, and marks of what else was found there. Where a text is gone,
 * the lines that were kept with the analysis.
 */
export async function evidenceWindows(
  { archive, stores }: EvidenceWindowsDeps,
  analysis: Pick<Analysis, 'buildId' | 'evidence' | 'answer'>,
  options: EvidenceWindowsOptions = {},
): Promise<EvidenceWindows> {
  const { buildId } = analysis;
  const sources = await archive.list(buildId);
  const chosen = analysis.evidence.filter((one) => one.tool === READER && linesOf(one) !== null);
  const parts: Html[] = [];
  const shown = new Set<string>();
  for (const [at, name] of [...new Set(chosen.map(({ source }) => source))].entries()) {
    const evidence = marksOf(analysis, name, options);
    const own = evidence.filter(({ anchor }) => anchor);
    const rows: RowsOptions = { ...rowOptions(buildId, name, at, evidence), stamps: options.stamps === true };
    const source = sources.find((one) => one.name === name);
    const read = source === undefined ? null : await readStretches(archive, { buildId, name }, evidenceView(source.lines, own));
    for (const { id, from } of own) if (read === null || holds(read, from)) shown.add(id);
    const list = (lines: Html) => logList(lines, { label: `Evidence in ${name}`, wrap: options.wrap });
    if (read !== null && source !== undefined) parts.push(section(buildId, source, list(rowsOf(read, source.lines, rows))));
    else parts.push(keptSection(name, await stores.builds.logsForgottenAt(buildId), list(keptRows(chosen, name, rows))));
  }
  return { html: parts.length === 0 ? NOTHING : joined(parts, '\n'), shown };
}

function holds(read: readonly ReadStretch[], line: number): boolean {
  return read.some(({ kind, from, to }) => kind === 'lines' && from <= line && line <= to);
}

/** What tools found on lines of a log leads to where the page shows it by its number. */
function marksOf(analysis: Pick<Analysis, 'evidence' | 'answer'>, name: string, options: EvidenceWindowsOptions): EvidenceLines[] {
  const claimOf = options.claimAddress ?? ((id: string) => claimCiting(analysis, id));
  return evidenceLines(analysis, new Set([name])).map(({ id, title, source, tool, from, to }) => {
    const anchor = tool === READER;
    return { id, title, source, from, to, anchor, href: anchor ? claimOf(id) : `#${id}` };
  });
}

function claimCiting({ answer }: Pick<Analysis, 'answer'>, id: string): string | null {
  const at = answer.claims.findIndex(({ evidence }) => evidence.includes(id));
  return at === -1 ? null : `#claim-${at + 1}`;
}

function rowOptions(buildId: string, name: string, at: number, evidence: readonly EvidenceLines[]): RowsOptions {
  return {
    prefix: at === 0 ? '' : `log${at + 1}-`,
    lineAddress: (line) => logAddress(buildId, name, { lineStart: line, lineEnd: line }),
    windowAddress: ({ from, to }) => `${logAddress(buildId, name)}&from=${from}&to=${to}#L${from}`,
    evidence,
  };
}

function section(buildId: string, { name, lines, notes }: ArchivedSource, list: Html): Html {
  return html`<section class="evidence"><h3>${name}</h3>
${list}
<p><a data-action="full-log" href="${logAddress(buildId, name)}">Open the full log (${lines.toLocaleString('en-US')} lines)</a> · <a href="/logs/${encodeURIComponent(buildId)}/raw?file=${encodeURIComponent(name)}">Raw</a>${notes.map((note) => html` · ${note}`)}</p></section>`;
}

function keptSection(name: string, deletedAt: string | null, list: Html): Html {
  const why = deletedAt === null ? 'This log is not in the archive' : `Retention deleted this log on ${deletedAt.slice(0, 10)}`;
  return html`<section class="evidence"><h3>${name}</h3>
${list}
<p class="quiet">${why}; these lines were kept with the analysis.</p></section>`;
}

function keptRows(evidence: readonly Evidence[], name: string, options: RowsOptions): Html {
  const kept: ReadStretch[] = evidence.flatMap((one) => {
    const range: Range | null = one.source === name ? linesOf(one) : null;
    if (range === null) return [];
    const lines = one.text.split('\n').slice(0, range.to - range.from + 1);
    return [{ kind: 'lines' as const, from: range.from, to: range.from + lines.length - 1, lines: showLines(lines, range.from) }];
  });
  return rowsOf(withoutDoubles(kept), 0, { ...options, lineAddress: null });
}

/** Pieces of evidence may share lines; each is shown once. */
function withoutDoubles(stretches: readonly ReadStretch[]): ReadStretch[] {
  const seen = new Set<number>();
  return stretches
    .toSorted((left, right) => left.from - right.from)
    .flatMap((stretch) => {
      const lines = stretch.lines.filter(({ number }) => !seen.has(number));
      for (const { number } of lines) seen.add(number);
      return lines.length === 0 ? [] : [{ ...stretch, lines, from: lines[0]?.number ?? stretch.from }];
    });
}
