import type { LogPosition } from '../../domain/failure.ts';
import type { Facts } from '../facts.ts';
import type { Match } from '../rule.ts';
import { linesFrom } from '../wording.ts';
import { adviseMismatch, describeMismatch, findMismatch, type VersionMismatch } from './mismatch.ts';

/** What a mismatch of versions says about the failure. */
export interface VersionExplanation {
  readonly title: string;
  readonly cause: string;
  readonly fix: string;
  /** The line that shows the running version; null where the complaint does, or none. */
  readonly runningAt: LogPosition | null;
}

/** Lines below the decisive one that may complete it: javac names the class file first and its version below. */
const LINES_BELOW = 3;

/** Explains the decisive line by the versions in it, below it, and at work; null where they do not. */
export function explainByVersions({ fact }: Match, { subject }: Facts): VersionExplanation | null {
  const at = fact.source === null || fact.line === null ? null : { source: fact.source, line: fact.line };
  const lines = [fact.text, ...linesFrom(at, subject, 1 + LINES_BELOW).slice(1)];
  const found = lines.map((text) => findMismatch(text, subject)).find((mismatch) => mismatch !== null);
  if (found == null) return null;
  const mismatch = withClassFile(found, lines);
  const cause = describeMismatch(mismatch);
  return { title: cause.replace(/\.$/, ''), cause, fix: adviseMismatch(mismatch), runningAt: mismatch.runningAt };
}

/** Names the archive of a class file, where javac says which it is. */
function withClassFile(mismatch: VersionMismatch, lines: readonly string[]): VersionMismatch {
  if (mismatch.subject !== 'A class file') return mismatch;
  const archive = lines.flatMap((text) => /([\w.+-]{1,120}\.(?:jar|class))\b/.exec(text)?.[1] ?? [])[0];
  return archive === undefined ? mismatch : { ...mismatch, subject: archive };
}
