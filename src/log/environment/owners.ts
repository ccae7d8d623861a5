import { compareVersions } from '../../lib/versions.ts';
import type { Extraction } from '../extract/extraction.ts';
import { type LogText, listLinesBetween } from '../lines/lines.ts';
import type { Artifact } from './artifacts.ts';

/** An artifact that owns a name the failure is about. */
export interface Owner {
  readonly artifact: Artifact;
  /** The name as the log prints it: "org.flywaydb.core.Flyway". */
  readonly symbol: string;
  /** Other artifacts of its group that the build used. Those with another version come first. */
  readonly siblings: readonly Artifact[];
}

interface Name {
  readonly text: string;
  readonly parts: readonly string[];
}

/**
 * The maximum numbers of findings that are read, of lines below a diagnostic, of frames below an exception,
 * of owners, of owners of one name, and of siblings.
 */
const [MAX_FINDINGS, DETAIL_LINES, MAX_FRAMES, MAX_OWNERS, MAX_OWNERS_EACH, MAX_SIBLINGS] = [
  20, 5, 12, 4, 2, 4,
];
/** The minimum score of an owner, as a share of the best score. */
const NEARLY_BEST = 0.75;

const QUALIFIED = /(?<![\w/.$-])(?:[a-z][a-z\d_]{0,40}[./]){1,10}[A-Z]\w{0,80}(?![\w:/-])/g;
const MISSING_PACKAGE = /\bpackage ([\w.]{3,200}) does not exist/;
const FRAME = /^\s{0,12}at (?:[\w.-]{1,60}\/{1,2})?((?:[a-z][\w]{0,40}\.){1,10}[A-Z]\w{0,80})/;
/** Packages of the JVM itself. javax also matches packages that moved to jakarta; see `JAVAX`. */
const PLATFORM = /^(?:javax?|jdk|sun|com\.sun\.(?:proxy|tools|management)|worker|app)\./;
/** Packages that run tests. They are in every trace. */
const HARNESS = new RegExp(
  String.raw`^(?:org\.junit|junit|org\.apache\.maven\.surefire|org\.opentest4j|` +
    String.raw`com\.intellij|org\.gradle|org\.mockito\.junit)\b`,
);
const JAVAX = new RegExp(
  '^javax[./](?=(?:jws|ws|xml[./](?:bind|ws|soap)|servlet|persistence|validation|' +
    'inject|enterprise|annotation|mail|activation|transaction|ejb|faces|json|el|' +
    String.raw`interceptor|mvc|jms|batch|security[./]enterprise)\b)`,
);
const OWN_FILE = /(?:^|\/)src\/[\w-]{1,40}\/(?:java|kotlin|scala|groovy)\/(.{1,300})\/[^/]{1,200}$/;

/**
 * Finds the artifacts in the log that own the classes and packages that JVM tools report as missing or
 * changed. The likeliest comes first.
 */
export function findOwners(log: LogText, found: Extraction, artifacts: readonly Artifact[]): Owner[] {
  const jars = keepNewestOfEach(
    artifacts.filter(({ ecosystem, isUsed, name }) => ecosystem === 'maven' && isUsed && !isPlugin(name)),
  );
  if (jars.length === 0) return [];
  const packages = listOwnPackages(found);
  const isForeign = ({ text, parts }: Name) =>
    !PLATFORM.test(`${parts.join('.')}.`) && !packages.some((prefix) => text.startsWith(prefix));
  const owners = matchOwners(listStatedNames(log, found).filter(isForeign), jars);
  if (owners.length > 0) return owners;
  return matchOwners(
    listFrameNames(log, found).filter((name) => isForeign(name) && !HARNESS.test(name.text)),
    jars,
  );
}

/**
 * Returns the owners of the names, in the order of the names, up to a limit. An artifact is returned with the
 * first name that it owns.
 */
function matchOwners(names: readonly Name[], jars: readonly Artifact[]): Owner[] {
  const owners = new Map<Artifact, Owner>();
  for (const { text, parts } of names) {
    const rated = jars
      .map((artifact) => ({ artifact, score: rateOwner(artifact, parts) }))
      .sort((left, right) => right.score - left.score);
    const top = rated[0]?.score ?? 0;
    for (const { artifact, score } of rated.slice(0, MAX_OWNERS_EACH))
      if (score > 0 && score >= top * NEARLY_BEST && !owners.has(artifact))
        owners.set(artifact, { artifact, symbol: text, siblings: listSiblings(artifact, jars) });
    if (owners.size >= MAX_OWNERS) break;
  }
  return [...owners.values()].slice(0, MAX_OWNERS);
}

/** Returns the qualified names in the messages of compilers and exceptions. */
function listStatedNames(log: LogText, found: Extraction): Name[] {
  const errors = found.diagnostics.filter(({ severity }) => severity === 'error').slice(0, MAX_FINDINGS);
  return [
    ...errors.flatMap(({ message, at }) => [message, ...(at === null ? [] : readDetailsBelow(log, at.line))]),
    ...found.exceptions
      .slice(0, MAX_FINDINGS)
      .map(({ type, message }) => (HARNESS.test(type) ? message : `${type}: ${message}`)),
    ...found.messages.slice(0, MAX_FINDINGS).map(({ text }) => text),
  ].flatMap(listNamesIn);
}

/** Returns the names in the stack frames below the exceptions. */
function listFrameNames(log: LogText, { exceptions }: Extraction): Name[] {
  const lines = exceptions
    .slice(0, MAX_FINDINGS)
    .flatMap(({ at }) => (at === null ? [] : listLinesBetween(log, at.line + 1, at.line + MAX_FRAMES)));
  return lines.flatMap((text) => listNamesIn(FRAME.exec(text)?.[1] ?? ''));
}

function listNamesIn(text: string): Name[] {
  const missing = MISSING_PACKAGE.exec(text)?.[1];
  const all = missing === undefined ? (text.match(QUALIFIED) ?? []) : [missing];
  return all.map((name) => {
    const text = name.replaceAll('/', '.');
    return { text, parts: text.replace(JAVAX, 'jakarta.').toLowerCase().split('.') };
  });
}

/** Reads the "symbol:" and "location:" lines below a diagnostic of javac. */
function readDetailsBelow(log: LogText, line: number): string[] {
  return listLinesBetween(log, line + 1, line + DETAIL_LINES).filter((text) =>
    /^(?:\[ERROR\])?\s{1,12}(?:symbol|location|class file|bad class file|reason|required|found)\b/.test(text),
  );
}

/** Returns the first packages of the files that failed to compile and of the tests that failed. */
function listOwnPackages({ diagnostics, failingTests }: Extraction): string[] {
  const files = diagnostics.flatMap(({ file }) => OWN_FILE.exec(file ?? '')?.[1]?.replaceAll('/', '.') ?? []);
  const suites = failingTests.flatMap(({ suite, name }) =>
    [suite ?? '', name].filter((text) => /^(?:[a-z]\w*\.){2,}/.test(text)),
  );
  return [...new Set([...files, ...suites].map((name) => name.split('.').slice(0, 3).join('.')))].filter(
    (name) => /^[a-z]\w*\.[a-z]/.test(name),
  );
}

/**
 * Groups that many unrelated projects publish under. They identify an owner only together with another part
 * of the name.
 */
const SHARED_GROUP = new RegExp(
  String.raw`^(?:org\.apache|com\.google|com\.github|io\.github|org\.eclipse|org\.codehaus|` +
    String.raw`org\.jenkins|io\.jenkins|org\.jboss|com\.sun)$`,
);

/**
 * Rates how well the parts of a qualified name fit an artifact's group and name. Returns 0 if the artifact
 * cannot own the name.
 */
function rateOwner({ group, name }: Artifact, parts: readonly string[]): number {
  const groupParts = group.toLowerCase().split('.');
  let common = 0;
  while (common < groupParts.length && groupParts[common] === parts[common]) common++;
  const words = name
    .toLowerCase()
    .split(/[-._]/)
    .filter((word) => word.length > 1 && !/^\d/.test(word));
  const hits = words.filter((word) =>
    parts.some(
      (part) =>
        part === word || (word.length > 3 && part.includes(word)) || (part.length > 3 && word.includes(part)),
    ),
  ).length;
  const isWhole = common === groupParts.length && common >= 2;
  const isOwners = parts.includes(groupParts.at(-1) ?? '') && parts.includes(name.toLowerCase());
  const isNamed = words.length > 0 && hits === words.length && (common >= 2 || words.length >= 2 || isOwners);
  if (!isWhole && !isNamed && common < 3) return 0;
  if (common === 2 && hits === 0 && SHARED_GROUP.test(groupParts.slice(0, 2).join('.'))) return 0;
  return common + (isWhole ? 1 : 0) + 1.5 * hits - 0.4 * (words.length - hits);
}

function isPlugin(name: string): boolean {
  return /^maven-|-maven-plugin$|^surefire|^plexus-(?:compiler|container|interpolation|component)/.test(name);
}

/** Keeps the last download of each artifact, which is the one that the failed step used. */
function keepNewestOfEach(artifacts: readonly Artifact[]): Artifact[] {
  const last = new Map<string, Artifact>();
  for (const artifact of artifacts.toSorted((left, right) => left.line - right.line))
    last.set(`${artifact.group}:${artifact.name}`, artifact);
  return [...last.values()];
}

/** Returns other artifacts of the group: those with another version first, newest version first. */
function listSiblings({ group, name, version }: Artifact, all: readonly Artifact[]): Artifact[] {
  const siblings = all.filter((artifact) => artifact.group === group && artifact.name !== name);
  const rank = (artifact: Artifact) => Number(artifact.version === version);
  return siblings
    .toSorted((left, right) => rank(left) - rank(right) || compareVersions(right.version, left.version))
    .slice(0, MAX_SIBLINGS);
}
