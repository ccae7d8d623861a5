import type { AblationStage, Design, ReadStage } from '../../domain/calibration.ts';
import type { InvestigateDeps } from '../../triage/investigate.ts';
import { leaveOutTools } from './leave-out-tools.ts';
import { readStagesOf } from './stages.ts';

/** What a measurement exchanges in the system: stages of the reader, and the parts of an investigation. */
export interface Experiment {
  readonly without: ReadonlySet<ReadStage>;
  readonly change: (investigation: InvestigateDeps) => InvestigateDeps;
}

/**
 * The system without these stages, in the given design; null for the whole system as it is. That no green log is read (`green`) is for
 * whoever reads the logs.
 */
export async function experimentOf(stages: readonly AblationStage[], design: Design = 'loop'): Promise<Experiment | null> {
  if (stages.length === 0 && design === 'loop') return null;
  const graph = design === 'linear' ? (await import('../../../graphs/linear/graph.ts')).linearInPlaceOfLoop() : null;
  return {
    without: readStagesOf(stages),
    change: (investigation) => ({
      ...investigation,
      toolbox: leaveOutTools(investigation.toolbox, stages),
      limits: limitsWithout(investigation.limits, stages),
      graph: graph ?? investigation.graph,
    }),
  };
}

function limitsWithout(limits: InvestigateDeps['limits'], stages: readonly AblationStage[]): InvestigateDeps['limits'] {
  const isOnce = stages.includes('loop') || stages.includes('tools');
  const isLast = isOnce || stages.includes('corrections');
  return { ...limits, ...(isOnce ? { maxIterations: 1 } : {}), ...(isLast ? { maxCorrections: 0 } : {}) };
}
