import type { ToolCall, ToolOutcome } from '../../src/domain/evidence.ts';
import type { ToolDescription } from '../../src/ports/toolbox.ts';

/** More than this in one step is a sign of a confused model, not of a thorough one. */
const MAX_CALLS = 6;
/** Refusals that the next round sees one by one; a hundred of them would fill its prompt. */
const MAX_REFUSALS = 4;

export interface CheckedCalls {
  readonly calls: readonly ToolCall[];
  /** What is not asked, each with the reason as its outcome. */
  readonly refused: readonly ToolOutcome[];
  /** For people, where anything was refused. */
  readonly notes: readonly string[];
}

/** Keeps the offered tools and the new questions, at most six; whatever else was chosen is refused with a sentence. */
export function checkCalls(
  chosen: readonly ToolCall[],
  offered: readonly ToolDescription[],
  outcomes: readonly ToolOutcome[],
): CheckedCalls {
  const names = new Set(offered.map((tool) => tool.name));
  const seen = new Set(outcomes.filter((outcome) => outcome.status !== 'refused').map((outcome) => keyOf(outcome.call)));
  const calls: ToolCall[] = [];
  const refused: ToolOutcome[] = [];
  for (const call of chosen) {
    const reason = reasonAgainst(call, { names, seen, count: calls.length });
    if (reason !== null) refused.push(refusal(call, reason));
    else {
      seen.add(keyOf(call));
      calls.push(call);
    }
  }
  return { calls, refused: refused.slice(0, MAX_REFUSALS), notes: notesOn(refused, names) };
}

interface Choice {
  readonly names: ReadonlySet<string>;
  readonly seen: ReadonlySet<string>;
  readonly count: number;
}

function reasonAgainst(call: ToolCall, { names, seen, count }: Choice): string | null {
  if (!names.has(call.tool))
    return `${call.tool.slice(0, 80)} is not one of the tools offered now; choose one of: ${[...names].join(', ')}.`;
  if (seen.has(keyOf(call))) return 'This call was already made with the same arguments. Ask something else.';
  if (count >= MAX_CALLS) return `At most ${MAX_CALLS} calls can be made at once.`;
  return null;
}

function refusal(call: ToolCall, summary: string): ToolOutcome {
  return { call, status: 'refused', findings: [], summary, milliseconds: 0, attempts: 0 };
}

function keyOf(call: ToolCall): string {
  const args = Object.entries(call.args).sort(([left], [right]) => left.localeCompare(right));
  return JSON.stringify([call.tool, args]);
}

function notesOn(refused: readonly ToolOutcome[], names: ReadonlySet<string>): string[] {
  const foreign = [...new Set(refused.map((outcome) => outcome.call.tool).filter((tool) => !names.has(tool)))];
  const others = refused.filter((outcome) => names.has(outcome.call.tool)).length;
  const notes: string[] = [];
  if (foreign.length > 0) notes.push(`Not available for this category, so not used: ${foreign.slice(0, MAX_REFUSALS).join(', ')}.`);
  if (others > 0) notes.push(`${others} repeated or surplus calls were not made.`);
  return notes;
}
