import type { Act, Analysis, Claim } from '../../domain/analysis.ts';
import type { Evidence } from '../../domain/evidence.ts';
import type { TriageSubject } from '../../domain/triage.ts';
import {
  advisePin,
  describeSinceGreen,
  findExplaining,
  formatVersionChange,
  type VersionChange,
  type VersionChanges,
} from '../../domain/version-changes.ts';
import { shortenTitle } from '../../log/title.ts';

/**
 * Adds the changes since the last passing run to an answer. A change that explains the failure comes first in
 * the title, the cause and the advice, with the list as evidence.
 */
export function withVersionChanges(
  analysis: Analysis,
  { changes }: Pick<TriageSubject, 'changes'>,
): Analysis {
  if (changes === undefined) return analysis;
  const explaining = findExplaining(changes);
  const listed = { ...analysis, changes };
  if (explaining === null || analysis.terminationReason === 'failed') return listed;
  const { answer, evidence } = analysis;
  const item = listAsEvidence(changes, evidence.length + 1);
  const stated = describeSinceGreen(explaining, changes);
  const claim: Claim = { text: stated, evidence: [item.id], quotes: [] };
  const short = formatVersionChange({ ...explaining, chosenBy: null });
  return {
    ...listed,
    evidence: [...evidence, item],
    answer: {
      ...answer,
      title: shortenTitle(`${short}: ${answer.title}`),
      rootCause: `${stated} ${answer.rootCause}`,
      fixRecommendation: advisePin(explaining),
      act: actOn(explaining),
      transient: Math.min(answer.transient ?? 0, UNLIKELY),
      claims: [claim, ...answer.claims],
    },
  };
}

/** The probability that a rerun of the same commit passes if a changed version is the cause. */
const UNLIKELY = 0.05;

const SET_UP: ReadonlySet<VersionChange['kind']> = new Set([
  'env',
  'image',
  'action',
  'service',
  'tool',
  'os',
]);

function actOn({ kind }: VersionChange): Act {
  return SET_UP.has(kind) ? 'configuration' : 'dependency';
}

function listAsEvidence({ since, changes, more, isSameCommit }: VersionChanges, number: number): Evidence {
  const green = since === null ? 'the green build' : `build ${since.number}`;
  const rest = more === 0 ? [] : [`and ${more} more`];
  return {
    id: `E${number}`,
    tool: 'changed_since_green',
    title: `What changed since ${green}${isSameCommit ? ' that is not in the diff' : ''}`,
    text: [...changes.map(formatVersionChange), ...rest].join('\n'),
    source: 'environment',
    ...(since?.url == null ? {} : { url: since.url }),
  };
}
