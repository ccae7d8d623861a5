import { access, constants, stat, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { budgetTokensOf } from '../../config/profiles.ts';
import type { Config } from '../../config/schema.ts';
import { messageOf, TriageError } from '../../domain/errors.ts';
import { visibleLines } from '../../notifications/visible-text.ts';
import { type Gate, type GateResult, junitOf, openGate, renderGate } from '../../replay/gate/gate.ts';
import { judgeGate } from '../../replay/gate/judge-gate.ts';
import { casesSuite, renderJunit } from '../../replay/report/junit.ts';
import { figuresJson, renderFigures, renderSpread, spreadOf, unsteadyCases } from '../../replay/report/table.ts';
import { EXIT, jsonText, print } from '../terminal.ts';
import type { ReplayCommandOptions } from './replay-options.ts';
import type { ReportedRun } from './replay-source.ts';
import { checkOutputs, type Places } from './run-files.ts';

/** A long replay must not end with a report that has no place, nor begin with one in the place of its cases. Throws where one does. */
export async function checkReportPaths(options: Places): Promise<void> {
  await checkOutputs(options);
  const { junit, html } = options;
  for (const [option, path] of Object.entries({ '--junit': junit, '--html': html })) {
    if (path === undefined) continue;
    const folder = dirname(path);
    const isFolder = (await stat(path).catch(() => null))?.isDirectory() === true;
    const refusal = await access(folder, constants.W_OK).catch((error: unknown) => messageOf(error));
    if (isFolder || refusal !== undefined)
      throw new TriageError('not-found', `${option}: ${path} cannot be written${isFolder ? ': it is a folder' : ''}.`);
  }
}

/** Prints the figures of one run of one source: a table, or a line of JSON. */
export async function tell(
  { heading, run, sections }: ReportedRun,
  isFirst: boolean,
  options: ReplayCommandOptions,
  config: Config,
): Promise<void> {
  if (!options.json) return print(`${isFirst ? '' : '\n'}${visibleLines(renderFigures(heading, sections)).join('\n')}`);
  const budgetTokens = budgetTokensOf(config);
  const stopped = run.stopped === null ? {} : { stopped: run.stopped };
  return print(jsonText({ ok: true, dataset: run.source.path, budgetTokens, ...stopped, figures: figuresJson(sections) }));
}

/** Prints how far repeats of the same cases are apart, where there are repeats. */
export async function tellSpread(reported: readonly ReportedRun[], options: ReplayCommandOptions): Promise<void> {
  if ((options.repeat ?? 1) === 1) return;
  const bySource = Map.groupBy(reported, ({ run }) => run.source);
  for (const [source, repeats] of bySource) {
    if (repeats.length < 2) continue;
    const spread = spreadOf(repeats.map(({ sections }) => sections));
    const unsteady = unsteadyCases(repeats.map(({ run }) => run.cases));
    if (options.json) await print(jsonText({ ok: true, dataset: source.path, repeats: repeats.length, spread, unsteady }));
    else await print(`\n${visibleLines(renderSpread(`${source.name}, ${repeats.length} repeats`, spread, unsteady)).join('\n')}`);
  }
}

/** Writes the reports that were requested, from all that was replayed. */
export async function writeReports(
  reported: readonly ReportedRun[],
  options: ReplayCommandOptions,
  config: Config,
  gate: GateResult | null,
): Promise<void> {
  const suites = reported.map(({ heading, run }) => casesSuite(heading, run.cases));
  if (options.junit !== undefined)
    await written('--junit', options.junit, renderJunit([...suites, ...(gate === null ? [] : junitOf(gate))]));
  if (options.html !== undefined) {
    const { reportPage } = await import('./report-page.ts');
    await written('--html', options.html, await reportPage(reported, options, config));
  }
}

async function written(option: string, path: string, text: string): Promise<void> {
  await writeFile(path, text).catch((cause: unknown) => {
    throw new TriageError('storage-failed', `${option}: ${path} cannot be written: ${messageOf(cause)}.`, { cause });
  });
}

/** The bars that were requested, read before anything is replayed; null where none were. */
export async function gateOf({ gate }: ReplayCommandOptions): Promise<Gate | null> {
  return gate === undefined ? null : openGate(gate);
}

/** Holds all that was replayed against the bars; every repeat must hold them. */
export async function judgeReported(gate: Gate | null, reported: readonly ReportedRun[]): Promise<GateResult | null> {
  if (gate === null) return null;
  const repeats = new Set(reported.map(({ repeat }) => repeat)).size;
  const runs = reported.map(({ run, sections, repeat }) => ({
    name: basename(run.source.path),
    label: repeats === 1 ? run.source.name : `${run.source.name}, repeat ${repeat} of ${repeats}`,
    sections,
    cases: run.cases,
    isAll: run.stopped === null,
  }));
  return judgeGate(gate, runs);
}

/** Prints how the gate went, lines for people or one line of JSON, and sets the exit code where it failed. */
export async function tellGate(result: GateResult | null, options: ReplayCommandOptions, signal: AbortSignal): Promise<void> {
  if (result === null) return;
  if (options.json) await print(jsonText({ ok: result.ok, schema: 1, gate: result }));
  else await print(`\n${visibleLines(renderGate(result)).join('\n')}`);
  // A missed bar says more than a run that was not finished; who interrupted it knows.
  if (!result.ok && !signal.aborted) process.exitCode = EXIT.belowBar;
}
