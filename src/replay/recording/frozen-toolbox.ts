import { outOfTime } from '../../../graphs/triage/run-tools.ts';
import type { Category } from '../../domain/category.ts';
import type { ToolCall, ToolOutcome } from '../../domain/evidence.ts';
import type { Toolbox, ToolDescription } from '../../ports/toolbox.ts';
import type { RecordingBook } from './book.ts';
import { canonicalJson } from './canonical.ts';
import type { Difference } from './difference.ts';
import type { Today } from './today.ts';

/** Tools as today's code describes them, which answer as they were recorded. What was never asked is not available. */
export function frozenToolbox(book: RecordingBook, today: Pick<Today, 'toolbox'>, differs: (difference: Difference) => void): Toolbox {
  const compared = new Set<Category>();
  return {
    offered: (category) => today.toolbox.offered(category),
    describe: (name) => today.toolbox.describe(name),
    askable: async (category) => {
      const offered = today.toolbox.offered(category);
      const recorded = book.tools(category);
      if (recorded === null) return offered.filter(({ name }) => book.everAskable.has(name));
      if (!compared.has(category)) compareTools(category, recorded.offered, offered, differs);
      compared.add(category);
      return offered.filter(({ name }) => recorded.askable.includes(name));
    },
    run: async (call) => {
      const recorded = book.call(call);
      if (recorded === null) {
        differs({ what: 'call-not-recorded', tool: call.tool, args: canonicalJson(call.args) });
        return notRecorded(call);
      }
      return recorded.outcome === null ? outOfTime(call, 0) : { ...recorded.outcome, call };
    },
  };
}

function compareTools(
  category: Category,
  before: readonly string[],
  after: readonly ToolDescription[],
  differs: (difference: Difference) => void,
): void {
  const names = after.map(({ name }) => name);
  const gone = before.filter((name) => !names.includes(name));
  const added = names.filter((name) => !before.includes(name));
  if (gone.length + added.length > 0) differs({ what: 'tools', category, gone, added });
}

function notRecorded(call: ToolCall): ToolOutcome {
  return { call, status: 'unavailable', findings: [], summary: 'This call is not in the recording.', milliseconds: 0, attempts: 0 };
}
