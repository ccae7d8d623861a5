import { readFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { z } from 'zod';
import type { SourceText } from '../../../src/domain/build.ts';
import type { CapturedPart } from './captured-parts.ts';
import { chooseJoins, type Join, type JoinKind, KINDS } from './choose-joins.ts';
import { joinLogs } from './join-logs.ts';
import { type AnsweredLog, areTellable, isUsable, type JudgedJoin, judgeJoin } from './judge-join.ts';

/** Answers the logs of a build. The gate is also tested with worse answerers. */
export type AnswerLogs = (sources: readonly SourceText[]) => Promise<AnsweredLog>;

/** The results of the joins of one kind, as shares of joins, failures and answers. */
export interface KindFigures {
  readonly kind: JoinKind;
  readonly joins: number;
  /** The share of joins in which nothing is wrong. */
  readonly faithful: number;
  /**
   * The share of failures that are answered as they are alone. The next field has those that are not
   * answered.
   */
  readonly same: number;
  readonly missing: number;
  /** The share of answers that mention another part. */
  readonly bleed: number;
  /** The share of joins with answers to several causes, several answers to one cause, or answers to none. */
  readonly misgrouped: number;
}

const Bar = z.strictObject({
  kind: z.enum(Object.keys(KINDS) as [JoinKind, ...JoinKind[]]),
  joins: z.int().min(1),
  faithful: z.number(),
  same: z.number(),
  missing: z.number(),
  bleed: z.number(),
  misgrouped: z.number(),
});
type Bar = z.infer<typeof Bar>;
const Bars = z.strictObject({
  schema: z.literal(1),
  note: z.string(),
  short: z.array(Bar).min(1),
  all: z.array(Bar).min(1),
});

/** Reads the bars of the short run and of all joins. */
export function readBars(): z.infer<typeof Bars> {
  return Bars.parse(
    JSON.parse(readFileSync(joinPath(import.meta.dirname, '../../gate/composition-bars.json'), 'utf8')),
  );
}

/**
 * Answers joins of captured failures, and each part alone in the same frame, and compares both. Joins whose
 * parts are not answered alone, or could be confused, are left out.
 */
export async function judgeJoins(
  parts: readonly CapturedPart[],
  all: boolean,
  answer: AnswerLogs,
): Promise<JudgedJoin[]> {
  const known = new Map<string, AnsweredLog>();
  const answerAlone = async (part: CapturedPart, frame: Join['frame']) => {
    const solo = frame === 'stages' || frame === 'jobs' ? frame : 'step';
    const key = `${solo} ${part.id}`;
    const answered = known.get(key) ?? (await answer(joinLogs([part], solo).sources));
    known.set(key, answered);
    return answered;
  };
  const judged: JudgedJoin[] = [];
  for (const join of chooseJoins(parts, all)) {
    const alone = new Map<CapturedPart, AnsweredLog>();
    for (const part of new Set(join.parts)) alone.set(part, await answerAlone(part, join.frame));
    if (![...alone.values()].every(isUsable) || !areTellable(join, alone)) continue;
    const { sources, spans } = joinLogs(join.parts, join.frame);
    judged.push(judgeJoin(join, spans, alone, await answer(sources)));
  }
  return judged;
}

/** Counts the figures of each kind of join, in order. */
export function countKinds(judged: readonly JudgedJoin[]): KindFigures[] {
  const kinds = Object.keys(KINDS) as JoinKind[];
  return kinds.flatMap((kind) => {
    const own = judged.filter((judgedJoin) => judgedJoin.join.kind === kind);
    if (own.length === 0) return [];
    const sum = (valueFor: (judgedJoin: JudgedJoin) => number) =>
      own.reduce((total, judgedJoin) => total + valueFor(judgedJoin), 0);
    const share = (part: number, whole: number) => (whole === 0 ? 0 : part / whole);
    const failures = sum((judgedJoin) => judgedJoin.failures);
    return {
      kind,
      joins: own.length,
      faithful: share(own.filter(({ faults }) => faults.length === 0).length, own.length),
      same: share(
        sum((judgedJoin) => judgedJoin.same),
        failures,
      ),
      missing: share(
        sum((judgedJoin) => judgedJoin.missing),
        failures,
      ),
      bleed: share(
        sum((judgedJoin) => judgedJoin.bleeding),
        sum((judgedJoin) => judgedJoin.answers),
      ),
      misgrouped: share(own.filter(({ misgrouped }) => misgrouped > 0).length, own.length),
    };
  });
}

/** Returns a sentence for each figure that is worse than its bar. Shares are compared at three decimals. */
export function findMissedBars(figures: readonly KindFigures[], bars: readonly Bar[]): string[] {
  return bars.flatMap((bar) => {
    const figure = figures.find(({ kind }) => kind === bar.kind);
    if (figure === undefined) return [`${bar.kind}: not measured`];
    const missed: string[] = [];
    for (const name of ['joins', 'faithful', 'same'] as const)
      if (round(figure[name]) < bar[name])
        missed.push(`${bar.kind}: ${name} is ${round(figure[name])}, the bar is at least ${bar[name]}`);
    for (const name of ['missing', 'bleed', 'misgrouped'] as const)
      if (round(figure[name]) > bar[name])
        missed.push(`${bar.kind}: ${name} is ${round(figure[name])}, the bar is at most ${bar[name]}`);
    return missed;
  });
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
