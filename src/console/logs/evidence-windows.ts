import type { Analysis } from '../../domain/analysis.ts';
import type { Build } from '../../domain/build.ts';
import type { Evidence } from '../../domain/evidence.ts';
import { findMax } from '../../lib/collections.ts';
import { formatCount } from '../../lib/text.ts';
import type { ArchivedSource, BuildArchive } from '../../ports/build-archive.ts';
import type { ShownStores } from '../../stores/stores.ts';
import { formatLogAddress } from '../addresses.ts';
import { logPageLink } from '../ci-links.ts';
import { badge } from '../controls.ts';
import { type Html, html, joinHtml, NOTHING } from '../html.ts';
import { listContentWords, placeNotes } from './notes.ts';
import { showLines } from './render-line.ts';
import {
  createEvidenceView,
  type EvidenceLines,
  getLineRange,
  getProofRanges,
  listEvidenceLines,
  logList,
  READER,
  type ReadStretch,
  type RowsOptions,
  readStretches,
  renderRows,
  type Stretch,
} from './rows.ts';

export interface EvidenceWindows {
  /** Lists of lines for each log, with gaps. Empty if no evidence refers to log lines. */
  readonly html: Html;
  /**
   * The ids of the evidence that the lists contain, so that `#E3` links to its first line. The page must show
   * all other evidence itself.
   */
  readonly shown: ReadonlySet<string>;
  /** The indexes of the claims that are shown below a line that proves them. */
  readonly noted: ReadonlySet<number>;
  /** The number of logs. */
  readonly count: number;
}

export interface EvidenceWindowsDeps {
  readonly archive: Pick<BuildArchive, 'list' | 'lines'>;
  readonly stores: {
    readonly builds: Pick<ShownStores['builds'], 'logsForgottenAt'>;
    readonly ciLinks: Pick<ShownStores['ciLinks'], 'logPages'>;
  };
}

/**
 * Renders the lines that prove the answer, each with a few lines around it. The other excerpts that the
 * reader of the logs chose follow, collapsed. Only lines that a claim cites are highlighted. If a text is
 * deleted, the lines that were stored with the analysis are shown. With `stamps`, lines have timestamps. Each
 * log links to its page at the build's CI system if that is known.
 */
export async function renderEvidenceWindows(
  deps: EvidenceWindowsDeps,
  analysis: Pick<Analysis, 'buildId' | 'evidence' | 'answer'>,
  {
    build,
    claims = [],
    stamps = false,
    back,
    about: given,
  }: {
    readonly build: Pick<Build, 'provider'>;
    /** The text of each claim, or an empty string if the page has already shown it. */
    readonly claims?: readonly string[];
    readonly stamps?: boolean;
    readonly back?: string | undefined;
    /** The message for a log that is not stored. If absent, the message says why it is not. */
    readonly about?: Html;
  },
): Promise<EvidenceWindows> {
  const [sources, pages] = await Promise.all([
    deps.archive.list(analysis.buildId),
    deps.stores.ciLinks.logPages(analysis.buildId),
  ]);
  const marks = listSources(analysis).map((name) => listMarks(analysis, name));
  // The log with the most proof comes first. Parts without proof are collapsed only if some part has proof.
  const proving = marks.filter((group) => group.some(isProof));
  const parts: Html[] = [];
  const [shown, noted] = [new Set<string>(), new Set<number>()];
  for (const [at, evidence] of [...proving, ...marks.filter((group) => !proving.includes(group))].entries()) {
    const name = evidence[0]?.source ?? '';
    const source = sources.find((other) => other.name === name);
    const lists = await renderLists(deps, analysis, {
      name,
      source,
      evidence,
      prefix: at === 0 ? '' : `log${at + 1}-`,
      stamps,
      claims,
    });
    for (const id of lists.shown) shown.add(id);
    for (const claim of lists.noted) noted.add(claim);
    const outside = logPageLink(build, pages.get(name), evidence.find(isProof)?.cited[0]);
    const heading = at === 0 ? html`<h2 id="evidence">Evidence</h2>` : html`<h3>Also</h3>`;
    const isStored = source !== undefined && !lists.kept;
    const about = isStored
      ? storedLogHeader(analysis.buildId, source, outside, back)
      : (given ?? keptLogHeader(name, await deps.stores.builds.logsForgottenAt(analysis.buildId), outside));
    parts.push(
      html`<figure class="log evidence"><figcaption>${heading}${about}</figcaption>${lists.html}</figure>`,
    );
  }
  return { html: parts.length === 0 ? NOTHING : joinHtml(parts, '\n'), shown, noted, count: parts.length };
}

/** Lists the logs from which the reader chose excerpts. The log that the first claim quotes comes first. */
function listSources({ evidence, answer }: Pick<Analysis, 'evidence' | 'answer'>): string[] {
  const chosen = evidence
    .filter((item) => item.tool === READER && getLineRange(item) !== null)
    .map(({ source }) => source);
  const [first] = answer.claims.flatMap(({ quotes }) => quotes);
  return [...new Set([...chosen.filter((source) => source === first?.source), ...chosen])];
}

function isProof({ anchor, cited }: EvidenceLines): boolean {
  return anchor && cited.length > 0;
}

interface OneLog {
  readonly name: string;
  readonly source: ArchivedSource | undefined;
  readonly evidence: readonly EvidenceLines[];
  readonly prefix: string;
  readonly stamps: boolean;
  readonly claims: readonly string[];
}

/**
 * Renders the lists of lines of one log. With `kept`, the lines are those that were stored with the analysis.
 */
async function renderLists(
  { archive }: EvidenceWindowsDeps,
  analysis: Pick<Analysis, 'buildId' | 'evidence' | 'answer'>,
  { name, source, evidence, prefix, stamps, claims }: OneLog,
) {
  const { buildId } = analysis;
  const anchored = evidence.filter(({ anchor }) => anchor);
  const [proof, rest] = [anchored.filter(isProof), anchored.filter((other) => !isProof(other))];
  const groups = [proof, rest].filter((group) => group.length > 0);
  const count = source?.lines ?? findMax(anchored.map(({ to }) => to));
  const views = groups.map((group) => createEvidenceView(count, group.flatMap(getProofRanges)));
  const read =
    source === undefined
      ? [null]
      : await Promise.all(views.map((view) => readStretches(archive, { buildId, name }, view)));
  const kept = read.includes(null);
  const texts = kept
    ? views.map((view) => listKeptStretches(analysis.evidence, name, view))
    : read.map((stretches) => stretches ?? []);
  const { notes, noted } = placeNotes(
    analysis,
    { name, evidence: anchored, claims, hasIds: true },
    texts[0] ?? [],
  );
  const titleWords = listContentWords(analysis.answer.title);
  const lists = groups.map((group, at) => {
    const plain = createRowOptions(buildId, name, evidence, `${prefix}${at === 0 ? '' : 'rest-'}`);
    const options = { ...plain, stamps, titleWords, wordsOnly: true, notes: at === 0 ? notes : new Map() };
    const rows = renderRows(texts[at] ?? [], count, kept ? { ...options, lineAddress: null } : options);
    const list = logList(rows, { label: `${group === proof ? 'Evidence' : 'Other excerpts'} in ${name}` });
    if (group === proof || proof.length === 0) return list;
    return html`<details class="aside">
      <summary class="pad">${group.length} more ${group.length === 1 ? 'excerpt' : 'excerpts'}
      of this log, not cited</summary>${list}</details>`;
  });
  const visibleIds = groups.flatMap((group, at) =>
    group.filter((other) => holds(texts[at] ?? [], other.cited[0] ?? other.from)).map(({ id }) => id),
  );
  return { html: joinHtml(lists, '\n'), shown: visibleIds, noted, kept };
}

function holds(read: readonly ReadStretch[], line: number): boolean {
  return read.some(({ kind, from, to }) => kind === 'lines' && from <= line && line <= to);
}

/**
 * Returns the evidence that refers to lines of a log. Evidence that tools found links to its place on the
 * page.
 */
function listMarks(analysis: Pick<Analysis, 'evidence' | 'answer'>, name: string): EvidenceLines[] {
  return listEvidenceLines(analysis, name).map((item) => {
    const anchor = item.tool === READER;
    return { ...item, anchor, href: anchor ? claimCiting(analysis, item.id) : `#${item.id}` };
  });
}

function claimCiting({ answer }: Pick<Analysis, 'answer'>, id: string): string | null {
  const at = answer.claims.findIndex(({ evidence }) => evidence.includes(id));
  return at === -1 ? null : `#claim-${at + 1}`;
}

function createRowOptions(
  buildId: string,
  name: string,
  evidence: readonly EvidenceLines[],
  prefix: string,
): RowsOptions {
  return {
    prefix,
    lineAddress: (line) => formatLogAddress(buildId, name, { lineStart: line, lineEnd: line }),
    windowAddress: ({ from, to }) => `${formatLogAddress(buildId, name)}&from=${from}&to=${to}#L${from}`,
    evidence,
  };
}

/** Renders the name of a log, with links to the whole log. */
function storedLogHeader(
  buildId: string,
  { name, lines, notes }: ArchivedSource,
  outside: Html | null,
  back?: string,
): Html {
  const way = back === undefined ? '' : `&back=${encodeURIComponent(back)}`;
  const log = `${formatLogAddress(buildId, name)}${way}`;
  return html`<span class="meta">${name}, ${formatCount(lines, 'line')}${notes.map((note) => ` · ${note}`)}</span><span
    class="acts">${outside}<a href="/logs/${encodeURIComponent(buildId)}/raw?file=${encodeURIComponent(
      name,
    )}">Raw</a><a class="btn bare" data-action="full-log" href="${log}">Whole log${badge('full-log')}</a></span>`;
}

function keptLogHeader(name: string, deletedAt: string | null, outside: Html | null): Html {
  const why =
    deletedAt === null
      ? 'This log is not in the archive'
      : `Retention deleted this log on ${deletedAt.slice(0, 10)}`;
  return html`<span class="meta">${name}. ${why}; these lines were kept with the analysis.</span>${outside}`;
}

/** Returns the lines of a view that were stored with the evidence. Its gaps cannot be opened. */
function listKeptStretches(
  evidence: readonly Evidence[],
  name: string,
  view: readonly Stretch[],
): ReadStretch[] {
  const lines = evidence.flatMap((item) => {
    const range = item.source === name ? getLineRange(item) : null;
    if (range === null) return [];
    const texts = item.text.split('\n').slice(0, range.to - range.from + 1);
    return texts.map((text, at) => [range.from + at, text] as const);
  });
  const kept = new Map(lines);
  return view.flatMap(({ kind, from, to }) => {
    if (kind === 'gap') return [];
    const numbers = [...kept.keys()]
      .filter((line) => from <= line && line <= to)
      .toSorted((left, right) => left - right);
    const lines = numbers.flatMap((line) => showLines([kept.get(line) ?? ''], line));
    return lines.length === 0 ? [] : [{ kind, from: numbers[0] ?? from, to: numbers.at(-1) ?? to, lines }];
  });
}
