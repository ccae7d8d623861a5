import { describe, expect, it } from 'vitest';
import { TriageError } from '../../../../src/domain/errors.ts';
import { createRulesAnalyst } from '../../../../src/judge/rules-analyst.ts';
import { createMasker } from '../../../../src/log/mask/mask.ts';
import { silentLogger } from '../../../../src/ports/telemetry.ts';

import {
  createRunRecorder,
  type RecorderOptions,
} from '../../../../src/service/triage/recording/recorder.ts';
import { joinLines, type RecordingLine } from '../../../../src/service/triage/recording/recording-lines.ts';
import { MADE_BY, never, recordRun, sampleToolbox } from '../../../support/recorded-run.ts';
import { createScriptedAnalyst } from '../../../support/scripted-analyst.ts';
import { sampleSubject } from '../../../support/subject.ts';

/** A recorder with a clock that goes a second at each look, and what it kept. */
function createListened(change: Partial<RecorderOptions> = {}) {
  const parts: RecordingLine[][] = [];
  let now = 0;
  const keep: RecorderOptions['keep'] = async (_id, lines) => void parts.push([...lines]);
  const clock = { now: () => (now += 1000) };
  return {
    parts,
    options: { clock, masker: createMasker(), logger: silentLogger, madeBy: MADE_BY, keep, ...change },
  };
}

const begin = (options: RecorderOptions, analyst = createRulesAnalyst()) =>
  createRunRecorder(options).begin({
    analyst,
    toolbox: sampleToolbox(),
    subject: sampleSubject(),
    limits: {},
  });

describe('the recorder', () => {
  it('stores a fast run at its end, and a slow one in parts', async () => {
    for (const [keepEveryMs, early] of [
      [60_000, 0],
      [1_000, 2],
    ] as const) {
      const { parts, options } = createListened({ keepEveryMs });
      const run = begin(options);
      await run.asked.analyst.classify({ subject: sampleSubject() }, never);
      await run.asked.analyst.classify({ subject: sampleSubject() }, never);
      expect(parts.length).toBeLessThanOrEqual(early);
      await run.end(null);
      expect(parts.flat().map(({ what }) => what)).toEqual(['begun', 'judged', 'judged']);
      expect(parts.length).toBeGreaterThanOrEqual(Math.max(1, early));
    }
  });

  it('does not fail a run whose recording cannot be stored', async () => {
    const keep = async () => {
      throw new TriageError('storage-failed', 'the disk is full');
    };
    const logged: string[] = [];
    const logger = { ...silentLogger, warn: (_fields: object, message: string) => void logged.push(message) };
    const { options } = createListened({ keep, logger });
    await expect(recordRun({ recorder: createRunRecorder(options) })).rejects.toThrow('nothing was recorded');
    expect(new Set(logged)).toEqual(new Set(['a part of a recording could not be kept']));
  });

  it('accepts results of judgments and tools that JSON cannot represent', async () => {
    const { parts, options } = createListened();
    const USAGE = { inputTokens: 0, outputTokens: 0, costUsd: 0, modelCalls: 1 };
    const PLAN = { thought: '', confidence: 0, enough: false, retrieval: 0 };
    let deep: unknown = 'the end';
    for (let depth = 0; depth < 50_000; depth++) deep = [deep];
    const analyst = createRulesAnalyst();
    const call = { tool: 'read_file', args: { deep }, why: '' };
    const chooseTools = async () => ({
      value: [call],
      by: 'llm',
      model: 'm',
      promptHash: 'p',
      usage: USAGE,
      note: null,
    });
    const run = begin(options, { ...analyst, chooseTools });
    const subject = sampleSubject();
    const { value: classification } = await run.asked.analyst.classify({ subject }, never);
    const input = {
      subject,
      classification,
      evidence: [],
      outcomes: [],
      round: 1,
      gaps: [],
      plan: PLAN,
      offered: [],
      deep,
    };
    const chosen = await run.asked.analyst.chooseTools(input, never);
    expect(chosen.value).toEqual([call]);
    expect(await run.asked.toolbox.run(call, subject, 'CODE_ERROR', never)).toMatchObject({ status: 'ok' });
    await run.end(null);
    expect(parts.flat().map(({ what }) => what)).toEqual(['begun', 'judged', 'capped']);
  });

  it('masks what looks like a secret', async () => {
    const token = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
    const { parts, options } = createListened();
    const run = begin(options, createScriptedAnalyst({ plans: [{ thought: `the token is ${token}` }] }));
    const { subject } = { subject: sampleSubject({ notes: [`export GITHUB_TOKEN=${token}`] }) };
    const { value: classification } = await run.asked.analyst.classify({ subject }, never);
    await run.asked.analyst.plan(
      { subject, classification, evidence: [], outcomes: [], round: 1, gaps: [] },
      never,
    );
    await run.end(null);
    expect(JSON.stringify(parts)).not.toContain(token);
    expect(JSON.stringify(parts)).toContain('the token is ***');
  });

  it('reports where it stopped because of size, and keeps what came before', async () => {
    const { parts, options } = createListened({ maxChars: 1_200, keepEveryMs: 60_000 });
    const run = begin(options);
    for (let times = 0; times < 4; times++)
      await run.asked.analyst.classify({ subject: sampleSubject() }, never);
    await run.end(null);
    const lines = parts.flat();
    expect(lines.map(({ what }) => what)).toEqual(['begun', 'judged', 'capped']);
    expect(joinLines('tri_1', lines, null).missing[0]).toBe('parts beyond the size limit of a recording');
  });

  it('records once that an analyst was cut off, and once that one failed', async () => {
    const { parts, options } = createListened({ keepEveryMs: 60_000 });
    const late = Promise.withResolvers<never>();
    const slow = { ...createRulesAnalyst(), classify: () => late.promise };
    const run = begin(options, slow);
    const gone = new AbortController();
    const judging = run.asked.analyst.classify({ subject: sampleSubject() }, gone.signal);
    gone.abort();
    late.reject(new Error('no time'));
    await expect(judging).rejects.toThrow('no time');
    await run.asked.toolbox.run(
      { tool: 'grep_log', args: {}, why: '' },
      sampleSubject(),
      'CODE_ERROR',
      never,
    );
    await run.end(null);
    const told = parts.flat().flatMap((line) => (line.what === 'judged' ? [line.judgement.failed] : []));
    expect(told).toEqual(['cut off']);
  });
});
