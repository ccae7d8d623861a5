import type { BuildEnvironment, InvolvedArtifact } from '../../domain/environment.ts';
import type { Excerpt, LogPosition } from '../../domain/failure.ts';
import { takeFirstOfEach } from '../../lib/collections.ts';
import type { Extraction } from '../extract/extraction.ts';
import type { LogText } from '../lines/lines.ts';
import type { Structure } from '../sections.ts';
import { ARTIFACT_LITERALS, type Artifact, readArtifacts } from './artifacts.ts';
import { CHANGE_LITERALS, readChanges } from './changes.ts';
import { CONFLICT_LITERALS, readConflicts } from './conflicts.ts';
import { findOwners } from './owners.ts';
import { RECORD_LITERALS } from './record-rows.ts';
import { RUNTIME_LITERALS, readRuntimes } from './runtimes.ts';
import { readStoppedRun, STOP_LITERALS } from './stopped-run.ts';

/** The literals that this reader needs, in groups. */
export const ENVIRONMENT_LITERALS: readonly (readonly string[])[] = [
  RUNTIME_LITERALS,
  ARTIFACT_LITERALS,
  CONFLICT_LITERALS,
  CHANGE_LITERALS,
  RECORD_LITERALS,
  STOP_LITERALS,
];

/** The group of {@link ENVIRONMENT_LITERALS} whose lines `readRecord` reads. */
export const RECORD_GROUP = 4;

/** Messages of failures that a version conflict explains. */
const IS_CONFLICT = /enforcer|convergence|upper bound|requires Jenkins|could not resolve|conflict/i;
const MAX_BOMS = 3;

/**
 * Reads the versions that the failed step used, if the findings in `found` may be about them. `hits` holds
 * the lines of each group of {@link ENVIRONMENT_LITERALS}.
 */
export function readEnvironment(
  log: LogText,
  hits: readonly (readonly number[])[],
  found: Extraction,
  structure: Structure,
): BuildEnvironment {
  const [ofRuntimes = [], ofArtifacts = [], ofConflicts = [], ofChanges = [], , ofStops = []] = hits;
  const at = (line: number): LogPosition => ({ source: log.name, line });
  const artifacts = ofArtifacts.length === 0 ? [] : readArtifacts(log, ofArtifacts);
  const involved = findInvolved(log, ofConflicts, found, artifacts);
  const stopped = readStoppedRun(log, ofStops, structure);
  return {
    runtimes: readRuntimes(log, ofRuntimes, found).map(({ tool, version, line }) => ({
      tool,
      version,
      at: at(line),
    })),
    artifacts: involved,
    boms:
      involved.length === 0
        ? []
        : findBoms(artifacts, involved).map((bom) => ({
            name: formatArtifactName(bom),
            version: bom.version,
            at: at(bom.line),
          })),
    changes: readChanges(log, ofChanges),
    ...(stopped === null ? {} : { stopped }),
  };
}

/** Merges the environments that were read from several logs of one build. */
export function joinEnvironments(all: readonly BuildEnvironment[]): BuildEnvironment {
  const stopped = all.find((environment) => environment.stopped !== undefined)?.stopped;
  return {
    runtimes: all.flatMap(({ runtimes }) => runtimes),
    artifacts: all.flatMap(({ artifacts }) => artifacts),
    boms: all.flatMap(({ boms }) => boms),
    changes: all.flatMap(({ changes }) => changes),
    ...(stopped === undefined ? {} : { stopped }),
  };
}

/** Tells whether the logs show no relevant version, and the run was not stopped. */
export function isEmptyEnvironment({ runtimes, artifacts, changes, stopped }: BuildEnvironment): boolean {
  return runtimes.length + artifacts.length + changes.length === 0 && stopped === undefined;
}

/** Quotes the lines that show the versions, except lines that an excerpt already contains. */
export function quoteEnvironment(
  environment: BuildEnvironment,
  logs: readonly LogText[],
  present: readonly Excerpt[],
): Excerpt[] {
  const { runtimes, artifacts, boms, changes } = environment;
  const wanted = [
    ...runtimes.map(({ tool, at }) => ({ at, reason: `version of ${tool}` })),
    ...changes.flatMap(({ name, at }) => (at === null ? [] : [{ at, reason: `change of ${name}` }])),
    ...[...artifacts, ...boms].map(({ name, at }) => ({ at, reason: `version of ${name}` })),
    ...artifacts.flatMap(({ needs }) =>
      needs === null ? [] : [{ at: needs.at, reason: `conflict over ${needs.name}` }],
    ),
  ];
  const excerpts: Excerpt[] = [];
  for (const { at, reason } of wanted) {
    const { source, line } = at;
    const isShown = [...present, ...excerpts].some(
      (section) => section.source === source && section.lineStart <= line && line <= section.lineEnd,
    );
    const text =
      logs
        .find(({ name }) => name === source)
        ?.line(line)
        .slice(0, 1000) ?? '';
    if (!isShown && text !== '')
      excerpts.push({ source, lineStart: line, lineEnd: line, text, reason, weight: 1 });
  }
  return excerpts;
}

function findInvolved(
  log: LogText,
  lines: readonly number[],
  found: Extraction,
  artifacts: readonly Artifact[],
): InvolvedArtifact[] {
  const at = (line: number): LogPosition => ({ source: log.name, line });
  const texts = [
    ...found.messages.map(({ text }) => text),
    ...found.diagnostics.map(({ message }) => message),
  ];
  const conflicts =
    lines.length > 0 && texts.some((text) => IS_CONFLICT.test(text)) ? readConflicts(log, lines) : [];
  if (conflicts.length > 0)
    return conflicts.map(({ artifact, of, needed, used, line }) => ({
      name: formatArtifactName(artifact),
      version: artifact.version,
      at: at(artifact.line),
      symbol: null,
      siblings: [],
      needs: { name: of, version: needed, used, at: at(line) },
    }));
  return findOwners(log, found, artifacts).map(({ artifact, symbol, siblings }) => ({
    name: formatArtifactName(artifact),
    version: artifact.version,
    at: at(artifact.line),
    symbol,
    needs: null,
    siblings: siblings.map(({ name, version }) => ({ name, version })),
  }));
}

/** Returns the bills of materials whose group has a term in common with the groups of the artifacts. */
function findBoms(artifacts: readonly Artifact[], involved: readonly InvolvedArtifact[]): Artifact[] {
  const words = new Set(
    involved.flatMap(({ name, needs }) => [...groupWords(name), ...groupWords(needs?.name ?? '')]),
  );
  const boms = artifacts.filter(
    ({ group, name }) =>
      /(?:^|-)bom(?:-|$)|-dependencies$/.test(name) && groupWords(group).some((word) => words.has(word)),
  );
  // The build's own bills of materials precede those that they import.
  return takeFirstOfEach(boms, formatArtifactName).slice(0, MAX_BOMS);
}

/** Lists the words of a group that distinguish projects. */
function groupWords(name: string): string[] {
  return (name.split(':')[0] ?? '')
    .split(/[.-]/)
    .filter((word) => word.length > 3 && !/^(?:apache|github|cloud|plugins|tools)$/.test(word));
}

function formatArtifactName({ group, name }: Artifact): string {
  return group === '' ? name : `${group}:${name}`;
}
