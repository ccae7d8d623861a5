/**
 * Serves the scripted model of the benches until it is stopped, and says its address: to watch the agent with a model without one.
 * Usage: node scripts/parts/bench/serve-scripted-model.ts [category kind]
 */
import { judge } from './scripted-judgements.ts';
import { startScriptedModel } from './scripted-model.ts';

const [category, kind] = process.argv.slice(2);
const known = category === undefined ? undefined : ([category, kind ?? 'unknown'] as const);
const model = await startScriptedModel({
  latencyMs: 100,
  rounds: 3,
  judge: (body, rounds) => judge(body, rounds, known),
});
console.log(`OPENAI_BASE_URL=${model.baseUrl}`);
