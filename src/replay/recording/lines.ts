import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { z } from 'zod';
import { RecordedAnswer, RecordedCall, RecordedJudgement, RecordedMaker, RecordedTools } from '../../domain/recording.ts';
import { TriageSubject } from '../../domain/triage.ts';

const compress = promisify(gzip);

/** What a process knows of a run when it begins, or goes on where another stopped. */
export const RunHead = z.object({
  startedAt: z.iso.datetime(),
  madeBy: RecordedMaker,
  subject: TriageSubject,
  limits: z.record(z.string(), z.unknown()),
});
export type RunHead = z.infer<typeof RunHead>;

/** A line of a recording in the making. `run` names the process's turn at the run, since two may have written by turns. */
export const RecordingLine = z.discriminatedUnion('what', [
  z.object({ what: z.literal('begun'), run: z.string(), head: RunHead }),
  z.object({ what: z.literal('judged'), run: z.string(), judgement: RecordedJudgement }),
  z.object({ what: z.literal('called'), run: z.string(), call: RecordedCall }),
  z.object({ what: z.literal('offered'), run: z.string(), tools: RecordedTools }),
  z.object({ what: z.literal('answered'), run: z.string(), answer: RecordedAnswer }),
  z.object({ what: z.literal('capped'), run: z.string() }),
  z.object({ what: z.literal('ended'), run: z.string(), analysisId: z.string(), analysisHash: z.string() }),
]);
export type RecordingLine = z.infer<typeof RecordingLine>;

/** One gzip member, to stand behind others. */
export async function packLines(lines: readonly RecordingLine[]): Promise<Uint8Array> {
  return await compress(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}
