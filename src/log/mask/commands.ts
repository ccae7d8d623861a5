import { holdsPair } from './headers.ts';
import { isPlaceholder, looksSecret } from './judge.ts';
import type { Span } from './span.ts';

/**
 * Commands with an option whose value is a password: how the command begins (lower case), and the option, looked for in the
 * rest of the command. The group is the value, and ends the match.
 */
const COMMANDS: readonly (readonly [literals: readonly string[], option: RegExp])[] = [
  [
    ['docker login', 'podman login', 'registry login', 'az login', 'oc login', 'buildah login', 'skopeo login', 'argocd login'],
    /\s(?:-p|--password|--pass)[ =]{1,2}["']?([^\s"']{1,4096})/g,
  ],
  [['curl '], /\s(?:-u|--user|--proxy-user|-U)[ =]{0,2}["']?[^\s"':]{1,200}:([^\s"']{1,400})/g],
  [
    ['mysql ', 'mysqldump ', 'mysqladmin ', 'mysqlimport ', 'mysqlshow ', 'mysqlcheck ', 'mysqlsh ', 'mariadb ', 'mariadb-dump '],
    /\s-p["']?([^\s"'=-][^\s"']{0,200})/g,
  ],
  [['sshpass '], /\s-p\s{0,2}["']?([^\s"']{1,200})/g],
  [['twine upload'], /\s-p[ =]{1,2}["']?([^\s"']{1,400})/g],
  [['-pass pass:', '-passin pass:', '-passout pass:'], /-pass(?:in|out)?\s{1,3}pass:([^\s"']{1,200})/g],
  [['-storepass', '-keypass'], /-(?:store|key)pass\s{1,3}["']?([^\s"']{1,200})/g],
  [['redis-cli '], /\s-a\s{1,3}["']?([^\s"']{1,200})/g],
  [['sqlcmd '], /\s-P\s{1,3}["']?([^\s"']{1,200})/g],
  [['mongo ', 'mongosh ', 'mongodump ', 'mongorestore ', 'mongoimport ', 'mongoexport '], /\s-p\s{1,3}["']?([^\s"']{1,200})/g],
  [['net use '], /\\\\[^\s]{1,200} (?:\/user:\S{1,100} )?(?!\/)([^\s"]{1,200})/gi],
  [['unlock-keychain ', 'security import '], /\s-[pP]\s{1,3}["']?([^\s"']{1,200})/g],
  [['--creds', '-creds'], /-creds[ =]["']?[^\s"':]{1,100}:([^\s"']{1,400})/g],
  [['machine '], /\slogin\s{1,3}\S{1,200}\s{1,3}password\s{1,3}(\S{1,400})/g],
];
/** Where another command begins. */
const NEXT_COMMAND = / (?:&&?|\|\|?|;) /;
const MAX_COMMAND = 600;

/** A line of a `.netrc` that has its fields on lines of their own. */
const NETRC = /^\s{0,8}password\s{1,3}(\S{1,400})/g;

/** What is shorter could be anything. */
const MIN_VALUE = 3;

/** `"auth": "…"` of a Docker configuration: base64 of user and password. And the whole file in base64. */
const DOCKER_AUTH = /auth\\{0,3}["']\s{0,3}:\s{0,3}\\{0,3}["']([A-Za-z0-9+/]{8,4096}={0,2})/g;
const DOCKER_CONFIG = /(?<![A-Za-z0-9+/])eyJhdXRocyI6([A-Za-z0-9+/]{16,8192}={0,2})/g;

export const COMMAND_LITERALS: readonly string[] = [...COMMANDS.flatMap(([literals]) => literals), '  password ', '\tpassword '];
export const DOCKER_LITERALS: readonly string[] = ['auth"', "auth'", 'auth\\', 'eyjhdxrocyi6'];

/** Passwords given to commands in a line. */
export function findInCommands(line: string): Span[] {
  const lower = line.toLowerCase();
  const spans = valuesOf(line, NETRC, looksSecret);
  for (const [literals, option] of COMMANDS) {
    for (const literal of literals) {
      for (let at = lower.indexOf(literal); at !== -1; ) {
        const command = commandAt(line, at, literal.length);
        for (const { from, to } of valuesOf(command, option, () => true)) spans.push({ from: from + at, to: to + at });
        at = lower.indexOf(literal, at + command.length);
      }
    }
  }
  return spans;
}

/** Up to where another begins, or as far as its options are likely to stand. */
function commandAt(line: string, at: number, literal: number): string {
  const near = line.slice(at, at + MAX_COMMAND);
  const end = near.slice(literal).search(NEXT_COMMAND);
  return end === -1 ? near : near.slice(0, literal + end);
}

/** Credentials of Docker registries in a line. */
export function findDockerAuth(line: string): Span[] {
  return [...valuesOf(line, DOCKER_AUTH, holdsPair), ...valuesOf(line, DOCKER_CONFIG, () => true)];
}

function valuesOf(line: string, pattern: RegExp, isSecret: (value: string, whole: string) => boolean): Span[] {
  return Array.from(line.matchAll(pattern)).flatMap(({ 0: whole, 1: value = '', index }) => {
    const to = index + whole.length;
    return value.length < MIN_VALUE || isPlaceholder(value) || !isSecret(value, whole) ? [] : [{ from: to - value.length, to }];
  });
}
