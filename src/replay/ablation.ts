import { AblationStage, type Design, ReadStage } from '../domain/calibration.ts';
import { TriageError } from '../domain/errors.ts';
import type { Toolbox, ToolDescription, ToolSource } from '../ports/toolbox.ts';
import type { Experiment, InvestigateDeps } from '../service/triage/investigate.ts';

/** Parses the names of stages. Throws `invalid-input`, which lists all stages, if one is unknown. */
export function parseStages(names: readonly string[]): AblationStage[] {
  const unknown = names.find((name) => !AblationStage.safeParse(name).success);
  if (unknown !== undefined) {
    throw new TriageError(
      'invalid-input',
      `--without: there is no stage "${unknown}"; choose from ${AblationStage.options.join(', ')}.`,
    );
  }
  return AblationStage.options.filter((stage) => names.includes(stage));
}

/** Returns the stages that belong to the reader of the logs. */
export function toReadStages(stages: readonly AblationStage[]): ReadonlySet<ReadStage> {
  return new Set(stages.flatMap((stage) => ReadStage.safeParse(stage).data ?? []));
}

/**
 * Describes the stages that were left out and the design, for headings: ", without library and web, linear
 * baseline". Returns an empty string for the whole system.
 */
export function describeExperiment(stages: readonly AblationStage[], design: Design): string {
  const without = stages.length === 0 ? '' : `, without ${stages.join(' and ')}`;
  return `${without}${design === 'linear' ? ', linear baseline' : ''}`;
}

/**
 * Creates the system without these stages, in the given design. Returns null for the unchanged system. The
 * caller that reads the logs must leave out the green log (`green`).
 */
export async function createExperiment(
  stages: readonly AblationStage[],
  design: Design = 'loop',
): Promise<Experiment | null> {
  if (stages.length === 0 && design === 'loop') return null;
  const graph = design === 'linear' ? (await import('../../graphs/linear/graph.ts')).useLinearGraph() : null;
  return {
    without: toReadStages(stages),
    change: (investigation) => ({
      ...investigation,
      toolbox: leaveOutTools(investigation.toolbox, stages),
      limits: chooseLimitsWithout(investigation.limits, stages),
      graph: graph ?? investigation.graph,
    }),
  };
}

function chooseLimitsWithout(
  limits: InvestigateDeps['limits'],
  stages: readonly AblationStage[],
): InvestigateDeps['limits'] {
  const isOnce = stages.includes('loop') || stages.includes('tools');
  const isLast = isOnce || stages.includes('corrections');
  return { ...limits, ...(isOnce ? { maxIterations: 1 } : {}), ...(isLast ? { maxCorrections: 0 } : {}) };
}

/** The sources whose tools each stage leaves out. */
const SOURCES: Partial<Record<AblationStage, ToolSource>> = {
  'code-host': 'code host',
  history: 'history',
  logs: 'log',
  web: 'web',
};
/** The single tools that each stage leaves out. */
const TOOLS: Partial<Record<AblationStage, string>> = {
  library: 'search_error_library',
  knowledge: 'search_knowledge',
  green: 'diff_with_green',
};

/** Returns the toolbox without the tools of these stages, as if they did not exist. */
export function leaveOutTools(toolbox: Toolbox, stages: readonly AblationStage[]): Toolbox {
  const isKept = ({ name, asks }: Pick<ToolDescription, 'name' | 'asks'>) =>
    !stages.includes('tools') &&
    !stages.some((stage) => TOOLS[stage] === name || (asks !== undefined && SOURCES[stage] === asks));
  const { askable } = toolbox;
  return {
    ...toolbox,
    offered: (category) => toolbox.offered(category).filter(isKept),
    ...(askable === undefined
      ? {}
      : { askable: async (...asked) => (await askable(...asked)).filter(isKept) }),
    describe: (name) => {
      const tool = toolbox.describe(name);
      return tool !== null && isKept(tool) ? tool : null;
    },
    run: async (call, ...asked) =>
      isKept(toolbox.describe(call.tool) ?? { name: call.tool })
        ? await toolbox.run(call, ...asked)
        : { call, status: 'unavailable', findings: [], summary: LEFT_OUT, milliseconds: 0, attempts: 0 },
  };
}

const LEFT_OUT = 'Excluded from this measurement.';
