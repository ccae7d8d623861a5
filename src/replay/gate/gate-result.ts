/** Whether what was measured is good enough. Stable: scripts read it. */
export interface GateResult {
  readonly schema: 1;
  /** The file of bars. */
  readonly file: string;
  /** No bar is missed beyond noise, and every one could be judged. */
  readonly ok: boolean;
  readonly outcomes: readonly BarOutcome[];
}

/** `within-noise`: on the wrong side of its bar, but chance alone may have put it there. */
export type BarStatus = 'ok' | 'within-noise' | 'failed';

/** One bar on one data set. */
export interface BarOutcome {
  readonly dataset: string;
  readonly figure: string;
  /** "at least 0.9"; null for what is no bar of the file, such as that a data set is empty. */
  readonly bar: string | null;
  readonly status: BarStatus;
  /** Null where it could not be judged; for `worseBy` how much worse. */
  readonly value: number | null;
  readonly interval: readonly [low: number, high: number] | null;
  /** Cases that it rests on. */
  readonly cases: number | null;
  /** What came out, for people. */
  readonly sentence: string;
  readonly why: string | null;
  /** Ids of the cases that keep the figure from being better; empty where no single case does. */
  readonly against: readonly string[];
}
