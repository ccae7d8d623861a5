import type { Claim } from '../../domain/analysis.ts';
import type { InvolvedArtifact } from '../../domain/environment.ts';
import type { Evidence } from '../../domain/evidence.ts';
import type { LogPosition } from '../../domain/failure.ts';
import { listEvidenceFrom } from '../../domain/finding-data.ts';
import type { TriageSubject } from '../../domain/triage.ts';
import { changeIn } from '../../log/environment/changes.ts';
import { quoteLine } from '../wording.ts';
import { readManifestChanges } from './manifest-diff.ts';

/** A dependency that was changed to another version, and the source of that information. */
export interface Upgrade {
  readonly name: string;
  readonly from: string | null;
  readonly to: string;
  /** The line of the log that announces it. Null if it is known from the branch or the code. */
  readonly at: LogPosition | null;
  /** The evidence that shows the change in the code. Null if it is known from the log or the branch. */
  readonly evidenceId: string | null;
}

/** A sentence with the lines of its values. */
export interface Stated {
  readonly text: string;
  readonly at: readonly LogPosition[];
}

const [MAX_UPGRADES, MAX_ARTIFACTS] = [3, 3];

/**
 * Returns the dependencies that the build changed: according to its code if that was read, or else according
 * to the log or the branch.
 */
export function findUpgrades(
  { environment, build }: Pick<TriageSubject, 'environment' | 'build'>,
  evidence: readonly Evidence[],
): Upgrade[] {
  const inCode = listEvidenceFrom(evidence, ['changed_since_green', 'read_commit_diff']).flatMap(
    ({ item: { id, text }, data }) =>
      readManifestChanges(data.path ?? '', text).map((change) => ({ ...change, at: null, evidenceId: id })),
  );
  const inLog = (environment?.changes ?? []).map((change) => ({ ...change, evidenceId: null }));
  const inBranch = [changeIn(build.branch ?? '') ?? []]
    .flat()
    .map((change) => ({ ...change, at: null, evidenceId: null }));
  const involved = (environment?.artifacts ?? []).flatMap(({ name, siblings }) => [
    name,
    ...siblings.map((sibling) => sibling.name),
  ]);
  const isInvolved = ({ name }: Upgrade) =>
    involved.some((other) => getBareName(other) === getBareName(name));
  const all = [inCode, inLog, inBranch].find((found) => found.length > 0) ?? [];
  return all
    .toSorted((left, right) => Number(isInvolved(right)) - Number(isInvolved(left)))
    .slice(0, MAX_UPGRADES);
}

/** States the change: "This build changes lodash from 4.17.21 to 5.0.0." */
export function stateUpgrade({ name, from, to, at }: Upgrade): Stated {
  return {
    text: `This build changes ${name} ${from === null ? '' : `from ${from} `}to ${to}.`,
    at: at === null ? [] : [at],
  };
}

/** States how each involved artifact is related to the failure, the likeliest first. */
export function stateArtifacts({ environment }: Pick<TriageSubject, 'environment'>): Stated[] {
  const { artifacts = [], boms = [] } = environment ?? {};
  const needing = artifacts.filter(({ needs }) => needs !== null);
  const stated = needing.length > 0 ? needing.slice(0, MAX_ARTIFACTS).map(stateNeed) : stateOwners(artifacts);
  if (stated.length === 0 || boms.length === 0) return stated;
  const named = boms.map(({ name, version }) => `${name} ${version}`).join(' and ');
  const managed = { text: `Versions may come from ${named}.`, at: boms.map(({ at }) => at) };
  return needing.length > 0 ? [...stated, managed] : stated;
}

function stateNeed({ name, version, at, needs }: InvolvedArtifact): Stated {
  const lines =
    needs === null || (needs.at.source === at.source && needs.at.line === at.line) ? [at] : [needs.at, at];
  const other = needs?.used == null ? ' or newer' : `, but the build has ${needs.used}`;
  // A version that the build itself declares conflicts with what others need.
  if (needs?.name === name) return { text: `${name} is declared as ${version}${other}.`, at: lines };
  return { text: `${name} ${version} needs ${needs?.name} ${needs?.version}${other}.`, at: lines };
}

/** States for each name in the failure which artifact it belongs to. */
function stateOwners(artifacts: readonly InvolvedArtifact[]): Stated[] {
  const bySymbol = Map.groupBy(artifacts, ({ symbol }) => symbol ?? '');
  return [...bySymbol].map(([symbol, owners]) => {
    const named = owners.map(({ name, version }) => `${name} ${version}`).join(' or ');
    const known = new Set(artifacts.map(({ name }) => getBareName(name)));
    const beside = (owners[0]?.siblings ?? []).filter(({ name }) => !known.has(name.toLowerCase()));
    const group =
      beside.length === 0
        ? ''
        : ` From the same group, the build also has ${beside.map(({ name, version }) => `${name} ${version}`).join(', ')}.`;
    const moved = symbol.startsWith('javax.')
      ? `; later versions call it ${symbol.replace('javax.', 'jakarta.')}`
      : '';
    return { text: `${symbol} belongs to ${named}${moved}.${group}`, at: owners.map(({ at }) => at) };
  });
}

/** Converts a sentence to a claim. Returns null if no evidence contains any of its lines. */
export function claimStated({ text, at }: Stated, evidence: readonly Evidence[]): Claim | null {
  const quotations = at.flatMap(({ source, line }) => quoteLine(source, line, evidence) ?? []);
  if (quotations.length === 0) return null;
  return {
    text,
    evidence: [...new Set(quotations.map(({ evidenceId }) => evidenceId))],
    quotes: quotations.map(({ quote }) => quote),
  };
}

function getBareName(name: string): string {
  return (name.split(':').at(-1) ?? name).toLowerCase();
}
