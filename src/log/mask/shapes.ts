import { append } from '../../lib/collections.ts';
import { ASSIGNED_LITERALS, findAssigned, findTold } from './assigned.ts';
import { createUnseenShape, DECLARED, ENCODED_ASSIGNMENTS, PASSWORD_HASHES } from './declared.ts';
import { hideSpans, isPlaceholder, looksSecret, mergeSpans, type Span } from './span.ts';
import { ENCODED_KEY_LITERALS, findEncodedKeys, type Shape, TOKEN_SHAPES } from './tokens.ts';

/**
 * Webhook URLs that are secret because anyone who knows one may post to it. The last group is the secret
 * part.
 */
const WEBHOOKS = new RegExp(
  String.raw`(?:hooks\.slack\.com/(?:services|workflows|triggers)/|` +
    String.raw`discord(?:app)?\.com/api/webhooks/\d{5,25}/|\.webhook\.office\.com/webhookb2/|` +
    String.raw`chat\.googleapis\.com/v1/spaces/[\w-]{1,40}/messages\?)([\w./?=&%@+-]{16,600})`,
  'g',
);

/** Literals, case ignored. Every line with such a URL contains one of them. */
const WEBHOOK_LITERALS: readonly string[] = [
  'hooks.slack.com/',
  '.com/api/webhooks/',
  '.webhook.office.com/',
  'chat.googleapis.com/v1/',
];

/** Finds the last group of each match if it is a secret. The group must end the match. */
function findValues(
  line: string,
  pattern: RegExp,
  isSecret: (value: string, whole: string) => boolean,
): Span[] {
  return Array.from(line.matchAll(pattern)).flatMap((match) => {
    const [whole] = match;
    const value = match.at(-1) ?? '';
    const to = match.index + whole.length;
    return isSecret(value, whole) ? [{ from: to - value.length, to }] : [];
  });
}

const HEADER_LITERALS: readonly string[] = ['authorization', 'bearer', 'cookie'];
const ADDRESS_LITERALS: readonly string[] = ['://', ':\\/\\/', 'jdbc:oracle'];

const AUTHORIZATION = new RegExp(
  String.raw`\b(?:(?:proxy-)?authorization["']?\s{0,3}[:=]\s{0,3}["']?(?:(?:basic|bearer|token|` +
    String.raw`apikey|api-token|negotiate|digest|ssws|bot)\s{1,3})?|` +
    String.raw`(?:authorization["']?\s{0,3}[:=]\s{0,3}["']?)?bearer\s{1,3})([\w+/=.~-]{8,8192})`,
  'gi',
);
const BASIC = /\bbasic\s{1,3}$/i;

/**
 * Finds the credentials in `Authorization: Bearer …` and similar headers, and the values in `Cookie` and
 * `Set-Cookie` that look random.
 */
function findHeaders(line: string): Span[] {
  const isBasic = (value: string, whole: string) =>
    BASIC.test(whole.slice(0, -value.length)) && value.length >= 8 && holdsPair(value);
  const values = findValues(
    line,
    AUTHORIZATION,
    (value, whole) => isBasic(value, whole) || (!isPlaceholder(value) && looksSecret(value)),
  );
  return [...values, ...findCookies(line)];
}

/** Checks whether a value is the base64 of `user:password`. */
function holdsPair(value: string): boolean {
  if (!/^[A-Za-z0-9+/]{4,4096}={0,2}$/.test(value)) return false;
  return /^[\x21-\x7e]{0,200}:[\x20-\x7e]{1,2000}$/.test(Buffer.from(value, 'base64').toString('latin1'));
}

const COOKIE = /\b(?:set-)?cookie["']?\s{0,3}[:=]\s{0,3}["']?/gi;
const PAIR = /([\w.-]{1,100})=([^;\s"',]{8,4096})/g;

function findCookies(line: string): Span[] {
  const start = line.search(COOKIE);
  if (start === -1) return [];
  const isSecret = (value: string) =>
    !isPlaceholder(value) && looksSecret(value.replace(/%[0-9a-f]{2}/gi, '+'));
  return findValues(line.slice(start), PAIR, isSecret).map(({ from, to }) => ({
    from: start + from,
    to: start + to,
  }));
}

/** The maximum length of the part before a host: user, colon, password. */
const MAX_AUTHORITY = 2_000;
const END_OF_AUTHORITY = /[\s/"'<>`\\\u0000-\u001f]/;

/** Finds the password in `scheme://user:password@host`, or a long token in place of user and password. */
function findAddresses(line: string): Span[] {
  const spans: Span[] = [];
  for (let at = line.indexOf(':'); at !== -1; at = line.indexOf(':', at + 1)) {
    const slashes = line.startsWith('//', at + 1) ? 2 : line.startsWith('\\/\\/', at + 1) ? 4 : 0;
    if (slashes === 0) continue;
    const from = at + 1 + slashes;
    const near = line.slice(from, from + MAX_AUTHORITY);
    const end = near.search(END_OF_AUTHORITY);
    const userEnd = near.lastIndexOf('@', end === -1 ? near.length : end);
    if (userEnd > 0) append(spans, findUserSpans(near.slice(0, userEnd), from));
    at = from + Math.max(0, (end === -1 ? near.length : end) - 1);
  }
  return /jdbc:oracle/i.test(line) ? spans.concat(findOracle(line)) : spans;
}

function findUserSpans(user: string, from: number): Span[] {
  const colon = user.indexOf(':');
  const name = colon === -1 ? user : user.slice(0, colon);
  const password = colon === -1 ? '' : user.slice(colon + 1);
  const nameIsToken =
    (password === '' || password === 'x-oauth-basic') &&
    name.length >= 20 &&
    !isPlaceholder(name) &&
    looksSecret(name);
  if (nameIsToken) return [{ from, to: from + name.length }];
  if (password === '' || isPlaceholder(password)) return [];
  return [{ from: from + colon + 1, to: from + user.length }];
}

function findOracle(line: string): Span[] {
  return findValues(
    line,
    /\bjdbc:oracle:\w{1,10}:[\w$#.-]{1,100}\/([^\s@"'/]{1,200})(?=@)/gi,
    (value) => !isPlaceholder(value),
  );
}

/**
 * Commands with an option whose value is a password: the beginning of the command in lower case, and the
 * option, which is searched in the rest of the command. The group is the value and ends the match.
 */
// biome-ignore format: one row for each command
const COMMANDS: readonly (readonly [literals: readonly string[], option: RegExp])[] = [
  [['docker login', 'podman login', 'registry login', 'az login', 'oc login', 'buildah login',
    'skopeo login', 'argocd login'], /\s(?:-p|--password|--pass)[ =]{1,2}["']?([^\s"']{1,4096})/g],
  [['curl '], /\s(?:-u|--user|--proxy-user|-U)[ =]{0,2}["']?[^\s"':]{0,200}["']?:["']?([^\s"']{1,400})/g],
  [['curl '], /\s(?:-u|--user)[ =]{0,2}["']?([^\s"':]{12,200})(?=:(?:["'\s]|$))/g],
  [['bundle_'], /^bundle_\w{1,100}__\w{2,10}["']?\s{0,3}[:=]\s{0,3}["']?([^\s"'`;&]{1,300})/gi],
  [['mysql ', 'mysqldump ', 'mysqladmin ', 'mysqlimport ', 'mysqlshow ', 'mysqlcheck ', 'mysqlsh ',
    'mariadb ', 'mariadb-dump '], /\s-p["']?([^\s"'=-][^\s"']{0,200})/g],
  [['sshpass '], /\s-p\s{0,2}["']?([^\s"']{1,200})/g],
  [['twine upload'], /\s-p[ =]{1,2}["']?([^\s"']{1,400})/g],
  [['-pass pass:', '-passin pass:', '-passout pass:'], /-pass(?:in|out)?\s{1,3}pass:([^\s"']{1,200})/g],
  [['-storepass', '-keypass'], /-(?:store|key)pass\s{1,3}["']?([^\s"']{1,200})/g],
  [['redis-cli '], /\s-a\s{1,3}["']?([^\s"']{1,200})/g],
  [['sqlcmd '], /\s-P\s{1,3}["']?([^\s"']{1,200})/g],
  [['mongo ', 'mongosh ', 'mongodump ', 'mongorestore ', 'mongoimport ', 'mongoexport '],
    /\s-p\s{1,3}["']?([^\s"']{1,200})/g],
  [['net use '], /\\\\[^\s]{1,200} (?:\/user:\S{1,100} )?(?!\/)([^\s"]{1,200})/gi],
  [['unlock-keychain ', 'security import '], /\s-[pP]\s{1,3}["']?([^\s"']{1,200})/g],
  [['--creds', '-creds'], /-creds[ =]["']?[^\s"':]{1,100}:([^\s"']{1,400})/g],
  [['machine '], /\slogin\s{1,3}\S{1,200}\s{1,3}password\s{1,3}(\S{1,400})/g],
];
/** The separator before another command. */
const NEXT_COMMAND = / (?:&&?|\|\|?|;) /;
const MAX_COMMAND = 600;

/** A line of a `.netrc` file that has one field on each line. */
const NETRC = /^\s{0,8}password\s{1,3}(\S{1,400})/g;

/** Checks whether a value is long enough to be a secret. */
function isValue(value: string): boolean {
  return value.length >= 3 && !isPlaceholder(value);
}

/**
 * `"auth": "…"` of a Docker configuration, the base64 of user and password. The second pattern matches a
 * whole configuration in base64.
 */
const DOCKER_AUTH = /auth\\{0,3}["']\s{0,3}:\s{0,3}\\{0,3}["']([A-Za-z0-9+/]{8,4096}={0,2})/g;
const DOCKER_CONFIG = /(?<![A-Za-z0-9+/])eyJhdXRocyI6([A-Za-z0-9+/]{16,8192}={0,2})/g;

const COMMAND_LITERALS: readonly string[] = [
  ...COMMANDS.flatMap(([literals]) => literals),
  '  password ',
  '\tpassword ',
];
const DOCKER_LITERALS: readonly string[] = ['auth"', "auth'", 'auth\\', 'eyjhdxrocyi6'];

/** Finds passwords that are passed to commands in a line. */
function findInCommands(line: string): Span[] {
  const lower = line.toLowerCase();
  const spans = findValues(line, NETRC, (value) => isValue(value) && looksSecret(value));
  for (const [literals, option] of COMMANDS) {
    for (const literal of literals) {
      for (let at = lower.indexOf(literal); at !== -1; ) {
        const command = cutCommand(line, at, literal.length);
        for (const { from, to } of findValues(command, option, isValue))
          spans.push({ from: from + at, to: to + at });
        at = lower.indexOf(literal, at + command.length);
      }
    }
  }
  return spans;
}

/**
 * Returns a command up to the next one, or up to the maximum length within which its options are searched.
 */
function cutCommand(line: string, at: number, literal: number): string {
  const near = line.slice(at, at + MAX_COMMAND);
  const end = near.slice(literal).search(NEXT_COMMAND);
  return end === -1 ? near : near.slice(0, literal + end);
}

/** Finds credentials of Docker registries in a line. */
function findDockerAuth(line: string): Span[] {
  return [
    ...findValues(line, DOCKER_AUTH, (value) => isValue(value) && holdsPair(value)),
    ...findValues(line, DOCKER_CONFIG, isValue),
  ];
}

/** All shapes that are found within one line, if it has no invisible characters. */
const SEEN: readonly Shape[] = [
  ...TOKEN_SHAPES,
  { literals: ASSIGNED_LITERALS, find: findAssigned },
  { literals: ADDRESS_LITERALS, find: findAddresses },
  { literals: HEADER_LITERALS, find: findHeaders },
  { literals: COMMAND_LITERALS, find: findInCommands },
  { literals: DOCKER_LITERALS, find: findDockerAuth },
  { literals: WEBHOOK_LITERALS, find: (line) => findValues(line, WEBHOOKS, () => true) },
  { literals: ENCODED_KEY_LITERALS, find: findEncodedKeys },
  {
    literals: [
      'password is',
      'password was',
      'password: ',
      'password for',
      'passwort ist',
      'passwort: ',
      'passwort f',
      'password set',
      'password changed',
    ],
    find: findTold,
  },
  DECLARED,
  PASSWORD_HASHES,
  ENCODED_ASSIGNMENTS,
];

/** All shapes that are found within one line. */
export const SHAPES: readonly Shape[] = [...SEEN, createUnseenShape(SEEN)];

/** Finds the secrets in a line. Bit n of `groups` is set if the line contains a literal of `SHAPES[n]`. */
export function findShapes(line: string, groups: number): Span[] {
  const spans: Span[] = [];
  for (let at = 0; at < SHAPES.length; at++)
    if ((groups & (1 << at)) !== 0) append(spans, SHAPES[at]?.find(line) ?? []);
  return spans;
}

/** Masks the secrets of one line, such as a name or URL that accompanies a log. */
export function maskLine(line: string): string {
  return hideSpans(line, mergeSpans(findShapes(line, -1))).text;
}
