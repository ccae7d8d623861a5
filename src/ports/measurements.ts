import { z } from 'zod';
import { Analysis } from '../domain/analysis.ts';
import { Build } from '../domain/build.ts';
import type { Calibration, CalibrationInUse } from '../domain/calibration.ts';
import { Category } from '../domain/category.ts';
import type { RecordedAnswer } from '../domain/recording.ts';
import { Decision, ReviewOrigin } from '../domain/review.ts';
import type { TriageSubject } from '../domain/triage.ts';
import type { Analyst } from './analyst.ts';
import type { Page } from './database.ts';
import type { Toolbox } from './toolbox.ts';

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

/** Which stored failures are meant; what is not given does not matter. */
export interface CaseFilter {
  readonly repository?: string;
  readonly branch?: string;
  readonly fingerprint?: string;
  /** As a person decided, else as the machine said. */
  readonly category?: Category;
  /** ISO 8601; a build counts from when it ended, else from when it began or came. */
  readonly since?: string;
  readonly until?: string;
  /** Only what a person decided, and where the decision stands. */
  readonly decided?: true;
}

/** One cause of one failed build, with its answer and what a person said of it, where there are such. */
export const StoredCase = z.object({
  build: Build,
  fingerprint: z.string(),
  /** 0 is the first cause of its build. */
  cause: z.int(),
  analysis: Analysis.nullable(),
  /** The decision that stands. */
  decision: Decision.nullable(),
  origin: ReviewOrigin.nullable(),
});
export type StoredCase = z.infer<typeof StoredCase>;

/** Where a page ends, and the next begins. */
export type CaseCursor = Pick<StoredCase, 'cause'> & { readonly buildId: string };

/** Stored failures as cases to measure by. For commands of operators: it knows no scope, and no route may ask it. */
export interface CaseStore {
  /** The next `limit` causes after `after`, the oldest build first, the causes of a build in their order. */
  list(filter: CaseFilter, limit: number, after: CaseCursor | null): Promise<StoredCase[]>;
}

/** Who is asked in a run. */
interface Asked {
  readonly analyst: Analyst;
  readonly fallbackAnalyst?: Analyst | undefined;
  readonly toolbox: Toolbox;
}

/** Keeps what runs ask and are told. */
export interface RunRecorder {
  /** Begins to listen to a run, or to the rest of one that was cut off. */
  begin(run: Asked & { readonly subject: TriageSubject; readonly limits: object }): RunRecording;
}

/** One run that is listened to. Give it the `asked` in here, who answer as the ones it was begun with. */
export interface RunRecording {
  readonly asked: Asked;
  /** What a person said to the waiting run. */
  answered(answer: RecordedAnswer): void;
  /** Keeps what was not kept yet; `analysis` is null where the run waits, failed or was cancelled. Never throws. */
  end(analysis: Analysis | null): Promise<void>;
}

/** A piece of a recording: gzip of JSON lines. Pieces stand one behind the other. */
interface RecordingPart {
  readonly triageId: string;
  readonly schema: number;
  readonly bytes: Uint8Array;
}

/** What a list says of a stored recording. */
export const RecordingHead = z.object({
  triageId: z.string(),
  repository: z.string(),
  schema: z.int(),
  /** Of what is stored, in bytes. */
  size: z.int(),
  parts: z.int(),
  capped: z.boolean(),
  createdAt: z.string(),
  /** Null where the run has not ended with an answer. */
  analysis: z
    .object({ id: z.string(), category: z.string(), analyst: z.string(), model: z.string().nullable(), title: z.string() })
    .nullable(),
});
export type RecordingHead = z.infer<typeof RecordingHead>;

export const StoredRecording = z.object({
  triageId: z.string(),
  schema: z.int(),
  bytes: z.instanceof(Uint8Array),
  capped: z.boolean(),
  analysis: Analysis.nullable(),
});
export type StoredRecording = z.infer<typeof StoredRecording>;

export interface RecordingFilter {
  /** Ids of triages or of analyses; absent: all. */
  readonly runs?: readonly string[];
  readonly repository?: string;
  /** Only of these: `owner/name`, or `owner/*`. */
  readonly repositories?: readonly string[];
  /** Those behind this triage in the order of the list: what the last page ended with. */
  readonly after?: string;
}

/** Recordings of runs, one a triage; they go with their build. */
export interface RecordingStore {
  /** Puts a part behind those that are there. What would make it larger than the store takes is left out, and it is marked as capped. */
  append(part: RecordingPart): Promise<void>;
  /** In the order of the triages' ids, which begin with their time. */
  list(filter: RecordingFilter, page: Pick<Page, 'limit'>): Promise<RecordingHead[]>;
  find(triageId: string): Promise<StoredRecording | null>;
}
