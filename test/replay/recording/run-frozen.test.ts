import { describe, expect, it } from 'vitest';
import { createCappedMap } from '../../../src/domain/calibration.ts';
import { mapCategories } from '../../../src/domain/category.ts';
import type { Recording } from '../../../src/domain/recording.ts';
import { createRulesAnalyst } from '../../../src/judge/rules-analyst.ts';
import { describeDifference } from '../../../src/replay/recording/frozen-analyst.ts';
import { runFrozen } from '../../../src/replay/recording/run-frozen.ts';
import { LIMITS, MADE_BY, never, recordRun, sampleToday } from '../../support/recorded-run.ts';
import { createScriptedAnalyst } from '../../support/scripted-analyst.ts';
import { createScriptedToolbox } from '../../support/scripted-toolbox.ts';

const CALLS = [
  [{ tool: 'search_knowledge', args: {}, why: 'first' }],
  [{ tool: 'read_file', args: { path: 'src/cart/tax.ts' }, why: 'then' }],
];
/** As a model would judge: twice asked, then sure. */
const modelled = () => ({
  ...createScriptedAnalyst({ calls: CALLS, plans: [{}, {}, { enough: true }] }),
  name: 'llm',
});
const first = async (recording: Recording, change = {}) => {
  const run = await runFrozen(recording, sampleToday(change), never);
  return { run, said: run.differences.map(describeDifference)[0] };
};

describe('a recording that runs again', () => {
  it('gives an identical answer, with the rules and with a model', async () => {
    for (const recording of [await recordRun(), await recordRun({ analyst: modelled() })]) {
      const run = await runFrozen(recording, sampleToday(), never);
      expect(run).toMatchObject({
        identical: true,
        differences: [],
        stopped: null,
        changed: [],
        missing: [],
      });
      expect(run.after).toBe(run.before);
      expect(run.after).toMatch(/^[0-9a-f]{64}$/);
    }
  });

  it('uses the calibrations that it began with, whichever analyst judged and whatever is in force now', async () => {
    const rules = {
      version: 3,
      analyst: 'rules',
      categories: mapCategories(() => createCappedMap(0, 0, 0.41)),
    };
    const calibrations = async () => [rules, { ...rules, version: 4, analyst: 'scripted' }];
    for (const parts of [{}, { analyst: modelled() }]) {
      const recording = await recordRun({ ...parts, calibrations });
      for (const boundBy of ['recorded', 'configured'] as const) {
        const run = await runFrozen(recording, sampleToday({ boundBy }), never);
        expect(run).toMatchObject({ identical: true, differences: [], changed: [] });
      }
      expect(JSON.stringify(recording)).toContain('"raw":');
    }
  });

  it('names the judgment and the field in which the rules now differ', async () => {
    const recording = await recordRun();
    const [classified] = recording.judgements;
    if (classified?.reply == null) throw new Error('no classification');
    classified.reply.value = { ...Object(classified.reply.value), kind: 'crash' };
    const { run, said } = await first(recording);
    expect(said).toMatch(/^the rules decide differently in classify: kind "crash" → "\w+"$/);
    expect(run.identical).toBe(true);
  });

  it('continues with the present result of the rules, and reports that the answer differs', async () => {
    const recording = await recordRun();
    if (recording.analysis === null) throw new Error('no answer');
    recording.analysis = {
      ...recording.analysis,
      answer: { ...recording.analysis.answer, rootCause: 'the moon' },
    };
    const { run, said } = await first(recording);
    expect(said).toContain('the answer differs: answer.rootCause "the moon" →');
    expect(run).toMatchObject({ identical: false, changed: ['root cause'] });
  });

  it('names the prompt that changed, and answers from the recording', async () => {
    const recording = await recordRun({ analyst: modelled() });
    const answered = recording.judgements.find(({ name }) => name === 'answer');
    if (answered?.reply == null) throw new Error('no answer');
    answered.reply.promptHash = 'aaaa';
    const { run, said } = await first(recording, { promptHash: () => 'bbbb' });
    expect(said).toBe('generate_answer of round 3 has a different prompt: aaaa → bbbb');
    expect(run.changed).toEqual([]);
    expect(run.stopped).toBeNull();
  });

  it('distinguishes a prompt with different input from one with the same', async () => {
    const recording = await recordRun({ analyst: modelled() });
    for (const { reply } of recording.judgements) if (reply !== null) reply.shown = 'seen';
    expect((await first(recording, { shown: async () => 'seen' })).said).toBeUndefined();
    expect((await first(recording, { shown: async () => 'other' })).said).toContain(
      'shows the model different input with the same prompt: seen → other',
    );
  });

  it('names a different model, and only notes that there is none', async () => {
    const recording = await recordRun({ analyst: modelled() });
    recording.madeBy = { ...recording.madeBy, model: 'gone-1' };
    expect((await first(recording, { madeBy: { ...MADE_BY, model: 'new-2' } })).said).toBe(
      'a different model is configured: gone-1 → new-2',
    );
    const { run } = await first(recording);
    expect(run).toMatchObject({ identical: true, differences: [] });
    expect(run.notes).toEqual([
      'No model is configured here; the answers of gone-1 come from the recording.',
    ]);
  });

  it('treats a call that was not recorded as unavailable, and names it', async () => {
    const recording = await recordRun({ analyst: modelled() });
    recording.calls = recording.calls.filter(({ call }) => call.tool !== 'read_file');
    const { run, said } = await first(recording);
    expect(said).toBe('read_file is called, but was not when recorded: {"path":"src/cart/tax.ts"}');
    expect(
      run.analysis?.steps.flatMap(({ outcomes = [] }) => outcomes).map(({ status }) => status),
    ).toContain('unavailable');
  });

  it('stops if a model would have to be asked', async () => {
    const recording = await recordRun({ analyst: modelled() });
    recording.judgements = recording.judgements.filter(({ name }) => name !== 'verify');
    const { run } = await first(recording);
    expect(run.stopped).toBe(
      'The recording ends here: The recording has no verify in round 3, and a model call would be needed.',
    );
    expect(run).toMatchObject({ identical: false, analysis: null });
  });

  it('names added and removed tools, and the input that changed because of them', async () => {
    const recording = await recordRun();
    const toolbox = createScriptedToolbox({ search_knowledge: {}, read_file: {}, read_mind: {} });
    expect((await first(recording, { toolbox })).said).toBe(
      'the tools for TEST_FAILURE differ: grep_log gone; read_mind new',
    );
  });

  it('uses the recorded limits, or the present ones on request', async () => {
    const recording = await recordRun({ analyst: modelled() });
    const limits = { ...LIMITS, maxIterations: 1 };
    const kept = await runFrozen(recording, sampleToday({ limits }), never);
    expect(kept).toMatchObject({
      identical: true,
      differences: [],
      notes: ['Run with the recorded limits; configured today: maxIterations 1.'],
    });
    const { run, said } = await first(recording, { limits, boundBy: 'configured' });
    expect(said).toBe('the limits of the run differ: maxIterations 5 → 1');
    expect(run.stopped).toContain('The recording ends here');
  });

  it('continues after a question with the answer that the person gave, or without one', async () => {
    const ask = { tool: 'ask_reviewer', args: { question: 'Meant?' }, why: 'nobody else knows' };
    const asking = () => createScriptedAnalyst({ calls: [[ask]], plans: [{}, { enough: true }] });
    const found = { title: 'asked', text: 'Meant?', source: 'reviewer', data: { questionId: 'rev_1' } };
    const toolbox = () => createScriptedToolbox({ ask_reviewer: { findings: [found] } });
    for (const answer of ['Yes, on purpose.', null]) {
      const said = {
        answer,
        answeredBy: answer === null ? null : 'kim',
        answeredAt: answer === null ? null : '2026-01-05T10:00:00.000Z',
      };
      const question = { ...Object(said), state: answer === null ? 'expired' : 'answered' };
      const recording = await recordRun({
        analyst: asking(),
        toolbox: toolbox(),
        questions: { findByTriage: async () => question },
      });
      expect(recording.answers).toEqual([
        answer === null ? null : { text: answer, by: 'kim', at: said.answeredAt },
      ]);
      const run = await runFrozen(recording, sampleToday({ toolbox: toolbox() }), never);
      expect(run).toMatchObject({ identical: true, differences: [] });
    }
  });

  it('continues if the time limit cut off a model, without waiting for it again', async () => {
    const hanging = (_input: object, signal: AbortSignal) =>
      new Promise<never>((_settle, reject) =>
        signal.addEventListener('abort', () => reject(new Error('late')), { once: true }),
      );
    const budget = { tokens: null, costUsd: null, seconds: 0.3 };
    const analyst = { ...modelled(), answer: hanging };
    const recording = await recordRun({
      analyst,
      fallbackAnalyst: createRulesAnalyst(),
      limits: { ...LIMITS, budget },
    });
    expect(recording.analysis?.notes.join()).toContain('The budget of this run (0.3 seconds) is used up');
    expect(recording.judgements.filter(({ failed }) => failed !== null).map(({ name }) => name)).toEqual([
      'answer',
    ]);
    expect(await runFrozen(recording, sampleToday(), never)).toMatchObject({
      identical: true,
      differences: [],
      stopped: null,
    });
  });

  it('ends when aborted', async () => {
    const stopped = AbortSignal.abort(new Error('enough'));
    await expect(runFrozen(await recordRun(), sampleToday(), stopped)).rejects.toThrow('enough');
  });
});
