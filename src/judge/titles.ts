import { downloadHost } from './reasons.ts';
import type { Match } from './rule.ts';
import { hostOf } from './services.ts';
import { find, type Wording } from './wording.ts';

/** Builds a title from the words of the deciding fact and of all excerpts; null where the words it needs are not there. */
type Title = (told: Wording) => string | null;

/** The title a person would give a failure that a rule names well; null where the facts themselves say it better. */
export function titleOf(match: Match, told: Wording): string | null {
  return TITLES[match.rule.name]?.(told) ?? null;
}

const TITLES: Readonly<Record<string, Title>> = {
  'npm-eresolve': (told) => {
    const found = find(told, /Found: (\S{1,120})/);
    const peer = /peer (\S{1,120}@"[^"\n]{1,80}") from (\S{1,120})/.exec(told.log);
    return found === null || peer === null ? null : `npm cannot install ${found} alongside ${peer[2]}`;
  },
  'npm-version-missing': (told) =>
    fill(told, 'The npm registry has no $', /No matching version found for (\S{1,120}?)[.\s]*$|'(\S{1,120})' is not in/m),
  'lockfile-out-of-step': (told) => {
    if (/go\.sum/.test(told.said)) return fill(told, 'go.sum has no entry for $', /package ([\w./-]{1,200})/);
    return (
      fill(told, 'The lock file is out of step with the manifest: $ is missing', /Missing: (\S{1,120}) from lock file/) ??
      'The lock file is out of step with the manifest'
    );
  },
  'pip-no-matching-distribution': (told) =>
    fill(
      told,
      'pip finds no release for $',
      /(?:No matching distribution found for|satisfies the requirement|requirement\.parse\(') ?(\S{1,120}?)(?:'\)|\s|$)/i,
    ),
  'pip-conflict': (told) => {
    const asked = find(told, /The user requested (\S{1,120})/);
    const needs = /^\s{2,8}(\S{1,80}) (\S{1,40}) depends on (\S{1,120})/m.exec(told.log);
    if (asked !== null && needs !== null) return `pip cannot install ${asked} alongside ${needs[1]} ${needs[2]}`;
    return fill(told, 'pip cannot install $ together', /Cannot install (.{1,160}?) because/);
  },
  'cargo-cannot-select': (told) => fill(told, 'No published version fits $', /requirement `([^`\n]{1,120})`/),
  'maven-unresolvable': (told) =>
    fill(told, 'Maven cannot find $', /Could not find artifact (\S{1,200})/) ??
    fill(told, 'Gradle cannot find $', /> Could not find (\S{1,200}?)\.?$/m),
  'library-not-found': (told) => fill(told, 'CMake cannot find the package $', /provided by "([^"\n]{1,80})"/),
  'command-not-found': (told) =>
    fill(told, 'The command $ is not installed on the runner', /(?:^|[\s:])([\w+.-]{1,60}): (?:command )?not found/),
  'build-program-missing': (told) =>
    fill(told, 'The build needs $, which is not installed', /(?:^|[\s:])([\w+.-]{1,60}): (?:command )?not found/i),
  'secret-missing': (told) => fill(told, 'The secret $ is not set', /\b([A-Z][A-Z0-9_]{3,80})\b/),
  'not-executable': (told) => fill(told, '$ is not executable', /([\w./-]{1,200}): [Pp]ermission denied/),
  'docker-daemon': () => 'No Docker daemon is running on the runner',
  'disk-full': () => "The runner's disk is full",
  'out-of-memory': (told) =>
    fill(told, '$ ran out of memory', /^([\w+./-]{1,60}): out of memory/m) ??
    (/JavaScript heap/.test(told.log)
      ? 'Node ran out of heap memory'
      : /Java heap space/.test(told.log)
        ? 'Java ran out of heap memory'
        : 'The build ran out of memory'),
  'killed-137': (told) =>
    fill(told, 'The process was killed while $ was running, most likely out of memory', /^\S{1,200}::(\S{1,80}) \S{0,100}: line/m) ??
    'The process was killed, most likely out of memory',
  'command-time-limit': (told) =>
    fill(told, '$ exceeded its time limit', /sending signal \w{1,10} to command [‘'`"]([^’'`"\n]{1,80})/) ??
    'A command exceeded its time limit',
  'name-resolution': (told) => fromHost(told, 'cannot be resolved'),
  'connection-broken': (told) => fromHost(told, /timed? ?out/i.test(told.said) ? 'did not answer in time' : 'dropped the connection'),
  'tie-2-refused-by-foreign-service': (told) => fromHost(told, 'refused the connection'),
  'tie-5-registry-was-down': (told) => {
    const status = find(told, /\b(50\d [A-Z]\w{2,20}(?: [A-Z]\w{2,20}){0,2})/, /\b(50\d)\b/);
    return fromHost(told, `answered ${status ?? 'with a server error'}`);
  },
  'tie-5-registry-refused-access': refusedAccess,
  'credentials-refused': (told) => (/npm (?:ERR!|error)|registry/i.test(told.log) ? refusedAccess(told) : null),
  'rate-limited': (told) => fromHost(told, 'is rate limiting requests (429)'),
  'wrong-runtime-version': (told) => {
    const go = /requires go >= (\S{1,20}) \(running go (\S{1,20})[;)]/.exec(told.log);
    if (go !== null) return `go.mod needs Go ${go[1]}, the job runs Go ${go[2]}`;
    const npm = /Required: \{"node":"([^"\n]{1,60})"/.exec(told.log);
    const actual = find(told, /Actual: {1,6}\{[^\n]{0,60}"node":"([^"\n]{1,30})"/);
    return npm === null
      ? null
      : `The job's Node${actual === null ? '' : ` ${actual}`} is outside the range ${npm[1]} that the project allows`;
  },
  'manifest-malformed': (told) =>
    fill(told, '$ is malformed', /Invalid ([\w.-]{1,60}\.json)/, /([\w./-]{1,120}\.(?:json|toml|ya?ml|xml))\b/),
  'import-name-gone': (told) => {
    const found = /cannot import name '?(\w{1,80})'? from (?:partially initialized module )?'?([\w.]{1,120})/.exec(told.log);
    return found === null ? null : `The installed ${found[2]} has no ${found[1]}, which the code imports`;
  },
  'segmentation-fault': (told) =>
    fill(
      told,
      'A program run by make $ crashes with a segmentation fault',
      /\*\*\* \[(?:[^\]\n]{1,100}: )?([^\]\n]{1,60})\] (?:Error 139|Segmentation)/,
    ) ?? 'A program crashes with a segmentation fault',
  'undefined-reference': (told) => fill(told, 'No linked library defines $', /undefined reference to [`'"‘]([^`'"’\n]{1,120})/),
  'script-path-missing': missingFile,
  'path-missing': missingFile,
};

function fill(told: Wording, sentence: string, ...patterns: readonly RegExp[]): string | null {
  const word = find(told, ...patterns);
  return word === null ? null : sentence.replace('$', () => word);
}

function fromHost(told: Wording, what: string): string | null {
  const host = hostOf(told.said) ?? downloadHost(told.log);
  return host === null ? null : `${host} ${what}`;
}

function refusedAccess(told: Wording): string {
  const status = find(told, /\bE(40[13])\b/, /\b(40[13])\b/);
  const answered = status === null ? 'refused access' : `refused access (${status})`;
  return fromHost(told, answered) ?? `The package registry ${answered}`;
}

function missingFile(told: Wording): string | null {
  return fill(told, 'The build cannot find $', /no such file or directory, \w{1,10} '(?:[^'\n]{0,200}\/)?([^'/\n]{1,80})'/);
}
