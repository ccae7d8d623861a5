import { basename, resolve } from 'node:path';
import { formatJson, print, writeOutput } from '../../cli/terminal.ts';
import { comparisonPart, formatHeading } from '../../console/comparison.ts';
import { html } from '../../console/html.ts';
import { standAlonePage } from '../../console/stand-alone-page.ts';
import type { Comparison } from '../../domain/comparison.ts';
import { TriageError } from '../../domain/errors.ts';
import { RELEASE } from '../../domain/trust.ts';
import { toVisibleLines } from '../../notifications/visible-text.ts';
import { openCases } from '../cases/folder.ts';
import { compareRuns } from '../compare/compare-runs.ts';
import { renderComparison } from '../compare/text.ts';
import { type RunResults, readResults } from '../run/results-file.ts';

export interface CompareCommandOptions {
  readonly dataset: readonly string[];
  readonly a: readonly string[];
  readonly b: readonly string[];
  readonly html?: string;
  readonly json?: boolean;
}

/** Runs `faultline compare`: prints a table or a line of JSON for each data set. */
export async function runCompare(options: CompareCommandOptions): Promise<void> {
  refuseInputs(options);
  const files = { a: await readAll(options.a), b: await readAll(options.b) };
  const comparisons: Comparison[] = [];
  for (const [index, path] of options.dataset.entries()) {
    const comparison = await compareRuns({ dataset: basename(path), cases: await openCases(path), files });
    comparisons.push(comparison);
    if (options.json) await print(formatJson({ ok: true, ...comparison }));
    // Ids and suspects are untrusted text, so terminal control characters are removed.
    else await print(`${index === 0 ? '' : '\n'}${toVisibleLines(renderComparison(comparison)).join('\n')}`);
  }
  if (options.html === undefined) return;
  await writeOutput(options.html, renderComparisonPage(comparisons), '--html');
}

async function readAll(paths: readonly string[]): Promise<RunResults[]> {
  const files: RunResults[] = [];
  for (const path of paths) files.push(await readResults(path));
  return files;
}

/** Rejects a report path that would overwrite an input. */
function refuseInputs({ html, dataset, a, b }: CompareCommandOptions): void {
  if (html !== undefined && [...dataset, ...a, ...b].some((path) => resolve(path) === resolve(html)))
    throw new TriageError('invalid-config', `--html would overwrite the input ${html}.`);
}

/** Renders comparisons as one HTML page that needs no other file, runs no script, and makes no request. */
export function renderComparisonPage(comparisons: readonly Comparison[]): string {
  const madeAt = new Date().toISOString();
  const contents = html`<nav aria-label="Data sets">
    <ul>${comparisons.map(
      (comparison, index) => html`<li><a href="#k${index + 1}">${formatHeading(comparison)}</a></li>`,
    )}</ul></nav>`;
  const main = html`<main><h1>Comparison</h1>
    <dl class="kv heading"><dt>Made</dt>
    <dd><time datetime="${madeAt}">${madeAt.slice(0, 16).replace('T', ' ')} UTC</time>
    by Faultline ${RELEASE}</dd></dl>
    ${comparisons.length > 1 && contents}${comparisons.map(comparisonPart)}</main>`;
  return standAlonePage(`Comparison: ${comparisons.map(formatHeading).join(', ')}`, main);
}
