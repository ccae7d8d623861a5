import { append } from '../../domain/lists.ts';
import { ASSIGNED_LITERALS, findAssigned } from './assigned.ts';
import { isPlaceholder, looksSecret } from './judge.ts';
import { ENCODED_KEY_LITERALS, findEncodedKeys } from './key-blocks.ts';
import { type Span, withoutColors } from './span.ts';

/**
 * Tokens that give themselves away by their form, where secretlint's preset has no rule or a narrower one (it wants exact
 * lengths, which makers change). Each with literals (lower case) without which it cannot match.
 */
const TOKENS: readonly (readonly [literals: readonly string[], pattern: string])[] = [
  [['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], 'gh[pousr]_[A-Za-z0-9]{20,255}'],
  [['github_pat_'], 'github_pat_[A-Za-z0-9_]{20,255}'],
  [
    ['glpat-', 'gldt-', 'glrt-', 'glft-', 'glcbt-', 'glptt-', 'glsoat-', 'glimt-', 'glagent-', 'gloas-'],
    'gl(?:pat|dt|rt|ft|cbt|ptt|soat|imt|agent|oas)-[\\w-]{16,255}(?:\\.[\\w-]{2,40}){0,3}',
  ],
  [['npm_'], 'npm_[A-Za-z0-9]{30,60}'],
  [['pypi-ag'], 'pypi-Ag[\\w-]{40,255}'],
  [['dckr_'], 'dckr_(?:pat|oat)_[\\w-]{20,64}'],
  [['xox', 'xapp-', 'xwfp-'], '(?:xox[abcdeoprs]|xoxe\\.xox[bp]|xapp|xwfp)-[A-Za-z0-9%-]{10,512}'],
  [['akia', 'asia', 'agpa', 'aida', 'aroa', 'anpa', 'anva', 'abia', 'acca'], '(?:A(?:KIA|SIA|GPA|IDA|ROA|NPA|NVA|BIA|CCA))[A-Z0-9]{16}'],
  [['aiza'], 'AIza[\\w-]{35}'],
  [['ya29.'], 'ya29\\.[\\w-]{20,512}'],
  [['gocspx-'], 'GOCSPX-[\\w-]{20,64}'],
  // The run must begin here: else each place inside a long one would be tried anew.
  [['eyj'], '(?<![_-])eyJ[\\w-]{10,4000}\\.[\\w-]{10,8000}(?:\\.[\\w-]{4,2000}){0,3}'],
  [['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_'], '[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}'],
  [['whsec_'], 'whsec_[A-Za-z0-9+/]{24,64}={0,2}'],
  [['hrku-'], 'HRKU-[A-Za-z0-9_-]{36,128}'],
  [['hvs.', 'hvb.', 'hvr.'], 'hv[sbr]\\.[\\w-]{20,400}'],
  [['.atlasv1.'], '[A-Za-z0-9]{14}\\.atlasv1\\.[\\w=-]{60,80}'],
  [['atatt3x', 'atctt3x', 'atbb'], '(?:AT[AC]TT3x[\\w=-]{40,400}|ATBB[A-Za-z0-9]{28,40})'],
  [['sntrys_', 'sntryu_'], 'sntry[su]_[\\w+/=.-]{40,400}'],
  [['rubygems_'], 'rubygems_[0-9a-f]{48}'],
  [['oy2'], 'oy2[a-z0-9]{43}'],
  [['ccipat_', 'cciprj_'], 'CCIP(?:AT|RJ)_[A-Za-z0-9_]{20,100}'],
  [['bkua_', 'bkaj_', 'bkct_'], 'bk(?:ua|aj|ct)_[A-Za-z0-9]{30,80}'],
  [['squ_', 'sqp_', 'sqa_'], 'sq[upa]_[0-9a-f]{40}'],
  [['dp.pt.', 'dp.st.', 'dp.ct.'], 'dp\\.(?:pt|st|ct)\\.[A-Za-z0-9._-]{40,80}'],
  [['pul-'], 'pul-[0-9a-f]{40}'],
  [['dop_v1_', 'doo_v1_', 'dor_v1_'], 'do[por]_v1_[0-9a-f]{64}'],
  [['pscale_'], 'pscale_(?:tkn|pw|oauth)_[\\w.-]{20,80}'],
  [['nfp_'], 'nfp_[A-Za-z0-9]{36,64}'],
  [['akcp'], 'AKCp[A-Za-z0-9]{60,80}'],
  [['pmak-'], 'PMAK-[0-9a-f]{24}-[0-9a-f]{34}'],
  [['nrak-'], 'NRAK-[A-Z0-9]{27}'],
  [['age-secret-key-1'], 'AGE-SECRET-KEY-1[A-Z0-9]{50,70}'],
  [['sbp_'], 'sbp_[0-9a-f]{40}'],
  [['tskey-'], 'tskey-(?:auth|api|client|scim|webhook)-[\\w-]{16,80}'],
  [['pplx-', 'xai-'], '(?:pplx|xai)-[A-Za-z0-9]{40,100}'],
  [['fo1_', 'fm1_', 'fm2_'], '(?:fo1|fm1[ar]?|fm2)_[A-Za-z0-9+/=_-]{40,700}'],
  [['8q~'], '[A-Za-z0-9_~.]{3}8Q~[\\w.~-]{31,34}'],
  [['azdo'], '[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}'],
  // Our own: see `domain/access-token.ts`; the shorter form is of tokens that a data directory makes.
  [['flt_'], 'flt_[\\w-]{32,64}'],
  [['tfp_'], 'tfp_[A-Za-z0-9]{32,64}'],
  [['twilio'], 'SK[0-9a-f]{32}'],
];

/** Addresses that are secrets themselves: who knows one may write there. The secret is what follows. */
const WEBHOOKS =
  /(?:hooks\.slack\.com\/(?:services|workflows|triggers)\/|discord(?:app)?\.com\/api\/webhooks\/\d{5,25}\/|\.webhook\.office\.com\/webhookb2\/|chat\.googleapis\.com\/v1\/spaces\/[\w-]{1,40}\/messages\?)([\w./?=&%@+-]{16,600})/g;

/** Without one of these (in any case) in a line it holds no such token. */
const TOKEN_LITERALS: readonly string[] = TOKENS.flatMap(([literals]) => literals);
/** The same of webhook addresses. */
const WEBHOOK_LITERALS: readonly string[] = ['hooks.slack.com/', '.com/api/webhooks/', '.webhook.office.com/', 'chat.googleapis.com/v1/'];

const TOKEN = new RegExp(`(?<![A-Za-z0-9])(?:${TOKENS.map(([, pattern]) => pattern).join('|')})(?![A-Za-z0-9])`, 'g');

/** `sk-` ends many words, so lines with it are looked through for nothing else. */
const MODEL_KEY = /(?<![A-Za-z0-9])sk-(?:proj-|svcacct-|admin-|ant-|or-v1-|None-)?[A-Za-z0-9][\w-]{38,250}(?![A-Za-z0-9])/g;
const MODEL_KEY_LITERALS: readonly string[] = ['sk-'];

/** Keys of the makers of models in a line. */
export function findModelKeys(line: string): Span[] {
  return spansOf(line, MODEL_KEY);
}

/** The tokens in a line. */
export function findTokens(line: string): Span[] {
  return spansOf(line, TOKEN);
}

function spansOf(line: string, pattern: RegExp): Span[] {
  return Array.from(withoutColors(line).matchAll(pattern), ({ 0: token, index }) => ({ from: index, to: index + token.length }));
}

/** The secret parts of webhook addresses in a line. */
function findWebhooks(line: string): Span[] {
  return Array.from(line.matchAll(WEBHOOKS), ({ 0: whole, 1: secret = '', index }) => ({
    from: index + whole.length - secret.length,
    to: index + whole.length,
  }));
}

const HEADER_LITERALS: readonly string[] = ['authorization', 'bearer', 'cookie'];
const ADDRESS_LITERALS: readonly string[] = ['://', ':\\/\\/', 'jdbc:oracle'];

const AUTHORIZATION =
  /\b(?:(?:proxy-)?authorization["']?\s{0,3}[:=]\s{0,3}["']?(?:(?:basic|bearer|token|apikey|negotiate|digest)\s{1,3})?|(?:authorization["']?\s{0,3}[:=]\s{0,3}["']?)?bearer\s{1,3})([\w+/=.~-]{8,8192})/gi;
const BASIC = /\bbasic\s{1,3}$/i;

/** The credentials in `Authorization: Bearer …` and the like, and the values in `Cookie` and `Set-Cookie` that look random. */
function findHeaders(line: string): Span[] {
  const spans: Span[] = [];
  for (const { 0: whole, 1: value = '', index } of line.matchAll(AUTHORIZATION)) {
    const to = index + whole.length;
    const isBasic = BASIC.test(whole.slice(0, -value.length)) && value.length >= 8 && holdsPair(value);
    if (isBasic || (!isPlaceholder(value) && looksSecret(value))) spans.push({ from: to - value.length, to });
  }
  return [...spans, ...findCookies(line)];
}

/** Base64 of `user:password`. */
function holdsPair(value: string): boolean {
  if (!/^[A-Za-z0-9+/]{4,4096}={0,2}$/.test(value)) return false;
  return /^[\x21-\x7e]{0,200}:[\x20-\x7e]{1,2000}$/.test(Buffer.from(value, 'base64').toString('latin1'));
}

const COOKIE = /\b(?:set-)?cookie["']?\s{0,3}[:=]\s{0,3}["']?/gi;
const PAIR = /([\w.-]{1,100})=([^;\s"',]{8,4096})/g;

function findCookies(line: string): Span[] {
  const start = line.search(COOKIE);
  if (start === -1) return [];
  return Array.from(line.slice(start).matchAll(PAIR)).flatMap(({ 0: pair, 2: value = '', index }) => {
    const to = start + index + pair.length;
    return isPlaceholder(value) || !looksSecret(decoded(value)) ? [] : [{ from: to - value.length, to }];
  });
}

function decoded(value: string): string {
  return value.replace(/%[0-9a-f]{2}/gi, '+');
}

/** Longest part before a host: user, colon, password. */
const MAX_AUTHORITY = 2_000;
const END_OF_AUTHORITY = /[\s/"'<>`\\\u0000-\u001f]/;

/** `scheme://user:password@host`: the password, or the long token that stands alone in the place of both. */
function findAddresses(line: string): Span[] {
  const spans: Span[] = [];
  for (let at = line.indexOf(':'); at !== -1; at = line.indexOf(':', at + 1)) {
    const slashes = line.startsWith('//', at + 1) ? 2 : line.startsWith('\\/\\/', at + 1) ? 4 : 0;
    if (slashes === 0) continue;
    const from = at + 1 + slashes;
    const near = line.slice(from, from + MAX_AUTHORITY);
    const end = near.search(END_OF_AUTHORITY);
    const userEnd = near.lastIndexOf('@', end === -1 ? near.length : end);
    if (userEnd > 0) append(spans, inUser(near.slice(0, userEnd), from));
    at = from + Math.max(0, (end === -1 ? near.length : end) - 1);
  }
  return /jdbc:oracle/i.test(line) ? spans.concat(findOracle(line)) : spans;
}

function inUser(user: string, from: number): Span[] {
  const colon = user.indexOf(':');
  const name = colon === -1 ? user : user.slice(0, colon);
  const password = colon === -1 ? '' : user.slice(colon + 1);
  const nameIsToken = (password === '' || password === 'x-oauth-basic') && name.length >= 20 && !isPlaceholder(name) && looksSecret(name);
  if (nameIsToken) return [{ from, to: from + name.length }];
  if (password === '' || isPlaceholder(password)) return [];
  return [{ from: from + colon + 1, to: from + user.length }];
}

function findOracle(line: string): Span[] {
  return Array.from(
    line.matchAll(/\bjdbc:oracle:\w{1,10}:[\w$#.-]{1,100}\/([^\s@"'/]{1,200})@/gi),
    ({ 0: whole, 1: password = '', index }) => {
      const to = index + whole.length - 1;
      return isPlaceholder(password) ? { from: to, to } : { from: to - password.length, to };
    },
  );
}

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

const COMMAND_LITERALS: readonly string[] = [...COMMANDS.flatMap(([literals]) => literals), '  password ', '\tpassword '];
const DOCKER_LITERALS: readonly string[] = ['auth"', "auth'", 'auth\\', 'eyjhdxrocyi6'];

/** Passwords given to commands in a line. */
function findInCommands(line: string): Span[] {
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
function findDockerAuth(line: string): Span[] {
  return [...valuesOf(line, DOCKER_AUTH, holdsPair), ...valuesOf(line, DOCKER_CONFIG, () => true)];
}

function valuesOf(line: string, pattern: RegExp, isSecret: (value: string, whole: string) => boolean): Span[] {
  return Array.from(line.matchAll(pattern)).flatMap(({ 0: whole, 1: value = '', index }) => {
    const to = index + whole.length;
    return value.length < MIN_VALUE || isPlaceholder(value) || !isSecret(value, whole) ? [] : [{ from: to - value.length, to }];
  });
}

/** Longest end of a line, and start of the next, that may be two parts of one token. */
const MAX_PART = 300;
const LAST_RUN = /(?<![\w.-])[A-Za-z][\w.-]{2,299}$/;
const FIRST_RUN = /^((?:\d{4}-\d\d-\d\d[T ][\d:.,]{5,20}Z?\s?|\s){0,8})([\w.-]{4,300})/;

/**
 * A token that a terminal or a log driver broke: it begins at the end of this line and ends at the start of the next. Spans
 * of the first and of the second line. A token that is whole on its own line takes nothing from the next, unless the next
 * holds nothing but more of the same kind.
 */
export function findWrapped(line: string, next: string): { readonly here: readonly Span[]; readonly there: readonly Span[] } {
  const none = { here: [], there: [] };
  const end = line.endsWith('\r') ? line.length - 1 : line.length;
  const last = LAST_RUN.exec(line.slice(Math.max(0, end - MAX_PART), end))?.[0];
  if (last === undefined) return none;
  const [, indent = '', first = ''] = FIRST_RUN.exec(next) ?? [];
  if (first === '') return none;
  const here = { from: end - last.length, to: end };
  const there = { from: indent.length, to: indent.length + first.length };
  const whole = findBoth(last).find(({ to }) => to === last.length);
  const missing = whole === undefined ? 0 : fullLength(last.slice(whole.from)) - (whole.to - whole.from);
  if (whole !== undefined && (missing <= 0 || first.length < missing))
    return isRest(first, next.slice(there.to)) ? { here: [here], there: [there] } : none;
  const across = findBoth(last + first).find(({ from, to }) => from < last.length && to > last.length);
  if (across === undefined) return none;
  return {
    here: [{ from: here.from + across.from, to: end }],
    there: [{ from: there.from, to: there.from + across.to - last.length }],
  };
}

function findBoth(text: string): Span[] {
  return [...findTokens(text), ...findModelKeys(text)];
}

/** How long a token is with its maker; 0 where that is not fixed. */
function fullLength(token: string): number {
  if (/^gh[pousr]_/.test(token) || token.startsWith('npm_')) return 40;
  if (token.startsWith('github_pat_')) return 93;
  return token.startsWith('glpat-') ? 26 : 0;
}

/** Nothing follows, and it is no word. */
function isRest(first: string, after: string): boolean {
  if (after.trim() !== '' || /[.-]/.test(first) || !/[A-Za-z]/.test(first)) return false;
  return /\d/.test(first) ? first.length >= 6 : first.length >= 16 && /[a-z][A-Z]/.test(first);
}

/** A kind of secret: literals without which no line holds one, and what finds them in a line. */
export interface Shape {
  readonly literals: readonly string[];
  readonly find: (line: string) => Span[];
}

/** Every kind that one line is enough to see. Literals are lower case and match in any case. */
export const SHAPES: readonly Shape[] = [
  { literals: TOKEN_LITERALS, find: findTokens },
  { literals: MODEL_KEY_LITERALS, find: findModelKeys },
  { literals: ASSIGNED_LITERALS, find: findAssigned },
  { literals: ADDRESS_LITERALS, find: findAddresses },
  { literals: HEADER_LITERALS, find: findHeaders },
  { literals: COMMAND_LITERALS, find: findInCommands },
  { literals: DOCKER_LITERALS, find: findDockerAuth },
  { literals: WEBHOOK_LITERALS, find: findWebhooks },
  { literals: ENCODED_KEY_LITERALS, find: findEncodedKeys },
];

/** The secrets in a line whose literals are known; bit n of `groups` stands for `SHAPES[n]`. */
export function findShapes(line: string, groups: number): Span[] {
  const spans: Span[] = [];
  for (let at = 0; at < SHAPES.length; at++) if ((groups & (1 << at)) !== 0) append(spans, SHAPES[at]?.find(line) ?? []);
  return spans;
}
