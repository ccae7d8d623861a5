import { compileTriageGraph } from '../../graphs/triage/graph.ts';
import type { Config } from '../config/schema.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { Tracer } from '../ports/telemetry.ts';
import type { Toolbox } from '../ports/toolbox.ts';
import { createTools, type ToolSources } from '../tools/all-tools.ts';
import { createToolbox, type ToolboxOptions } from '../tools/toolbox.ts';
import type { InvestigateDeps } from '../triage/investigate.ts';
import { limitsOf } from './limits-of.ts';
import { tracedGraph, tracedToolbox } from './traced.ts';

/** Every tool over these sources; what they bring is masked. */
export function createAppToolbox(sources: ToolSources, { masker, ...options }: Omit<ToolboxOptions, 'mask'> & { masker: Masker }): Toolbox {
  const mask = async (text: string) => (await masker.mask(text)).text;
  return createToolbox(createTools({ ...sources, mask }), { ...options, mask });
}

/** The compiled graph with what its nodes ask; with a checkpointer a run survives its process. */
export function investigationOf(
  config: Pick<Config, 'triage'>,
  parts: Pick<InvestigateDeps, 'analyst' | 'fallbackAnalyst' | 'toolbox' | 'clock' | 'questions' | 'recorder' | 'calibrations'>,
  tracer: Tracer,
  checkpointer?: Parameters<typeof compileTriageGraph>[0],
): InvestigateDeps {
  const graph = tracedGraph(compileTriageGraph(checkpointer), tracer);
  const toolbox = tracedToolbox(parts.toolbox, tracer);
  return {
    ...parts,
    toolbox,
    graph,
    limits: limitsOf(config),
    timeLimitMs: config.triage.timeLimitMs,
    durable: checkpointer !== undefined,
  };
}
