import type { Analysis, Suspect } from '../../domain/analysis.ts';
import type { Build } from '../../domain/build.ts';
import type { Category } from '../../domain/category.ts';
import type { Owner } from '../../domain/cause.ts';
import type { TriageSubject } from '../../domain/triage.ts';
import { orAborted } from '../../lib/time.ts';
import { projectPath } from '../../log/paths.ts';
import type { CodeHost } from '../../ports/code-host.ts';
import type { Logger } from '../../ports/telemetry.ts';
import type { Toolbox } from '../../ports/toolbox.ts';
import { type CodeOwners, formOfCodeOwners, MAX_LINES, parseCodeOwners, placesOfCodeOwners } from '../../providers/code-owners.ts';
import { createMemory } from '../../providers/memory.ts';

/** Whose a failure is. Never throws for what a host does not answer: an answer without an owner is better than none. */
export type OwnerFinder = (
  subject: TriageSubject,
  found: { readonly category: Category; readonly suspects: readonly Suspect[] },
  signal: AbortSignal,
) => Promise<Pick<Analysis, 'owner' | 'fileOwners'>>;

/** So long the answer may wait for its owner, in milliseconds. */
const LIMIT_MS = 3_000;
const KEPT_MS = 5 * 60_000;
const MAX_FILES = 5;
const WINDOW = 200;

type Place = Pick<Suspect, 'path' | 'line' | 'commit' | 'author'> & { readonly as?: string };
interface Rules {
  readonly file: string;
  readonly rules: CodeOwners;
}

/**
 * CODEOWNERS of the default branch, so that a change cannot name its own owners, for the first suspect, else for the failing tests; else
 * who changed the faulty line last. What fails for want of machines is nobody's. Where the tools have found the host away, it is not asked.
 */
export function createOwnerFinder(
  codeHost: CodeHost,
  logger: Pick<Logger, 'warn'>,
  breakers: Toolbox['breakers'] = () => ({}),
): OwnerFinder {
  const known = createMemory<Rules | null>(500);
  const rulesFor = ({ repository, provider }: Build, signal: AbortSignal) =>
    known.recall(`${provider} ${repository}`, {
      signal,
      lifeMs: () => KEPT_MS,
      ask: async () => {
        const read = await readRules(codeHost, repository, provider, signal);
        const problems = read?.rules.problems ?? [];
        if (problems.length > 0) logger.warn({ repository, file: read?.file, problems }, 'lines of CODEOWNERS were left out');
        return read;
      },
    });
  const find: OwnerFinder = async (subject, { category, suspects }, signal) => {
    const { build } = subject;
    if (!(await codeHost.canRead(build.repository))) return {};
    const [read, named] = [await rulesFor(build, signal), await namedPlaces(subject, codeHost, signal)];
    const files = [...suspects.slice(0, MAX_FILES), ...named].flatMap((place) => byRules(place, read));
    const fileOwners = [...new Map(files.map((file) => [`${file.path} ${file.as}`, file])).values()];
    const places = category === 'INFRA_ERROR' ? [] : [...suspects.slice(0, 1), ...named];
    const owned = places.flatMap((place) => byRules(place, read))[0];
    const owner = owned ?? (places[0] === undefined ? null : await byLastChange(places[0], build, codeHost, signal));
    return { ...(owner !== null && { owner }), ...(fileOwners.length > 0 && { fileOwners }) };
  };
  return async (subject, found, signal) => {
    if (breakers()[`code-host:${codeHost.driver}`] === 'open') return {};
    const limit = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
    try {
      return await orAborted(find(subject, found, limit), limit);
    } catch (error) {
      signal.throwIfAborted();
      logger.warn({ buildId: subject.build.id, error }, 'no owner was found');
      return {};
    }
  };
}

async function readRules(codeHost: CodeHost, repository: string, provider: string, signal: AbortSignal): Promise<Rules | null> {
  for (const file of placesOfCodeOwners(provider)) {
    const query = { repository, ref: null, path: file };
    const first = await codeHost.readFile({ ...query, lineStart: 1, lineEnd: WINDOW }, signal);
    if (first === null) continue;
    let lines = first.lines;
    while (lines.length < first.totalLines && lines.length <= MAX_LINES) {
      const next = await codeHost.readFile({ ...query, lineStart: lines.length + 1, lineEnd: lines.length + WINDOW }, signal);
      if (next === null || next.lines.length === 0) break;
      lines = lines.concat(next.lines);
    }
    return { file, rules: parseCodeOwners(lines, formOfCodeOwners(provider, file, lines)) };
  }
  return null;
}

function byRules({ path, as }: Place, read: Rules | null): Owner[] {
  const found = read?.rules.ownersOf(path) ?? null;
  if (read === null || found === null) return [];
  return [{ path, ...(as !== undefined && { as }), names: [...found.names], by: 'codeowners', at: `${read.file}:${found.line}` }];
}

/** Files of the failing tests and the project's frames, where exactly one file of the repository can be meant. */
async function namedPlaces({ build, failingTests, failures }: TriageSubject, codeHost: CodeHost, signal: AbortSignal): Promise<Place[]> {
  const frames = failures.flatMap((failure) => failure.frames.filter(({ own }) => own));
  const named = [...failingTests, ...frames].flatMap(({ file, line }) => (file === null ? [] : [{ file, line }]));
  const places: Place[] = [];
  for (const { file, line } of named.filter((one, at) => named.findIndex((other) => other.file === one.file) === at).slice(0, MAX_FILES)) {
    const suffix = projectPath(file).replaceAll('\\', '/');
    const paths = await codeHost
      .findFiles({ repository: build.repository, ref: build.commit, suffix, limit: 2 }, signal)
      .catch((): string[] => []);
    const [path] = paths.includes(suffix) ? [suffix] : paths.length === 1 ? paths : [];
    if (path !== undefined) places.push({ path, line, commit: null, author: null, ...(path !== file && { as: file }) });
  }
  return places;
}

async function byLastChange(place: Place, build: Build, codeHost: CodeHost, signal: AbortSignal): Promise<Owner | null> {
  const { repository, commit: ref } = build;
  const { path, line } = place;
  const of = (author: string | null, commit: string | null): Owner | null => {
    const name = author?.split('@', 1)[0]?.trim().slice(0, 100) ?? '';
    return name === '' || name.endsWith('[bot]') ? null : { path, names: [name], by: 'last-change', at: commit };
  };
  const suspected = of(place.author, place.commit);
  if (suspected !== null) return suspected;
  const blamed =
    line === null ? [] : await codeHost.blame({ repository, ref, path, lineStart: line, lineEnd: line }, signal).catch(() => []);
  const changes = [...blamed, ...(await codeHost.history({ repository, ref, path, limit: 5 }, signal))];
  return changes.map(({ author, commit }) => of(author, commit)).find((one) => one !== null) ?? null;
}
