import type { SourceText } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import { takeFirstOfEach } from '../../lib/collections.ts';
import { listNamedPaths } from '../../lib/text.ts';
import type { LogInPieces } from '../../log/read-log.ts';
import { toVisibleLine } from '../../notifications/visible-text.ts';

/** A fact in a log that identifies its build. It is the same in all logs of one build. */
interface Identity {
  readonly what: string;
  readonly value: string;
}

type NamedText = Pick<SourceText, 'name' | 'text'>;

/** The number of characters that are read from the beginning of a log, where the job is named. */
const READ = 400_000;
const TWO_DAYS_MS = 2 * 24 * 3_600_000;

/**
 * The facts and their patterns. The first match counts, because later ones may be of other repositories that
 * the build uses.
 */
const SAID: readonly { readonly what: string; readonly pattern: RegExp }[] = [
  { what: 'the repository', pattern: /^.{0,40}\bSyncing repository: ([\w.-]{1,100}\/[\w.-]{1,100})\s*$/m },
  { what: 'the repository', pattern: /\bGITHUB_REPOSITORY[=:] ?["']?([\w.-]{1,100}\/[\w.-]{1,100})/ },
  { what: 'the project', pattern: /\/(?:home|Users)\/runner\/work\/([\w.-]{1,100})\/\1(?![\w.-])/ },
  { what: 'the project', pattern: /\/__w\/([\w.-]{1,100})\/\1(?![\w.-])/ },
  { what: 'the project', pattern: /\b[A-Z]:\\a\\([\w.-]{1,100})\\\1(?![\w.-])/ },
  { what: 'the run', pattern: /\bGITHUB_RUN_ID[=:] ?["']?(\d{1,20})/ },
  {
    what: 'the Jenkins workspace',
    pattern: /^.{0,40}\bRunning on .{1,200} in \S{0,300}\/workspace\/([^\s@]{1,200})/m,
  },
  {
    what: 'the Jenkins workspace',
    pattern: /^.{0,40}\bBuilding .{0,200}\bin workspace \S{0,300}\/workspace\/([^\s@]{1,200})/m,
  },
  {
    what: 'the project',
    pattern: new RegExp(
      String.raw`^.{0,60}\b(?:Initialized empty|Reinitialized existing)` +
        String.raw` Git repository in /builds/(\S{1,300}?)/\.git/?\s*$`,
      'm',
    ),
  },
];

const SYSTEMS: readonly { readonly value: string; readonly pattern: RegExp }[] = [
  { value: 'GitHub Actions', pattern: /^\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z |^##\[group\]/m },
  {
    value: 'Jenkins',
    pattern: new RegExp(
      String.raw`^(?:Started by |Running in Durability level|\[Pipeline\] |` +
        'Finished: (?:FAILURE|SUCCESS|ABORTED|UNSTABLE)$)',
      'm',
    ),
  },
  { value: 'GitLab CI', pattern: /\bRunning with gitlab-runner \d/ },
];

const RUNNER_TIME = /^\ufeff?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d{7}Z /m;

/**
 * Throws `invalid-input` if logs are of different builds according to their own text: their CI system,
 * repository, run, or job. With `allowUnrelated`, logs may have nothing in common, because they were named
 * one by one.
 */
export function requireOneBuild(
  sources: readonly (SourceText | LogInPieces)[],
  { allowUnrelated }: { readonly allowUnrelated: boolean },
): void {
  const logs = sources.filter((source): source is SourceText => 'text' in source && source.kind !== 'report');
  const known = new Map<string, { readonly value: string; readonly log: string }>();
  for (const { name, text } of logs) {
    for (const { what, value } of readIdentities(text)) {
      const before = known.get(what);
      if (before === undefined) known.set(what, { value, log: name });
      else if (!isSame(what, before.value, value))
        throw refuse(
          `${what} of ${quote(before.log)} is ${quote(before.value)}, of ${quote(name)} ${quote(value)}`,
        );
    }
  }
  if (!allowUnrelated && !areMostConnected(logs))
    throw refuse('they have nothing in common: no repository, run, directory or kind of file');
}

const HINT =
  'Use faultline triage --each to analyze each file by itself. ' +
  'If they are of one build, name its files one by one.';

function refuse(why: string): TriageError {
  return new TriageError('invalid-input', `These logs are of different builds: ${why}. ${HINT}`);
}

function quote(text: string): string {
  return toVisibleLine(text).slice(0, 200);
}

function readIdentities(text: string): Identity[] {
  const begin = text.slice(0, READ);
  const statements = SAID.flatMap(({ what, pattern }): Identity[] => {
    const value = pattern.exec(begin)?.[1];
    return value === undefined ? [] : [{ what, value: value.toLowerCase() }];
  });
  const system = SYSTEMS.find(({ pattern }) => pattern.test(begin));
  const time = RUNNER_TIME.exec(begin)?.[1];
  return [
    ...takeFirstOfEach(statements, ({ what }) => what),
    ...(system === undefined ? [] : [{ what: 'the CI system', value: system.value }]),
    ...(time === undefined ? [] : [{ what: 'the time', value: `${time}Z` }]),
  ];
}

/**
 * Compares two values of a fact. Jobs of one run begin within two days of each other, even if one waited for
 * a person.
 */
function isSame(what: string, left: string, right: string): boolean {
  return what === 'the time' ? Math.abs(Date.parse(left) - Date.parse(right)) < TWO_DAYS_MS : left === right;
}

/** Checks whether more than half of the logs that name any file have names in common. */
function areMostConnected(logs: readonly NamedText[]): boolean {
  const withTraits = logs.map(({ text }) => readTraits(text)).filter((traits) => traits.size > 0);
  if (withTraits.length < 2) return true;
  const groups: { readonly traits: Set<string>; logs: number }[] = [];
  for (const traits of withTraits) {
    const joined = groups.filter((group) => [...traits].some((trait) => group.traits.has(trait)));
    const all = joined.flatMap((group) => [...group.traits]);
    const size = joined.reduce((sum, group) => sum + group.logs, 1);
    for (const group of joined) groups.splice(groups.indexOf(group), 1);
    groups.push({ traits: new Set([...all, ...traits]), logs: size });
  }
  return groups.some((group) => group.logs * 2 > withTraits.length);
}

/** File extensions of one language. */
// biome-ignore format: one line for each family
const FAMILIES: Readonly<Record<string, string>> = {
  js: 'ts', jsx: 'ts', mjs: 'ts', cjs: 'ts', tsx: 'ts', mts: 'ts', cts: 'ts', vue: 'ts',
  h: 'c', cc: 'c', cpp: 'c', cxx: 'c', hh: 'c', hpp: 'c', hxx: 'c', cmake: 'c',
  kt: 'java', kts: 'java', groovy: 'java', gradle: 'java', scala: 'java', pyx: 'py', exs: 'ex',
};
/** The file extensions that occur in every project. */
const COMMON = new Set(['json', 'yml', 'yaml', 'xml', 'toml', 'sh', 'html', 'css', 'm', 'r', 'd']);

/**
 * Reads what other logs of the same build are likely to contain as well: the languages of the project, the
 * repository, and the run.
 */
function readTraits(text: string): Set<string> {
  const begin = text.slice(0, READ);
  const endings = listNamedPaths([begin]).map(({ path }) =>
    path.slice(path.lastIndexOf('.') + 1).toLowerCase(),
  );
  const languages = endings
    .filter((ending) => !COMMON.has(ending))
    .map((ending) => `*.${FAMILIES[ending] ?? ending}`);
  return new Set([
    ...languages,
    ...readIdentities(text).flatMap(({ what, value }) => (what === 'the time' ? [] : [`${what} ${value}`])),
  ]);
}
