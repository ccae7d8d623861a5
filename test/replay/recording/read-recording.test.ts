import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Recording } from '../../../src/domain/recording.ts';
import { readRecording, unpackRecording } from '../../../src/replay/recording/read-recordings.ts';
import { runFrozen } from '../../../src/replay/recording/run-frozen.ts';
import {
  joinLines,
  packLines,
  type RecordingLine,
} from '../../../src/service/triage/recording/recording-lines.ts';
import { never, recordRun, sampleToday } from '../../support/recorded-run.ts';
import { createScriptedAnalyst } from '../../support/scripted-analyst.ts';

/** The lines that a process would have written of this recording. */
function listLines(
  { startedAt, madeBy, subject, limits, judgements: judgments, calls, tools }: Recording,
  run: string,
): RecordingLine[] {
  return [
    { what: 'begun', run, head: { startedAt, madeBy, subject, limits } },
    ...tools.map((tool) => ({ what: 'offered' as const, run, tools: tool })),
    ...judgments.map((judgment) => ({ what: 'judged' as const, run, judgement: judgment })),
    ...calls.map((call) => ({ what: 'called' as const, run, call })),
  ];
}

describe('an exported recording', () => {
  it('is read as it was written', async () => {
    const recording = await recordRun();
    expect(readRecording(JSON.parse(JSON.stringify(recording)))).toEqual(recording);
  });

  it.each([
    [
      { schema: 2, madeBy: { faultline: '9.1.0' } },
      'created by Faultline 9.1.0 in schema 2; this version supports up to 1: update Faultline',
    ],
    [
      { schema: 0, madeBy: { faultline: '0.0.9' } },
      'created by Faultline 0.0.9 in schema 0, which is no longer supported: replay it with that version',
    ],
    [{ id: 'a case' }, 'has no schema'],
    [{ schema: 1, madeBy: {} }, 'triageId: Invalid input'],
    [[], 'not a JSON object'],
    [null, 'not a JSON object'],
  ])('is refused with the reason: %j', (json, why) => {
    expect(() => readRecording(json)).toThrow(why);
  });
});

describe('a stored recording', () => {
  const stored = async (recording: Recording, ...parts: RecordingLine[][]) => ({
    triageId: recording.triageId,
    schema: 1,
    bytes: Buffer.concat(await Promise.all(parts.map(packLines))),
    capped: false,
    analysis: recording.analysis,
  });

  it('of a process that died and one that continued is one', async () => {
    const recording = await recordRun();
    const lines = listLines(recording, 'a');
    const [head] = lines;
    if (head === undefined) throw new Error('no head');
    const rest = [{ ...head, run: 'b' }, ...lines.slice(5).map((line) => ({ ...line, run: 'b' }))];
    const joined = await unpackRecording(await stored(recording, lines.slice(0, 5), rest));
    expect(joined).toEqual({ ...recording, judgements: expect.anything() });
    expect(await runFrozen(joined, sampleToday(), never)).toMatchObject({ identical: true, differences: [] });
  });

  it('contains the last result of a judgment that was repeated', async () => {
    const recording = await recordRun();
    const again = listLines(recording, 'b');
    const before = structuredClone(listLines(recording, 'a'));
    for (const line of before)
      if (line.what === 'judged' && line.judgement.reply !== null)
        line.judgement.reply.note = 'the first time';
    const joined = joinLines(recording.triageId, [...before, ...again], recording.analysis);
    expect(joined.judgements).toEqual(recording.judgements);
    expect(joined.calls).toEqual(recording.calls);
  });

  it('states what is missing', async () => {
    const asking = createScriptedAnalyst({
      calls: [[{ tool: 'search_knowledge', args: {}, why: '' }]],
      plans: [{}, { enough: true }],
    });
    const recording = await recordRun({ analyst: asking });
    const lines = listLines(recording, 'a').filter(
      (line) => !(line.what === 'judged' && line.judgement.name === 'verify') && line.what !== 'called',
    );
    const { complete, missing } = await unpackRecording(await stored(recording, lines));
    expect(complete).toBe(false);
    expect(missing).toEqual([
      'the reply of search_knowledge in execute_tool in round 1',
      'the judgement verify of verify in round 2',
    ]);
    const run = await runFrozen({ ...recording, complete, missing }, sampleToday(), never);
    expect(run.missing).toEqual(missing);
  });

  it('states that it was cut off, that there is no answer, or that the answer differs', async () => {
    const recording = await recordRun();
    const all = await stored(recording, listLines(recording, 'a'));
    expect((await unpackRecording({ ...all, capped: true })).missing).toEqual([
      'parts beyond the size limit of a recording',
    ]);
    expect((await unpackRecording({ ...all, analysis: null })).missing).toEqual([
      'the answer: the run had not ended with one',
    ]);
    const ended = {
      what: 'ended' as const,
      run: 'a',
      analysisId: recording.analysis?.id ?? '',
      analysisHash: 'other',
    };
    expect(
      (await unpackRecording(await stored(recording, [...listLines(recording, 'a'), ended]))).missing,
    ).toEqual(['the original answer of the run: the stored answer differs']);
  });

  it.each([
    ['damaged', Buffer.from('no gzip at all'), 'is damaged'],
    ['cut in the middle', gzipSync('{"what":"begun"}').subarray(0, 20), 'is damaged'],
    ['of lines nobody understands', gzipSync('{"what":"sung"}\n'), 'cannot be read'],
    ['empty', Buffer.alloc(0), 'is missing'],
  ])('is refused with a sentence: %s', async (_name, bytes, why) => {
    await expect(
      unpackRecording({ triageId: 'tri_1', schema: 1, bytes, capped: false, analysis: null }),
    ).rejects.toThrow(`recording of tri_1 ${why}`);
  });

  it('with a newer schema asks for the newer version', async () => {
    await expect(
      unpackRecording({
        triageId: 'tri_1',
        schema: 7,
        bytes: Buffer.alloc(0),
        capped: false,
        analysis: null,
      }),
    ).rejects.toThrow('update Faultline');
  });
});
