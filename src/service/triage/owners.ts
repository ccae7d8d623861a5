import { randomUUID } from 'node:crypto';
import type { Analysis, Suspect } from '../../domain/analysis.ts';
import type { Build } from '../../domain/build.ts';
import type { Category } from '../../domain/category.ts';
import type { Owner } from '../../domain/cause.ts';
import type { TriageSubject } from '../../domain/triage.ts';
import { append } from '../../lib/collections.ts';
import { limitTime } from '../../lib/resilience.ts';
import { getProjectPath } from '../../log/paths.ts';
import type { CodeHost } from '../../ports/code-host.ts';
import type { Logger } from '../../ports/telemetry.ts';
import type { Toolbox } from '../../ports/toolbox.ts';
import {
  type CodeOwnersForm,
  detectCodeOwnersForm,
  listPlacesOfCodeOwners,
  MAX_CHARACTERS,
  MAX_LINES,
} from '../../providers/code-owners.ts';
import { createMemory } from '../../providers/memory.ts';
import { createOwnersThread, type OwnersThread } from '../../providers/owners-thread.ts';

/**
 * A function that finds the owner of a failure. It never throws if a host does not respond, because an answer
 * without an owner is better than none.
 */
export type OwnerFinder = (
  subject: TriageSubject,
  found: { readonly category: Category; readonly suspects: readonly Suspect[] },
  signal: AbortSignal,
) => Promise<Pick<Analysis, 'owner' | 'fileOwners'>>;

/** The default limit in milliseconds for finding the owner. */
const LIMIT_MS = 5_000;
/** The share of the remaining time for CODEOWNERS. The rest is for finding the last author of the line. */
const RULES_SHARE = 0.8;
const KEPT_MS = 5 * 60_000;
const MAX_FILES = 5;
const WINDOW = 200;

export interface OwnerFinderOptions {
  readonly breakers?: Toolbox['breakers'];
  readonly askThread?: OwnersThread;
  readonly limitMs?: number;
}

type Place = Pick<Suspect, 'path' | 'line' | 'commit' | 'author'> & { readonly as?: string };
/** The part of a CODEOWNERS file that was read. */
interface RulesFile {
  readonly file: string;
  readonly key: string;
  readonly form: CodeOwnersForm;
  readonly lines: readonly string[];
  /** The reason why the rest was not read; null if all was. */
  readonly cut: string | null;
}
type Owned = (path: string) => { readonly names: readonly string[]; readonly at: string } | null;

/**
 * Creates the owner finder. It uses CODEOWNERS of the default branch, so that a change cannot name its own
 * owners, for the first suspect or else the files of failing tests and stack frames. If there is none, the
 * owner is the suspect's author or the last author of the line or file. An infrastructure failure belongs to
 * those whom CODEOWNERS names for the file of the pipeline, if it names any. If tools found the
 * host unavailable, it is not called.
 */
export function createOwnerFinder(
  codeHost: CodeHost,
  logger: Pick<Logger, 'warn'>,
  options: OwnerFinderOptions = {},
): OwnerFinder {
  const { breakers, askThread = createOwnersThread(), limitMs = LIMIT_MS } = options;
  const known = createMemory<RulesFile | null>(100);
  const warned = new WeakSet<RulesFile>();
  const rulesFor = ({ repository, provider }: Build, signal: AbortSignal) =>
    known.recall(`${provider} ${repository}`, {
      signal,
      lifeMs: () => KEPT_MS,
      ask: () => readRules(codeHost, repository, provider, signal),
    });
  /** Finds owners by the rules of the repository, as far as they can be read and matched in time. */
  const findOwned = async (
    build: Build,
    paths: readonly string[],
    { signal, limitMs }: { readonly signal: AbortSignal; readonly limitMs: number },
  ): Promise<Owned> => {
    const { repository } = build;
    if (paths.length === 0) return () => null;
    try {
      return await limitTime({ limitMs, signal }, async (limit): Promise<Owned> => {
        const read = await rulesFor(build, limit);
        if (read === null) return () => null;
        const { file, cut } = read;
        const { owned, problems } = await askThread({ ...read, paths }, limit);
        const left = cut === null ? problems : [...problems, { line: read.lines.length + 1, why: cut }];
        if (left.length > 0 && !warned.has(read))
          logger.warn({ repository, file, problems: left }, 'lines of CODEOWNERS were left out');
        warned.add(read);
        const byPath = new Map(paths.map((path, at) => [path, owned[at] ?? null]));
        return (path) => {
          const found = byPath.get(path) ?? null;
          return found === null ? null : { names: found.names, at: `${file}:${found.line}` };
        };
      });
    } catch (error) {
      signal.throwIfAborted();
      logger.warn(
        { repository, error },
        'CODEOWNERS was not used: reading or matching it failed or took too long',
      );
      return () => null;
    }
  };
  const find = async (
    subject: TriageSubject,
    { category, suspects }: Parameters<OwnerFinder>[1],
    signal: AbortSignal,
    timeLeftMs: () => number,
  ): ReturnType<OwnerFinder> => {
    const { build } = subject;
    if (!(await codeHost.canRead(build.repository))) return {};
    const named = await findNamedPlaces(subject, codeHost, signal);
    const asked = [...suspects.slice(0, MAX_FILES), ...named];
    const isInfrastructure = category === 'INFRA_ERROR';
    const pipeline = isInfrastructure ? [createPipelinePlace(build.provider)] : [];
    const paths = [...new Set([...asked, ...pipeline].map(({ path }) => path))];
    const owned = await findOwned(build, paths, { signal, limitMs: RULES_SHARE * timeLeftMs() });
    const files = asked.flatMap((place) => findOwnersByRules(place, owned));
    const fileOwners = [...new Map(files.map((file) => [`${file.path} ${file.as}`, file])).values()];
    const places = isInfrastructure ? pipeline : [...suspects.slice(0, 1), ...named];
    const [first] = places.flatMap((place) => findOwnersByRules(place, owned));
    const [place] = isInfrastructure ? [] : places;
    const owner =
      first ?? (place === undefined ? null : await findOwnerByLastChange(place, build, codeHost, signal));
    return { ...(owner !== null && { owner }), ...(fileOwners.length > 0 && { fileOwners }) };
  };
  return async (subject, found, signal) => {
    if (breakers?.()[`code-host:${codeHost.driver}`] === 'open') return {};
    try {
      return await limitTime({ limitMs, signal }, (limit, timeLeftMs) =>
        find(subject, found, limit, timeLeftMs),
      );
    } catch (error) {
      signal.throwIfAborted();
      logger.warn({ buildId: subject.build.id, error }, 'no owner was found');
      return {};
    }
  };
}

/** The usual path of the file that configures a pipeline. It has owners even if it does not exist. */
const PIPELINE_FILES: Readonly<Record<string, string>> = {
  gitlab: '.gitlab-ci.yml',
  gitea: '.gitea/workflows/ci.yml',
  jenkins: 'Jenkinsfile',
  buildkite: '.buildkite/pipeline.yml',
  circleci: '.circleci/config.yml',
  azure: 'azure-pipelines.yml',
};
const USUAL_PIPELINE_FILE = '.github/workflows/ci.yml';

function createPipelinePlace(provider: string): Place {
  const path = PIPELINE_FILES[provider] ?? USUAL_PIPELINE_FILE;
  return { path, line: null, commit: null, author: null };
}

async function readRules(
  codeHost: CodeHost,
  repository: string,
  provider: string,
  signal: AbortSignal,
): Promise<RulesFile | null> {
  for (const file of listPlacesOfCodeOwners(provider)) {
    const query = { repository, ref: null, path: file };
    const first = await codeHost.readFile({ ...query, lineStart: 1, lineEnd: WINDOW }, signal);
    if (first === null) continue;
    const lines: string[] = [];
    let [left, isCut] = [MAX_CHARACTERS, false];
    for (let window: typeof first | null = first; window !== null && window.lines.length > 0; ) {
      const fitting = countFitting(window.lines, left);
      append(lines, window.lines.slice(0, fitting));
      isCut = fitting < window.lines.length || (lines.length >= MAX_LINES && lines.length < first.totalLines);
      if (isCut || lines.length >= first.totalLines) break;
      left = MAX_CHARACTERS - lines.reduce((sum, { length }) => sum + length + 1, 0);
      window = await codeHost.readFile(
        { ...query, lineStart: lines.length + 1, lineEnd: lines.length + WINDOW },
        signal,
      );
    }
    const cut = isCut
      ? `the file is longer than ${MAX_LINES} lines or ${MAX_CHARACTERS / 1_000} KB; the rest is not read`
      : null;
    return { file, key: randomUUID(), lines, form: detectCodeOwnersForm(provider, file, lines), cut };
  }
  return null;
}

/** Counts how many of the first lines fit into `characters`. */
function countFitting(lines: readonly string[], characters: number): number {
  let left = characters;
  const first = lines.findIndex(({ length }) => {
    left -= length + 1;
    return left < 0;
  });
  return first === -1 ? lines.length : first;
}

function findOwnersByRules({ path, as }: Place, owned: Owned): Owner[] {
  const found = owned(path);
  return found === null
    ? []
    : [{ path, ...(as !== undefined && { as }), names: [...found.names], by: 'codeowners', at: found.at }];
}

/**
 * Finds up to five files of the failing tests and of the project's own stack frames. A file is found if its
 * path exists in the repository, or is the end of exactly one path.
 */
async function findNamedPlaces(
  { build, failingTests, failures }: TriageSubject,
  codeHost: CodeHost,
  signal: AbortSignal,
): Promise<Place[]> {
  const frames = failures.flatMap((failure) => failure.frames.filter(({ own }) => own));
  const named = [...failingTests, ...frames].flatMap(({ file, line }) =>
    file === null ? [] : [{ file, line }],
  );
  const places: Place[] = [];
  for (const { file, line } of named
    .filter((place, at) => named.findIndex((other) => other.file === place.file) === at)
    .slice(0, MAX_FILES)) {
    const suffix = getProjectPath(file).replaceAll('\\', '/');
    const paths = await codeHost
      .findFiles({ repository: build.repository, ref: build.commit, suffix, limit: 2 }, signal)
      .catch((): string[] => []);
    const [path] = paths.includes(suffix) ? [suffix] : paths.length === 1 ? paths : [];
    if (path !== undefined)
      places.push({ path, line, commit: null, author: null, ...(path !== file && { as: file }) });
  }
  return places;
}

async function findOwnerByLastChange(
  place: Place,
  build: Build,
  codeHost: CodeHost,
  signal: AbortSignal,
): Promise<Owner | null> {
  const { repository, commit: ref } = build;
  const { path, line } = place;
  const of = (author: string | null, commit: string | null): Owner | null => {
    const name = author?.split('@', 1)[0]?.trim().slice(0, 100) ?? '';
    return name === '' || name.endsWith('[bot]')
      ? null
      : { path, names: [name], by: 'last-change', at: commit };
  };
  const suspected = of(place.author, place.commit);
  if (suspected !== null) return suspected;
  const blamed =
    line === null
      ? []
      : await codeHost
          .blame({ repository, ref, path, lineStart: line, lineEnd: line }, signal)
          .catch(() => []);
  const changes = [...blamed, ...(await codeHost.history({ repository, ref, path, limit: 5 }, signal))];
  return changes.map(({ author, commit }) => of(author, commit)).find((owner) => owner !== null) ?? null;
}
