import type { Analysis } from '../domain/analysis.ts';
import type { RecordedAnswer } from '../domain/recording.ts';
import type { TriageSubject } from '../domain/subject.ts';
import type { Analyst } from './analyst.ts';
import type { Page } from './page.ts';
import type { Toolbox } from './toolbox.ts';

/** Who is asked in a run. */
export interface Asked {
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
export interface RecordingPart {
  readonly triageId: string;
  readonly schema: number;
  readonly bytes: Uint8Array;
}

/** What a list says of a stored recording. */
export interface RecordingHead {
  readonly triageId: string;
  readonly repository: string;
  readonly schema: number;
  /** Of what is stored, in bytes. */
  readonly size: number;
  readonly parts: number;
  readonly capped: boolean;
  readonly createdAt: string;
  /** Null where the run has not ended with an answer. */
  readonly analysis: {
    readonly id: string;
    readonly category: string;
    readonly analyst: string;
    readonly model: string | null;
    readonly title: string;
  } | null;
}

export interface StoredRecording {
  readonly triageId: string;
  readonly schema: number;
  readonly bytes: Uint8Array;
  readonly capped: boolean;
  readonly analysis: Analysis | null;
}

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
