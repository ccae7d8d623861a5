import { openResources } from './resources.ts';
import { type McpOffer, PROMPTS } from './server.ts';
import type { McpDeps, McpTool } from './tool.ts';
import { explainLog } from './tools/explain-log.ts';
import { flakyTests } from './tools/flaky-tests.ts';
import { getEvidence } from './tools/get-evidence.ts';
import { getFailure } from './tools/get-failure.ts';
import { listFailures } from './tools/list-failures.ts';
import { searchSimilar } from './tools/search-similar.ts';
import { submitFeedback } from './tools/submit-feedback.ts';

/** Every tool that can be offered with what is there. */
export function allTools({ installation, explainLog: explain, feedback }: McpDeps): readonly McpTool[] {
  const stored =
    installation === undefined
      ? []
      : [
          listFailures(installation),
          getFailure(installation),
          getEvidence(installation),
          searchSimilar(installation),
          flakyTests(installation),
        ];
  const pasted = explain === undefined ? [] : [explainLog(explain)];
  const writing = installation === undefined || feedback === undefined ? [] : [submitFeedback(installation, feedback)];
  return [...stored, ...pasted, ...writing];
}

/** The same with what can be read and asked beside tools. */
export function offerOf(deps: McpDeps): McpOffer {
  const tools = allTools(deps);
  return deps.installation === undefined
    ? { tools, prompts: [] }
    : { tools, prompts: PROMPTS, resources: openResources(deps.installation) };
}
