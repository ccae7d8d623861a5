import type { RecordedCall, RecordedTools } from '../../../domain/recording.ts';
import type { Clock } from '../../../lib/time.ts';
import type { Toolbox, ToolDescription } from '../../../ports/toolbox.ts';

interface ToolListener {
  readonly clock: Clock;
  /** The time at which the run started. */
  readonly startedAt: number;
  readonly called: (call: RecordedCall) => void;
  readonly offered: (tools: RecordedTools) => void;
}

/** Wraps a toolbox to record its results as they arrive. */
export function wrapRecordedToolbox(
  toolbox: Toolbox,
  { clock, startedAt, called, offered }: ToolListener,
): Toolbox {
  const { askable } = toolbox;
  return {
    ...toolbox,
    offered: (category) => {
      const tools = toolbox.offered(category);
      if (askable === undefined) offered({ category, offered: listNames(tools), askable: listNames(tools) });
      return tools;
    },
    ...(askable === undefined
      ? {}
      : {
          askable: async (category, subject, signal) => {
            const tools = await askable(category, subject, signal);
            offered({ category, offered: listNames(toolbox.offered(category)), askable: listNames(tools) });
            return tools;
          },
        }),
    run: async (call, subject, category, signal) => {
      const at = Math.max(0, clock.now() - startedAt);
      try {
        const outcome = await toolbox.run(call, subject, category, signal);
        called({ call, category, at, outcome });
        return outcome;
      } catch (error) {
        called({ call, category, at, outcome: null });
        throw error;
      }
    },
  };
}

function listNames(tools: readonly ToolDescription[]): string[] {
  return tools.map(({ name }) => name);
}
