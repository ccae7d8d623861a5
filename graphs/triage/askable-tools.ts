import { CATEGORIES, type Category } from '../../src/domain/category.ts';
import type { TriageSubject } from '../../src/domain/triage.ts';
import type { Toolbox, ToolDescription } from '../../src/ports/toolbox.ts';
import { contextOf, type TriageRuntime } from './context.ts';
import { insightOf } from './insight.ts';
import { ASK_REVIEWER } from './question.ts';
import type { TriageStateValue } from './state.ts';

/** Tools of the category that can be asked about this subject, cheapest first; fallback tools last. */
export async function askableTools(
  toolbox: Toolbox,
  category: Category,
  subject: TriageSubject,
  signal: AbortSignal,
): Promise<readonly ToolDescription[]> {
  return toolbox.askable === undefined ? toolbox.offered(category) : await toolbox.askable(category, subject, signal);
}

/**
 * What may be asked next: the tools of the category, and after them, where a model chooses, those of the others, since a category is a guess until the cause
 * is known. The web has its turn alone; a person is asked once.
 */
export async function offeredTools(state: TriageStateValue, askWeb: boolean, runtime: TriageRuntime): Promise<ToolDescription[]> {
  const { classification, subject } = insightOf(state);
  const { toolbox, analyst, fallbackAnalyst = analyst } = contextOf(runtime);
  const others =
    analyst.name === fallbackAnalyst.name || askWeb ? [] : CATEGORIES.filter((category) => category !== classification.category);
  const offered = await Promise.all(
    [classification.category, ...others].map((category) => askableTools(toolbox, category, subject, runtime.signal)),
  );
  const byName = new Map(offered.flat().map((tool) => [tool.name, tool]));
  const personAsked = state.outcomes.some((outcome) => outcome.call.tool === ASK_REVIEWER && outcome.status !== 'refused');
  return [...byName.values()].filter((tool) => tool.fallback === askWeb && !(personAsked && tool.name === ASK_REVIEWER));
}
