import { basename } from 'node:path';
import { visibleLines } from '../../publish/visible-text.ts';
import { casesAt } from '../../replay/cases/cases-at.ts';
import { compareRuns } from '../../replay/compare/compare-runs.ts';
import { type RunResults, readResults } from '../../replay/compare/read-results.ts';
import { renderComparison } from '../../replay/compare/table.ts';
import { jsonText, print } from '../terminal.ts';

export interface CompareCommandOptions {
  readonly dataset: readonly string[];
  readonly a: readonly string[];
  readonly b: readonly string[];
  readonly json?: boolean;
}

/** `faultline compare`: a table a data set, or a JSON line a data set. */
export async function runCompare(options: CompareCommandOptions): Promise<void> {
  const files = { a: await readAll(options.a), b: await readAll(options.b) };
  for (const [index, path] of options.dataset.entries()) {
    const comparison = await compareRuns({ dataset: basename(path), cases: await casesAt(path), files });
    if (options.json) await print(jsonText({ ok: true, ...comparison }));
    // Ids and suspects are somebody else's text: a terminal must not obey them.
    else await print(`${index === 0 ? '' : '\n'}${visibleLines(renderComparison(comparison)).join('\n')}`);
  }
}

async function readAll(paths: readonly string[]): Promise<RunResults[]> {
  const files: RunResults[] = [];
  for (const path of paths) files.push(await readResults(path));
  return files;
}
