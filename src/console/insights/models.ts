import {
  type ChangedCase,
  type Comparison,
  type CostDifference,
  type Difference,
  type DifferenceVerdict,
  formatCostText,
  formatInterval,
  toSignedPoints,
} from '../../domain/comparison.ts';
import { TriageError } from '../../domain/errors.ts';
import { formatCount } from '../../lib/text.ts';
import { formatDuration } from '../../notifications/answer-view.ts';
import type { ComparedRuns, KeptRun } from '../../ports/kept-runs.ts';
import { buildAddress } from '../addresses.ts';
import { formatPercent } from '../charts/chart.ts';
import { caseByAddress, changedCases, comparisonFigures, comparisonNotes } from '../comparison.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { renderOptions, renderTime } from '../controls.ts';
import { createNumberColumns, dataTable, type Html, html, linkTarget, type Shown } from '../html.ts';
import type { InsightsQuery, InsightsView } from './insights-frame.ts';

const QUESTION = 'Is the new model better?';
/** The maximum number of cases that link to their builds. Other cases show their ids. */
const MAX_LINKED = 200;

/** Renders `/insights/models`: a comparison of two replays of the same failures, with the verdict first. */
export async function renderModelsView(query: InsightsQuery, deps: ConsoleDeps): Promise<InsightsView> {
  const runs = await deps.keptRuns.list();
  const page = (content: Html) => ({
    title: 'Models',
    main: html`<h1 tabindex="-1">${QUESTION}</h1>${content}`,
    tables: {},
  });
  if (runs === null)
    return page(
      html`<p role="note">Runs mix failures of all repositories, and your account may see only some of them.
        Ask somebody who may see all.</p>`,
    );
  const [candidate, baseline] = chooseRuns(runs, query);
  if (candidate === undefined || baseline === undefined)
    return page(html`<p role="note">${runs.length === 0 ? 'No run has' : 'Only one run has'}
      been kept so far. Two are needed to compare.</p>
      ${runInstructions(deps, true)}${runs.length > 0 && runsTable(runs)}`);
  const compared = await deps.keptRuns.compare(baseline.name, candidate.name).catch((error: unknown) => {
    if (error instanceof TriageError) return error;
    throw error;
  });
  const found =
    compared instanceof TriageError
      ? html`<p role="alert">These two runs cannot be compared. ${compared.message}</p>`
      : await comparedPart(compared, { baseline, candidate }, deps);
  return page(html`<form class="filters" aria-label="Runs">${choice(
    'baseline',
    'Baseline',
    runs,
    baseline,
  )}${choice('candidate', 'Candidate', runs, candidate)}<button>Compare</button></form>
    ${found}${runsTable(runs)}${runInstructions(deps, false)}`);
}

/**
 * Chooses the two requested runs. By default, they are the newest run and the newest other run of the same
 * cases.
 */
function chooseRuns(
  runs: readonly KeptRun[],
  { baseline, candidate }: InsightsQuery,
): [candidate: KeptRun | undefined, baseline: KeptRun | undefined] {
  const second = runs.find(({ name }) => name === candidate) ?? runs.find(({ name }) => name !== baseline);
  const others = runs.filter((run) => run !== second);
  const first =
    runs.find(({ name }) => name === baseline) ??
    others.find((other) => serializeSources(other) === serializeSources(second)) ??
    others[0];
  return [second, first];
}

function serializeSources(run: KeptRun | undefined): string {
  return JSON.stringify(run?.sources);
}

function choice(field: string, label: string, runs: readonly KeptRun[], picked: KeptRun): Html {
  const names = runs.map(({ name }) => name);
  return html`<label>${label} <select name="${field}">${renderOptions(names, picked.name)}</select></label>`;
}

interface Chosen {
  readonly baseline: KeptRun;
  readonly candidate: KeptRun;
}

async function comparedPart(
  { comparison, changes }: ComparedRuns,
  runs: Chosen,
  deps: ConsoleDeps,
): Promise<Html> {
  const named = changes.filter((change) => !change.startsWith('settings of the triage'));
  const cell = await createCaseCell(comparison, deps);
  const { won, lost, changed: otherwise } = comparison;
  const [before, now] = [getAnswerer(runs.baseline), getAnswerer(runs.candidate)];
  const what = named.length > 0 ? named.join('; ') : 'settings of the triage';
  const changed = `${changes.length > 0 ? `What was changed: ${what}.` : 'Both runs had the same settings.'}${before === now ? ` Both were answered by ${now}.` : ''}`;
  return html`<section class="panel pad" id="verdict"
    aria-label="Verdict">${verdict(comparison, runs, changed)}</section>
    ${keyFigures(comparison)}
    <h2 id="changed">Cases that changed</h2>${
      won.length + lost.length + otherwise.length === 0
        ? html`<p>None: both runs gave the same answer in every case.</p>`
        : changedCases(comparison, 'changed', { sides: ['Baseline', 'Candidate'], shown: cell })
    }
    <details><summary>All figures</summary><p>A is the baseline ${runs.baseline.name}, B is the candidate
    ${runs.candidate.name}.</p>${comparisonFigures(comparison, 'all')}${comparisonNotes(comparison)}</details>`;
}

/** The word and the CSS class for each verdict on a figure. */
const WORDS = {
  'b-better': ['better', 'is-green'],
  'a-better': ['worse', 'is-red'],
  higher: ['higher', ''],
  lower: ['lower', ''],
  'within-noise': ['not clearly different', 'quiet'],
  same: ['the same', 'quiet'],
} as const satisfies Record<DifferenceVerdict, readonly [word: string, tone: string]>;

/**
 * Renders the verdict. It is "better" if some figure is clearly better and none is clearly worse. The figure
 * that decides which cases are won comes first, then the others.
 */
function verdict({ differences, wonBy }: Comparison, { baseline, candidate }: Chosen, changed: string): Html {
  const main = differences.find(({ name }) => name === wonBy) ?? differences[0];
  if (main === undefined)
    return html`<h2>No verdict</h2>
      <p>The right answer of these cases is not known, so only the cost can be compared. ${changed}</p>`;
  const better = differences.filter((difference) => difference.verdict === 'b-better');
  const worse = differences.filter((difference) => difference.verdict === 'a-better');
  const isMixed = better.length > 0 && worse.length > 0;
  const list = (lead: string, all: readonly Difference[]) => {
    const found = all.filter((difference) => isMixed || difference !== main);
    return (
      found.length > 0 &&
      html`<p>${lead}: ${found.map(({ name, difference: by }) => `${name} ${toSignedPoints(by)}`).join('; ')}.</p>`
    );
  };
  return html`<h2>${renderOutcome(better.length, worse.length)}: ${candidate.name} compared with
    ${baseline.name}</h2><p>${changed}</p>
    <p>${describeDifference(main)}${describePublishing(differences)}</p>${list('Clearly better in', better)}${list('Clearly worse in', worse)}`;
}

function renderOutcome(better: number, worse: number): Shown {
  if (better > 0 && worse > 0) return 'Mixed';
  if (better > 0) return html`<span class="is-green">Better</span>`;
  return worse > 0 ? html`<span class="is-red">Worse</span>` : 'No clear difference';
}

function describePublishing(differences: readonly Difference[]): string {
  const [right, wrong] = ['published and right', 'published and wrong'].map((name) =>
    differences.find((difference) => difference.name === name),
  );
  if (right === undefined || wrong === undefined) return '';
  const [more, mistakes] = [Math.round(right.difference * right.cases), Math.round(wrong.b * wrong.cases)];
  const change = more === 0 ? 'As many' : `${Math.abs(more)} ${more > 0 ? 'more' : 'fewer'}`;
  return ` ${change} published and right, ${mistakes === 0 ? 'none' : mistakes} published wrong.`;
}

function useMinusSigns(range: string): string {
  return range.replaceAll('-', '−');
}

function describeDifference({
  name,
  cases,
  a,
  b,
  difference,
  interval,
  won,
  lost,
  verdict,
}: Difference): string {
  const label = LABELS.get(name);
  const what = label?.toLowerCase() ?? name;
  if (verdict === 'same')
    return `${label ?? name} in ${formatPercent(a)} of ${formatCount(cases, 'case')}, with both runs.`;
  const range = interval === null ? '' : `, 95 % interval ${useMinusSigns(formatInterval(interval))}`;
  const chance = verdict === 'within-noise' ? ' This may be chance; more cases would tell.' : '';
  return (
    `Over ${formatCount(cases, 'case')}, ${what} in ${formatPercent(b)} instead ` +
    `of ${formatPercent(a)}: ${toSignedPoints(difference)}${range}. ${won} won, ${lost} lost.${chance}`
  );
}

/** The figures on which people base their decision, with their names for people. */
const LABELS: ReadonlyMap<string, string> = new Map([
  ['category accuracy', 'Right category'],
  ['published and right', 'Published and right'],
  ['published and wrong', 'Published and wrong'],
  ['confident errors', 'Confident mistakes'],
]);
const COSTS: ReadonlyMap<string, string> = new Map([
  ['dollars a case', 'Cost per case'],
  ['milliseconds a case', 'Time per case'],
]);

function keyFigures({ differences, costs }: Comparison): Html {
  const rows = [...LABELS].flatMap(([name, label]) =>
    differences
      .filter((difference) => difference.name === name)
      .map((difference) => figureRow(label, difference)),
  );
  const paid = [...COSTS].map(([name, label]) =>
    costRow(
      label,
      costs.find((cost) => cost.name === name),
    ),
  );
  const head = [
    'Figure',
    'Candidate is',
    ...createNumberColumns('Baseline', 'Candidate', 'Difference (95 % interval)'),
  ];
  return dataTable('Both runs, side by side', head, [...rows, ...paid]);
}

function figureRow(label: string, { a, b, difference, interval, verdict }: Difference): Html {
  const range =
    interval !== null && html` <span class="quiet">(${useMinusSigns(formatInterval(interval))})</span>`;
  const [word, tone] = WORDS[verdict];
  return html`<tr><th scope="row">${label}</th><td><span class="${tone}">${word}</span></td>
    <td class="number">${formatPercent(a)}</td><td class="number">${formatPercent(b)}</td>
    <td class="number">${toSignedPoints(difference)}${range}</td></tr>`;
}

/**
 * Renders the medians, and the median of the differences per case. A missing cost means that neither side
 * cost anything.
 */
function costRow(label: string, cost: CostDifference | undefined): Html {
  if (cost === undefined)
    return html`<tr><th scope="row">${label}</th><td class="quiet">the same</td><td class="number">$0</td>
      <td class="number">$0</td><td></td></tr>`;
  const { a, b, difference, interval, unit } = cost;
  const say = (value: number) =>
    unit === 'milliseconds' ? formatDuration(value) : formatCostText(value, unit);
  const by = (value: number) => `${value < 0 ? '−' : '+'}${say(Math.abs(value))}`;
  const clear = interval !== null && (interval[0] > 0 || interval[1] < 0);
  const range = interval !== null && html` (${by(interval[0])} to ${by(interval[1])})`;
  const word = unit === 'milliseconds' ? ['faster', 'slower'] : ['cheaper', 'more expensive'];
  return html`<tr><th scope="row">${label}</th>
    <td${!clear && html` class="quiet"`}>${
      clear ? word[Number(difference > 0)] : 'not clearly different'
    }</td><td class="number">${say(a)}</td><td class="number">${say(b)}</td>
    <td class="number">${by(difference)} <span class="quiet">median per case${range}</span></td></tr>`;
}

/**
 * Creates the function that renders a case: stored failures link to their builds, others to the source that
 * their row contains.
 */
async function createCaseCell(
  { won, lost, changed }: Comparison,
  { stores }: ConsoleDeps,
): Promise<(changedCase: ChangedCase) => Html> {
  const ids = [...won, ...lost, ...changed].slice(0, MAX_LINKED).map(({ id }) => id);
  const builds = await Promise.all(ids.map(async (id) => await stores.builds.find(id)));
  const known = new Map(builds.flatMap((build) => (build === null ? [] : [[build.id, build] as const])));
  return (changedCase) => {
    const build = known.get(changedCase.id);
    if (build === undefined) return caseByAddress({ ...changedCase, url: linkTarget(changedCase.url) });
    return html`<a href="${buildAddress(build.id)}">${build.repository} · ${build.pipeline}
      #${build.number}</a>`;
  };
}

function runsTable(runs: readonly KeptRun[]): Html {
  const rows = runs.map(({ name, startedAt, version, sources, settings }) => {
    const cases = sources.map(
      (source) =>
        html`${source.name}${
          source.cases !== null && html` <span class="quiet">${formatCount(source.cases, 'case')}</span>`
        }`,
    );
    return html`<tr><th scope="row">${name}</th><td>${renderTime(startedAt)}</td>
      <td>${getAnswerer({ settings })}</td><td>${cases}</td><td>${version}</td></tr>`;
  });
  return html`<h2>Kept runs</h2>${dataTable(
    'Kept runs, newest first',
    ['Run', 'Made', 'Answered by', 'Cases', 'Release'],
    rows,
  )}`;
}

function getAnswerer({ settings }: Pick<KeptRun, 'settings'>): string {
  return String(settings.model ?? settings.analyst ?? 'nobody');
}

function runInstructions({ database }: ConsoleDeps, open: boolean): Html {
  return html`<details${open && html` open`}><summary>How to keep a run</summary>
    <p>A run answers failures again whose right answer is known, and changes nothing else. Keep one as things
    are, and one with the new model:</p>
    <pre tabindex="0" role="region" aria-label="Commands">faultline replay --reviewed --keep now
faultline replay --reviewed --keep new --analyst llm --model NAME</pre>
    <p>${
      database.exclusive && 'Stop the service first: an embedded database can be opened by one process only. '
    }Use <code>--dataset FILE</code> instead of <code>--reviewed</code>
    for failures of your own choice. Then choose both runs here.</p></details>`;
}
