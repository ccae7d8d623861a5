import type { Claim, Suspect } from '../domain/analysis.ts';
import type { Category } from '../domain/category.ts';
import type { Evidence } from '../domain/evidence.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { findChangedRange, type LineChange } from '../lib/patch-changes.ts';
import { collectFailureWords, isFailingNear, listMissedNames, listNearChanges } from './changes.ts';
import { readRepositoryFacts, type Touch } from './evidence-facts.ts';
import { altersCode, hasCode } from './line-changes.ts';
import { findRemovedCheck } from './removed-checks.ts';
import { chooseTouch } from './suspects.ts';
import { toOneLine } from './wording.ts';

/** A description of the first suspect's commit, for the cause and the fix. */
export interface ChangeDescription {
  readonly cause: string;
  /** The advice; null if the change is not near the failure and may be harmless. */
  readonly fix: string | null;
  readonly claim: Claim;
}

/** The maximum distance in lines between a removed check and the failing line. */
const SAME_PLACE = 40;
const MAX_QUOTED = 100;
/**
 * The minimum score of a suspect whose commit is described. A change of a less suspicious file may be
 * harmless.
 */
const MIN_SCORE = 0.6;

/**
 * Describes what the first suspect's commit removed or replaced: a check, a condition or a default near the
 * failing line, or a name that other lines still use. Returns null if its patch is unknown or shows none of
 * these.
 */
export function describeChange(
  subject: TriageSubject,
  evidence: readonly Evidence[],
  category: Category,
  [suspect]: readonly Suspect[],
): ChangeDescription | null {
  if (suspect === undefined || suspect.commit === null || suspect.score < MIN_SCORE) return null;
  if (category !== 'CODE_ERROR' && category !== 'TEST_FAILURE') return null;
  const facts = readRepositoryFacts(evidence);
  const touch = chooseTouch(suspect.path, suspect.line, facts, collectFailureWords(subject), subject);
  if (touch === null || touch.commit !== suspect.commit) return null;
  // In a file that has not changed since, the tests passed with the lines that blame shows.
  if (facts.changed?.isWhole === true && touch.tool === 'read_blame') return null;
  const author = suspect.author === null ? '' : ` (${toOneLine(suspect.author, 60)})`;
  const by = `Commit ${suspect.commit.slice(0, 10)}${author}`;
  const sentence =
    describeLeftUse(touch, by) ??
    describeMissedName(touch, subject, by) ??
    describeRemoval(touch, suspect.line, by) ??
    describeReplacement(touch, suspect.line, subject, by);
  if (sentence === null) return null;
  return { ...sentence, claim: { text: sentence.cause, evidence: [touch.evidenceId], quotes: [] } };
}

type Said = Omit<ChangeDescription, 'claim'>;

function describeLeftUse({ stillUsed: [use], path }: Touch, by: string): Said | null {
  if (use === undefined) return null;
  const place = `${use.path}:${use.line}`;
  return {
    cause: `${by} took \`${use.name}\` out of ${path}, but ${place} still uses it.`,
    fix: `Restore \`${use.name}\` in ${path}, or change ${place}, which still uses it.`,
  };
}

function describeMissedName(touch: Touch, subject: TriageSubject, by: string): Said | null {
  const [name] = listMissedNames(touch, subject);
  if (name === undefined) return null;
  return {
    cause: `${by} took \`${name}\` out of ${touch.path}.`,
    fix: `Restore \`${name}\` in ${touch.path}, or change what asks for it.`,
  };
}

function describeRemoval(touch: Touch, line: number | null, by: string): Said | null {
  for (const change of sortByDistance(touch, line)) {
    const removed = findRemovedCheck(change);
    if (removed === null) continue;
    const what = `the ${removed.what} \`${quoteCode(removed.line)}\``;
    return {
      cause: `${by} removed ${what} from ${touch.path}:${change.newLine}.`,
      fix: `Restore ${what} in ${touch.path}:${change.newLine}. ${by} removed it.`,
    };
  }
  return null;
}

/** Describes a line that was replaced by another one. Whether the new line is wrong is unknown. */
function describeReplacement(
  touch: Touch,
  line: number | null,
  subject: TriageSubject,
  by: string,
): Said | null {
  const changes = (line === null ? touch.changes : listNearChanges(touch, line)).filter(altersCode);
  const [change] = changes;
  const removed = change?.removed.filter(hasCode) ?? [];
  const added = change?.added.filter(hasCode) ?? [];
  if (change === undefined || changes.length > 1 || removed.length !== 1 || added.length !== 1) return null;
  const [before = '', after = ''] = [removed[0], added[0]].map((text) => quoteCode(text ?? ''));
  const place = `${touch.path}:${change.newLine}`;
  const isNearFailure = isFailingNear(touch.path, findChangedRange(change), subject);
  return {
    cause: `${by} changed \`${before}\` to \`${after}\` in ${place}.`,
    fix: isNearFailure
      ? `Restore \`${before}\` in ${place}, or correct \`${after}\`. ${by} changed it.`
      : null,
  };
}

/** Lists the changes of the line; if there are none, those near it, nearest first. */
function sortByDistance(touch: Touch, line: number | null): readonly LineChange[] {
  const { changes } = touch;
  const near = listNearChanges(touch, line).filter(altersCode);
  if (line === null || near.length > 0) return near.length > 0 ? near : changes;
  const distance = ({ newLine }: LineChange) => Math.abs(newLine - line);
  const around = changes.filter((change) => distance(change) <= SAME_PLACE);
  return around.toSorted((left, right) => distance(left) - distance(right));
}

function quoteCode(line: string): string {
  return toOneLine(line.replaceAll('`', "'"), MAX_QUOTED);
}
