import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { answerAsAgent } from './agent-turn.ts';
import { startScriptedModel } from './scripted-model.ts';

const Options = z.object({
  latencyMs: z.number(),
  rounds: z.number(),
  /** The calls of an agent. If set, the worker plays the model of that agent. */
  agent: z
    .object({
      modelCalls: z.number(),
      toolCalls: z.array(z.object({ tool: z.string(), args: z.record(z.string(), z.unknown()) })),
    })
    .optional(),
});
export type ModelWorkerOptions = z.infer<typeof Options>;

const { agent, ...options } = Options.parse(workerData);
const model = await startScriptedModel(
  agent === undefined ? options : { ...options, judge: (body) => answerAsAgent(body, agent) },
);
parentPort?.postMessage(model.baseUrl);
