import type { Facts } from './facts.ts';
import type { Match } from './rule.ts';
import { hostOf } from './services.ts';

/** Builds a title from the words of the deciding fact and of all excerpts; null where the words it needs are not there. */
type Title = (said: string, log: string) => string | null;

/** The title a person would give a failure that a rule names well; null where the facts themselves say it better. */
export function titleOf(match: Match, facts: Facts): string | null {
  const title = TITLES[match.rule.name];
  if (title === undefined) return null;
  const log = facts.all.map((fact) => fact.text).join('\n');
  return title(match.fact.text, log.slice(0, 200_000));
}

const TITLES: Readonly<Record<string, Title>> = {
  'npm-eresolve': (_said, log) => {
    const found = /Found: (\S{1,120})/.exec(log)?.[1];
    const peer = /peer (\S{1,120}@"[^"\n]{1,80}") from (\S{1,120})/.exec(log);
    if (found === undefined || peer === null) return null;
    return `npm cannot resolve ${found} with ${peer[2]}, which needs ${peer[1]?.replaceAll('"', '')}`;
  },
  'npm-version-missing': (said, log) =>
    fill(/No matching version found for (\S{1,120}?)[.\s]*$|'(\S{1,120})' is not in/m, `${said}\n${log}`, 'The npm registry has no $'),
  'lockfile-out-of-step': (said, log) => {
    if (/go\.sum/.test(said)) return fill(/package ([\w./-]{1,200})/, said, 'go.sum has no entry for $');
    return (
      fill(/Missing: (\S{1,120}) from lock file/, log, 'The lock file is out of step with the manifest: $ is missing') ??
      'The lock file is out of step with the manifest'
    );
  },
  'pip-no-matching-distribution': (said, log) =>
    fill(
      /(?:No matching distribution found for|satisfies the requirement|requirement\.parse\(') ?(\S{1,120}?)(?:'\)|\s|$)/i,
      `${said}\n${log}`,
      'pip finds no release for $',
    ),
  'pip-conflict': (said, log) => fill(/Cannot install (.{1,160}?) because/, `${said}\n${log}`, 'pip cannot install $ together'),
  'cargo-cannot-select': (said, log) => fill(/requirement `([^`\n]{1,120})`/, `${said}\n${log}`, 'No published version fits $'),
  'maven-unresolvable': (said, log) =>
    fill(/Could not find artifact (\S{1,200})/, `${said}\n${log}`, 'Maven cannot find $') ??
    fill(/> Could not find (\S{1,200}?)\.?$/m, `${said}\n${log}`, 'Gradle cannot find $'),
  'library-not-found': (said) => fill(/provided by "([^"\n]{1,80})"/, said, 'CMake cannot find the package $'),
  'command-not-found': (said) =>
    fill(/(?:^|[\s:])([\w+.-]{1,60}): (?:command )?not found/, said, 'The command $ is not installed on the runner'),
  'build-program-missing': (said) =>
    fill(/(?:^|[\s:])([\w+.-]{1,60}): (?:command )?not found/i, said, 'The build needs $, which is not installed'),
  'secret-missing': (said) => fill(/\b([A-Z][A-Z0-9_]{3,80})\b/, said, 'The secret $ is not set'),
  'not-executable': (said) => fill(/([\w./-]{1,200}): [Pp]ermission denied/, said, '$ is not executable'),
  'docker-daemon': () => 'No docker daemon answers on the runner',
  'disk-full': () => 'The disk of the runner is full',
  'out-of-memory': (said) => fill(/^([\w+./-]{1,60}): out of memory/, said, '$ ran out of memory') ?? 'The build ran out of memory',
  'killed-137': () => 'The process was killed, most likely for want of memory',
  'command-time-limit': () => 'A command ran into its time limit',
  'name-resolution': (said) => fromHost(said, 'cannot be resolved'),
  'connection-broken': (said) => fromHost(said, 'broke off or did not answer in time'),
  'tie-2-refused-by-foreign-service': (said) => fromHost(said, 'refused the connection'),
  'tie-5-registry-was-down': (said) => fromHost(said, 'answered with an error of its own'),
  'tie-5-registry-refused-access': (said) => fromHost(said, 'refused access'),
};

function fill(pattern: RegExp, text: string, sentence: string): string | null {
  const found = pattern.exec(text);
  const word = found?.slice(1).find((group) => group !== undefined);
  return word === undefined ? null : sentence.replace('$', () => word);
}

function fromHost(said: string, what: string): string | null {
  const host = hostOf(said);
  return host === null ? null : `${host} ${what}`;
}
