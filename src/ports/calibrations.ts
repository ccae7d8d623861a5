import { z } from 'zod';
import type { Calibration, CalibrationInUse } from '../domain/calibration.ts';
import { Category } from '../domain/category.ts';

/** Who put which calibration in force, and when; `version` null: none from then on. */
export const CalibrationAct = z.object({
  analyst: z.string(),
  version: z.int().nullable(),
  replaced: z.int().nullable(),
  actor: z.string(),
  at: z.iso.datetime(),
});
export type CalibrationAct = z.infer<typeof CalibrationAct>;

/** An answer that a person decided, as far as a calibration is fitted to it. */
export const DecidedAnswer = z.object({
  analysisId: z.string(),
  repository: z.string(),
  /** "rules" or "llm". */
  analyst: z.string(),
  model: z.string().nullable(),
  category: Category,
  /** Once verified, and before any calibration. */
  stated: z.number(),
  right: z.boolean(),
  /** `audit`: drawn at random from those that were published. */
  origin: z.enum(['unsure', 'asked', 'audit']),
  /** The reviewer had said a category of their own before the verdict was shown. */
  blind: z.boolean(),
  decidedAt: z.iso.datetime(),
});
export type DecidedAnswer = z.infer<typeof DecidedAnswer>;

/** Calibrations and what they are fitted to, over all repositories: for operators at the database and for workers, no route may ask it. */
export interface CalibrationStore {
  /** Keeps it under the next version, which is part of what is returned. */
  add(calibration: Calibration): Promise<Calibration>;
  find(version: number): Promise<Calibration | null>;
  /** The newest first; those of a later version that cannot be read are left out. */
  list(limit: number): Promise<Calibration[]>;
  /** One an analyst at most. One that cannot be read publishes nothing: a run must neither fail by it nor go on as if there were none. */
  inForce(): Promise<CalibrationInUse[]>;
  /** Puts a version, or none, in force for its analyst, where `replaces` is what is in force now. Null where it is not: nothing changes. */
  use(wanted: {
    readonly analyst: string;
    readonly version: number | null;
    readonly replaces: number | null;
    readonly actor: string;
  }): Promise<CalibrationAct | null>;
  /** The newest first. */
  acts(limit: number): Promise<CalibrationAct[]>;
  /** Decisions that stand and that tell whether the category was right, the newest first; recalled answers are nobody's judgement and left out. */
  decided(limit: number): Promise<DecidedAnswer[]>;
  /** Answers of the last thirty days, recalled ones aside, per category: what a day brings. */
  answeredPerDay(): Promise<readonly { readonly category: Category; readonly perDay: number }[]>;
}
