import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findMin } from '../../../src/lib/collections.ts';
import { type AgentWorld, openAgentWorld } from './agent-world.ts';
import { startModelAside } from './model-aside.ts';
import { createPrebuiltAgent } from './prebuilt-agent.ts';

/**
 * Measures the agent's own cost, with a scripted model. Compares the overhead of a run of three iterations
 * with LangGraph's prebuilt agent, with as many model and tool calls on the same checkpointer. Then measures
 * the throughput of fifty concurrent runs if each call takes 800 ms.
 */
const ROUNDS = 3;
const WARM_UP = 3;
const PAIRS = 15;
const AT_ONCE = 50;
const LATENCY_MS = 800;

const folder = mkdtempSync(join(tmpdir(), 'faultline-bench-agent-'));
try {
  await compareWithPrebuilt(join(folder, 'overhead'));
  await measureManyAtOnce(join(folder, 'throughput'));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Runs both agents in turn, in one process and on one database. */
async function compareWithPrebuilt(dataDir: string): Promise<void> {
  const model = await startModelAside({ latencyMs: 0, rounds: ROUNDS });
  const world = await openAgentWorld(dataDir, model.baseUrl);
  const first = await world.run();
  const { usage } = first;
  const prebuilt = await createPrebuiltAgent(world, first);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let pair = 0; pair < WARM_UP + PAIRS; pair++) {
    const own = await timeWork(() => world.run());
    const other = await timeWork(() => prebuilt.run());
    if (pair < WARM_UP) continue;
    ours.push(own);
    theirs.push(other);
  }
  const calls = `${usage.iterations} iterations, ${usage.modelCalls} model calls, ${usage.toolCalls} tool calls`;
  console.log(
    `agent, scripted model without latency, embedded    median ${formatMs(computeMedian(ours))}, min ${formatMs(findMin(ours))} (${calls}, n=${PAIRS})`,
  );
  console.log(
    `LangGraph's prebuilt agent, same calls, tools, saver median ${formatMs(computeMedian(theirs))}, min ${formatMs(findMin(theirs))}`,
  );
  console.log(
    `ratio of the medians, ours to the prebuilt         ${(computeMedian(ours) / computeMedian(theirs)).toFixed(2)}`,
  );
  await prebuilt.close();
  await world.close();
  await model.close();
}

/**
 * Runs many agents at once. Ideally, all take as long as the calls of one run, because they wait for the
 * model at the same time.
 */
async function measureManyAtOnce(dataDir: string): Promise<void> {
  const model = await startModelAside({ latencyMs: LATENCY_MS, rounds: ROUNDS });
  const world = await openAgentWorld(dataDir, model.baseUrl);
  await world.run();
  const sample = await createRun(world);
  const startedAt = performance.now();
  const runs = await Promise.all(Array.from({ length: AT_ONCE }, () => createRun(world)));
  const seconds = (performance.now() - startedAt) / 1000;
  const ideal = (sample.modelCalls * LATENCY_MS) / 1000;
  console.log(
    `${AT_ONCE} runs at once, ${LATENCY_MS} ms a model call             ${seconds.toFixed(1)} s; ideal ${ideal.toFixed(1)} s; throughput ${(ideal / seconds).toFixed(2)} of the ideal`,
  );
  console.log(
    `first finished step after its start                one run ${formatMs(sample.firstStepMs)}, median of ${AT_ONCE} at once ${formatMs(computeMedian(runs.map((run) => run.firstStepMs)))}`,
  );
  await world.close();
  await model.close();
}

async function createRun(
  world: AgentWorld,
): Promise<{ readonly firstStepMs: number; readonly modelCalls: number }> {
  const startedAt = performance.now();
  let firstStepMs = 0;
  const { usage } = await world.run(() => {
    firstStepMs ||= performance.now() - startedAt;
  });
  return { firstStepMs, modelCalls: usage.modelCalls };
}

async function timeWork(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function computeMedian(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

function formatMs(value: number): string {
  return `${value.toFixed(0)} ms`;
}
