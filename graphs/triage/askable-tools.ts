import type { Category } from '../../src/domain/category.ts';
import type { TriageSubject } from '../../src/domain/subject.ts';
import type { Toolbox, ToolDescription } from '../../src/ports/toolbox.ts';

/** Tools of the category that can be asked about this subject, cheapest first; fallback tools last. */
export async function askableTools(
  toolbox: Toolbox,
  category: Category,
  subject: TriageSubject,
  signal: AbortSignal,
): Promise<readonly ToolDescription[]> {
  return toolbox.askable === undefined ? toolbox.offered(category) : await toolbox.askable(category, subject, signal);
}
