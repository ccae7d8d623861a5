import { describe, expect, it } from 'vitest';
import { judge } from '../../../scripts/parts/bench/scripted-judgements.ts';
import { type ScriptedBody, startScriptedModel } from '../../../scripts/parts/bench/scripted-model.ts';
import { openToday } from '../../../src/app/open-today.ts';
import { createTerminalApp } from '../../../src/app/terminal-app.ts';
import { createPreset, loadConfig } from '../../../src/config/load.ts';
import type { Recording } from '../../../src/domain/recording.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';

import { describeDifference } from '../../../src/replay/recording/frozen-analyst.ts';
import { readRecording } from '../../../src/replay/recording/read-recordings.ts';
import { runFrozen } from '../../../src/replay/recording/run-frozen.ts';
import { type CapturedFailure, readCapturedFailures } from '../../support/captured-failures.ts';
import { sampleBuild } from '../../support/subject.ts';

const KNOWLEDGE = new URL('../../../knowledge', import.meta.url).pathname;
const never = new AbortController().signal;
const createConfig = (env: Readonly<Record<string, string>> = {}) =>
  loadConfig(createPreset(env, '/nowhere', KNOWLEDGE), env, () => '');

type AppOf = ReturnType<typeof createTerminalApp>;

/** Recorded, written as JSON, read again. */
async function recordRun(app: Awaited<AppOf>, { slug, log }: CapturedFailure): Promise<Recording> {
  const build = sampleBuild({ id: `bld_${slug}` });
  const sources = [{ name: 'log.txt', kind: 'log' as const, text: log, notes: [] }];
  const { recordings } = await app.triage(build, sources, never, { maxGroups: 1, record: true });
  return readRecording(JSON.parse(JSON.stringify(recordings[0])));
}

async function expectSame(recording: Recording, today: Awaited<ReturnType<typeof openToday>>): Promise<void> {
  const { identical, differences, stopped, missing } = await runFrozen(recording, today, never);
  expect({ differences: differences.map(describeDifference), stopped, missing }).toEqual({
    differences: [],
    stopped: null,
    missing: [],
  });
  expect(identical).toBe(true);
}

describe('captured failures that run again from their recordings give identical bytes', () => {
  it('with the rules', { timeout: 60_000 }, async () => {
    const [app, today] = [
      await createTerminalApp(createConfig(), silentLogger),
      await openToday(createConfig(), 'configured'),
    ];
    // Every twelfth: each takes a tenth of a second, and `scripts/bench frozen` runs them all.
    for (const failure of readCapturedFailures().filter((_one, index) => index % 12 === 0))
      await expectSame(await recordRun(app, failure), today);
  });

  it('with a model, parallel investigators, answers sent back and corrected arguments', {
    timeout: 60_000,
  }, async () => {
    const model = await startScriptedModel({ latencyMs: 0, rounds: 2, judge: createDoubtfulJudge() });
    try {
      const env = {
        FAULTLINE_ANALYST: 'llm',
        OPENAI_BASE_URL: model.baseUrl,
        OPENAI_API_KEY: 'sk-0',
        OPENAI_MODEL: 'scripted',
        FAULTLINE_PROFILE: 'thorough',
      };
      const [app, today] = [
        await createTerminalApp(createConfig(env), silentLogger),
        await openToday(createConfig(env), 'configured'),
      ];
      const heard: string[] = [];
      for (const failure of readCapturedFailures().filter((_one, index) => index % 24 === 3)) {
        const recording = await recordRun(app, failure);
        expect(recording.madeBy).toMatchObject({ analyst: 'llm', spare: 'rules', model: 'scripted' });
        expect(recording.judgements.some(({ investigator }) => investigator === 'history')).toBe(true);
        heard.push(...recording.judgements.map(({ role, name }) => `${role} ${name}`));
        expect(
          recording.judgements
            // A plan that names its calls is asked for no choice of tools.
            .filter(({ reply }) => reply?.by === 'llm' && reply.usage.modelCalls > 0)
            .every(({ reply }) => reply?.shown !== null),
        ).toBe(true);
        const asked = model.calls();
        await expectSame(recording, today);
        expect(model.calls()).toBe(asked);
      }
      expect(heard).toContain('analyst correctCall');
      expect(heard.filter((one) => one === 'analyst verify').length).toBeGreaterThan(
        heard.filter((one) => one === 'analyst classify').length,
      );
    } finally {
      await model.close();
    }
  });
});

/** Is not sure of its first answer, and forgets an argument now and then. */
function createDoubtfulJudge(): NonNullable<Parameters<typeof startScriptedModel>[0]['judge']> {
  let verified = 0;
  let isSentBack = false;
  return (body: ScriptedBody, rounds: number) => {
    const said = judge(body, rounds);
    if (said.calls.length > 0)
      return { ...said, calls: [...said.calls, { name: 'grep_log', args: { text: 7 } }] };
    const name = body.response_format?.json_schema?.name;
    // An answer that was sent back is asked about once more.
    if (name === 'reason' && isSentBack) {
      isSentBack = false;
      const args = ['{"text":7}', '{"text":"error","limit":3}', '{"text":"e"}'];
      const calls = args.map((some) => ({ tool: 'grep_log', args: some, why: 'once more' }));
      const plan = { ...JSON.parse(said.text), confidence: 0.5, next: 'look', calls };
      return { ...said, text: JSON.stringify(plan) };
    }
    if (name !== 'verify') return said;
    verified += 1;
    isSentBack = true;
    const value = {
      grades: [{ evidence: 'E1', grade: 'ambiguous' }],
      unsupportedClaims: [],
      gaps: [{ missing: 'why it broke', tool: 'grep_log' }],
      against: [],
      confidence: 0.5 + (verified % 5) / 10,
    };
    return { ...said, text: JSON.stringify(value) };
  };
}
