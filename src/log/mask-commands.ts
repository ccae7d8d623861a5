import { holdsPair } from './mask-headers.ts';
import { isPlaceholder, looksSecret } from './mask-judge.ts';
import type { Span } from './mask-span.ts';

/** A command with an option whose value is a password. The last group is the value, and ends the match. */
const COMMANDS: readonly (readonly [literals: readonly string[], pattern: RegExp])[] = [
  [
    ['docker login', 'podman login', 'registry login', 'az login', 'oc login', 'buildah login', 'skopeo login', 'argocd login'],
    /\b(?:docker|podman|registry|az|oc|buildah|skopeo|argocd) login\b.{0,400}?\s(?:-p|--password|--pass)[ =]{1,2}["']?([^\s"']{1,4096})/g,
  ],
  [['curl'], /\bcurl\b.{0,600}?\s(?:-u|--user|--proxy-user|-U)[ =]{0,2}["']?[^\s"':]{1,200}:([^\s"']{1,400})/g],
  [
    ['mysql', 'mariadb'],
    /\b(?:mysql(?:dump|admin|import|show|check|pump|sh)?|mariadb(?:-\w{1,20})?) (?:.{0,400}? )?-p["']?([^\s"'=-][^\s"']{0,200})/g,
  ],
  [['sshpass'], /\bsshpass\s{1,3}-p\s{0,2}["']?([^\s"']{1,200})/g],
  [['twine upload'], /\btwine upload\b.{0,400}?\s-p[ =]{1,2}["']?([^\s"']{1,400})/g],
  [['-pass pass:', '-passin pass:', '-passout pass:'], /\s-pass(?:in|out)?\s{1,3}pass:([^\s"']{1,200})/g],
  [['-storepass', '-keypass'], /\s-(?:store|key)pass\s{1,3}["']?([^\s"']{1,200})/g],
  [['redis-cli'], /\bredis-cli\b.{0,300}?\s-a\s{1,3}["']?([^\s"']{1,200})/g],
  [['sqlcmd'], /\bsqlcmd\b.{0,300}?\s-P\s{1,3}["']?([^\s"']{1,200})/g],
  [['mongo'], /\bmongo(?:sh|dump|restore|import|export)?\s.{0,300}?\s-p\s{1,3}["']?([^\s"']{1,200})/g],
  [['net use'], /\bnet use (?:[A-Za-z*]:? )?\\\\[^\s]{1,200} (?:\/user:\S{1,100} )?(?!\/)([^\s"]{1,200})/gi],
  [['unlock-keychain', 'security import'], /\b(?:unlock-keychain\s{1,3}-p|security import\b.{0,300}?\s-P)\s{1,3}["']?([^\s"']{1,200})/g],
  [['--creds', '-creds'], /\s--(?:src-|dest-)?creds[ =]["']?[^\s"':]{1,100}:([^\s"']{1,400})/g],
  [['machine ', 'password '], /(?:\bmachine\s{1,3}\S{1,200}\s{1,3}(?:login\s{1,3}\S{1,200}\s{1,3})?|^\s{0,8})password\s{1,3}(\S{1,400})/g],
];

/** What is shorter could be anything. */
const MIN_VALUE = 3;

/** `"auth": "…"` of a Docker configuration: base64 of user and password. And the whole file in base64. */
const DOCKER_AUTH = /auth\\{0,3}["']\s{0,3}:\s{0,3}\\{0,3}["']([A-Za-z0-9+/]{8,4096}={0,2})/g;
const DOCKER_CONFIG = /(?<![A-Za-z0-9+/])eyJhdXRocyI6([A-Za-z0-9+/]{16,8192}={0,2})/g;

export const COMMAND_LITERALS: readonly string[] = COMMANDS.flatMap(([literals]) => literals);
export const DOCKER_LITERALS: readonly string[] = ['auth"', "auth'", 'auth\\', 'eyjhdxrocyi6'];

/** Passwords given to commands in a line. */
export function findInCommands(line: string): Span[] {
  const lower = line.toLowerCase();
  return COMMANDS.flatMap(([literals, pattern]) => {
    if (!literals.some((literal) => lower.includes(literal))) return [];
    const isNetrc = literals[0] === 'machine ';
    return valuesOf(line, pattern, (value, whole) => !isNetrc || whole.startsWith('machine') || looksSecret(value));
  });
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
