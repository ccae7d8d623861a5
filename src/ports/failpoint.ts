/** The places between two writes where a process may die, in the order in which one failure passes them. The graph's nodes have their own. */
export type FailpointName =
  /** The lease of a triage job is taken. */
  | 'claimed'
  /** Analysis, review and what is owed outside are written and not committed. */
  | 'concluding'
  /** They are committed. */
  | 'concluded'
  /** The triage job has ended. */
  | 'finished'
  /** An act is marked as started, and nobody was told yet. */
  | 'act-taken'
  /** The other side was told, and the row does not say so yet. */
  | 'act-made'
  /** The row says so. */
  | 'act-noted'
  /** A notice is held, and the other side was not called yet. */
  | 'notice-taken'
  /** The other side shows it, and the row does not say so yet. */
  | 'notice-shown'
  /** A person's decision is written and not committed. */
  | 'deciding'
  /** It is committed. */
  | 'decided';

/** Told by the code that a place is reached, and with what: the id of a build, the key of an act. Only tests give one, to die there. */
export type Failpoint = (name: FailpointName, subject: string) => void;
