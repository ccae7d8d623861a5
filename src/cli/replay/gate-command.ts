import { basename } from 'node:path';
import { maxOf } from '../../lib/lists.ts';
import { visibleLines } from '../../publish/visible-text.ts';
import { type Gate, type GateResult, openGate, renderGate } from '../../replay/gate/gate.ts';
import { judgeGate } from '../../replay/gate/judge-gate.ts';
import { EXIT } from '../exit-codes.ts';
import { jsonText, print } from '../terminal.ts';
import type { ReplayCommandOptions } from './replay-options.ts';
import type { ReportedRun } from './reported-run.ts';

/** The bars that were asked for, read before anything is replayed; null where none were. */
export async function gateOf({ gate }: ReplayCommandOptions): Promise<Gate | null> {
  return gate === undefined ? null : openGate(gate);
}

/** Holds all that was replayed against the bars; every repeat must hold them. */
export async function judgeReported(gate: Gate | null, reported: readonly ReportedRun[]): Promise<GateResult | null> {
  if (gate === null) return null;
  const repeats = maxOf(
    reported.map(({ repeat }) => repeat),
    1,
  );
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
