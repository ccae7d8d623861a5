import { isPlaceholder, looksRandom, looksSecret, type Span } from './span.ts';
import { isVendorValue } from './tokens.ts';

/** Literals, case ignored. Every line that assigns a value to a secret name contains one of them. */
export const ASSIGNED_LITERALS: readonly string[] = [
  'token',
  'passw',
  'passphrase',
  'pwd',
  'secret',
  'credential',
  'apikey',
  'api_key',
  'api-key',
  'access_key',
  'access-key',
  'accesskey',
  'private_key',
  'privatekey',
  'private-key',
  'accountkey',
  'account_key',
  'signature',
  'sig=',
  '_auth',
  'key=',
  '_key',
  'client-key-data',
  'storepass',
  'keypass',
  'creds',
  'sonar.login',
  'sonar_login',
  'pass:',
  'pass"',
  "pass'",
  'kennwort',
  'mot de passe',
  'mot_de_passe',
  'motdepasse',
  'contrase',
  'senha',
  'wachtwoord',
];

/** A name that may be that of a secret. The text after it decides. */
const NAME = new RegExp(
  String.raw`passw(?:or[dt]|d)|passphrase|kennwort|mot[ _]?de[ _]?passe|contrase(?:ñ|n)a|\bsenha|` +
    String.raw`wachtwoord|(?<![\w-])pass(?=["']?:)|(?:store|key)pass|pwd|token|secret(?:[_-]?id)?|` +
    'credentials?|creds|sonar[._]login|(?:api|access|account|private)[_-]?key|' +
    String.raw`client-key-data|signature|_auth|\bsig|\bkey|_key`,
  'gi',
);

/**
 * The text between name and value: the rest of the name, quotes, a type (`token: string =`), and the sign of
 * assignment: `=`, `:`, `=>`, `::=`, `?=`, `.=`, `value=`, the end of a tag, the space after an option, the
 * comma between two quoted arguments.
 */
const TAIL =
  /([\w-]{0,40})(?:\\{0,3}["'`]|&quot;|&#34;)?\]?(?:(?::?\s{1,3}&?(?:string|str|String)\b)?\s{0,20}(=>|:{1,3}=|[?.+|]{1,2}=|[:=]|value\s?=)|(>)|(\s)(?=[^\s:=-])|((?<=["']),)(?=\s{0,3}\\{0,3}["']))\s{0,3}(?:\u001b\[[\d;]{0,20}m){0,2}(\\{0,3}["'`]|&quot;|&#34;)?/y;

/** Rests of names that mean something about a secret, such as its length, and not the secret itself. */
const ABOUT = new RegExp(
  String.raw`^[\s_-]?(?:name|lib|file|path|url|uri|ids?|type|count|len|length|size|expir\w*|ttl|dir|` +
    'folder|host|user|field|prefix|pattern|regexp?|policy|version|class|kind|mode|status|' +
    'provider|store|manager|helper|limit|usage|index|pos|position|offset|line|column|arn|ref|' +
    String.raw`label|header|alg\w*|method|format|scope|required|set|hash|` +
    'fingerprint|checksum)s?(?![a-z])',
  'i',
);

/** Words directly before `token` or `secret` in a name without separators: `authtoken`, `GITHUBTOKEN`. */
const COMPOUND = new RegExp(
  '(?:access|auth|api|app|bearer|refresh|id|session|csrf|xsrf|deploy|github|' +
    'gitlab|npm|pypi|user|client|shared|my|ssh|push|bot|slack|registry|' +
    'service|master|encryption|security|reg)$',
  'i',
);

/** Names of keys that are not secret although their values look random. */
const PUBLIC_KEY = new RegExp(
  '(?:cache|restore|hash|public|pub|host|primary|foreign|sort|partition|object|storage|' +
    String.raw`commit|index|group|map|dedup\w{0,20}|etag|translation|i18n|` +
    'lock|build|sha|digest)[_-]?key$',
  'i',
);

/**
 * Finds the values in a line that have the name of a secret: `token=…`, `"password": "…"`, `--api-key …`,
 * `<password>…`.
 */
export function findAssigned(line: string): Span[] {
  const spans: Span[] = [];
  NAME.lastIndex = 0;
  for (let name = NAME.exec(line); name !== null; name = NAME.exec(line)) {
    TAIL.lastIndex = name.index + name[0].length;
    const tail = TAIL.exec(line);
    if (tail === null || !namesSecret(line, name.index, name[0], tail[1] ?? '')) continue;
    const from = TAIL.lastIndex;
    const site = describeSite(line, name.index, name[0], tail);
    if (
      site.how === 'tag' &&
      (line[from - 1] !== '>' || !/<[\w:-]{0,64}$/.test(line.slice(Math.max(0, name.index - 65), name.index)))
    )
      continue;
    if (site.how === 'argument' && !FIRST_ARGUMENT.test(line.slice(Math.max(0, name.index - 80), name.index)))
      continue;
    const to = findValueEnd(line, from, site);
    if (isSecretValue(line.slice(from, to), site)) {
      const end = to - from < MAX_VALUE ? to : findUnquotedEnd(line, to);
      spans.push({ from, to: end });
      NAME.lastIndex = end;
    } else if (to - from > MAX_INNER) NAME.lastIndex = to;
  }
  return spans;
}

/** A tag or a YAML block at the end of a line. Its value is on the next line. */
const OPENS_BLOCK = /(?:<[\w:.-]{1,64}>|:\s{0,3}[|>][-+]?)\s{0,3}$/;
const ONLY_VALUE = /^\s{0,200}([^\s<>]{8,4096})\s{0,20}$/;

/** Checks whether the value of a line's last name may be on the next line: `<apiToken>`, `api_token: |`. */
export function opensBlock(line: string): boolean {
  return OPENS_BLOCK.test(line.slice(-100));
}

/** Finds the value on the line after one that only names it. */
export function findBelow(line: string, next: string): Span[] {
  const value = ONLY_VALUE.exec(next.slice(0, MAX_VALUE))?.[1];
  if (value === undefined) return [];
  const from = next.indexOf(value);
  const joined = `${line.trimEnd().replace(/(:\s{0,3})[|>][-+]?$/, '$1')}${value}`;
  return findAssigned(joined).some(({ to }) => to === joined.length)
    ? [{ from, to: from + value.length }]
    : [];
}

/** The maximum number of characters of a value that are read. */
const MAX_VALUE = 4096;
/** The maximum length of a harmless value in which further names are searched, as in `url=…?token=…`. */
const MAX_INNER = 100;

/**
 * Text before a name whose values are public by design: `a=ice-pwd:…` is valid for one connection (RFC 8839),
 * and `PublicKeyToken` is how .NET names public keys.
 */
const NOT_SECRET = /\bice-$|\bPublicKey$/;
/** `-Dtoken=…`, which sets a property of a Java program. */
const PROPERTY = /(?:^|\s)-D$/;
/** The first argument of a call. In a list, in contrast, names are next to names. */
const FIRST_ARGUMENT = /\(\s{0,3}\\{0,3}["'][\w.-]{0,64}$/;

/** Names of passwords in common languages. */
const PASSWORD = /^(?:pass|pwd|kennwort|mot|contrase|senha|wachtwoord)/i;

/** The place and the form of a value's assignment. */
interface Site {
  readonly kind: 'password' | 'token' | 'key';
  readonly how: 'assigned' | 'labelled' | 'tag' | 'option' | 'argument';
  readonly quote: string;
  /** True for names in capitals, `EXPORTED_LIKE_THIS`, which do not occur in prose. */
  readonly shouted: boolean;
  /** True for a parameter of a URL or connection string. */
  readonly parameter: boolean;
  /** True for a field of a struct as Go prints it: `{User:ci Password:…}`. */
  readonly field: boolean;
  readonly name: string;
}

function namesSecret(line: string, at: number, name: string, rest: string): boolean {
  if (ABOUT.test(rest)) return false;
  const last = name.charCodeAt(name.length - 1);
  const isLower = last >= 97;
  // "tokens", "token_1" and "tokenValue" are names of tokens; "tokenizer" and "secretary" are other words.
  if (
    rest !== '' &&
    (isLower ? !/^(?:s(?![a-z])|[_\d-]|[A-Z])/.test(rest) : !/^(?:S(?![A-Z])|[_\d-])/.test(rest))
  )
    return false;
  return startsWord(line, at, name);
}

function startsWord(line: string, at: number, name: string): boolean {
  const before = line.slice(Math.max(0, at - 16), at);
  if (NOT_SECRET.test(before)) return false;
  if (at === 0 || name.startsWith('_') || PASSWORD.test(name)) return true;
  if (!/[A-Za-z]$/.test(before) || PROPERTY.test(before)) return true;
  return /^[A-Z][a-z]/.test(name) || (/[a-z]$/.test(before) && /^[A-Z]/.test(name)) || COMPOUND.test(before);
}

function describeSite(line: string, at: number, name: string, tail: RegExpExecArray): Site {
  const head = /[\w.-]{0,64}$/.exec(line.slice(Math.max(0, at - 64), at))?.[0] ?? '';
  const whole = `${head}${name}${tail[1] ?? ''}`;
  const kind =
    PASSWORD.test(name) || /^(?:store|key)pass/i.test(name)
      ? 'password'
      : /^_?key$/i.test(name)
        ? 'key'
        : 'token';
  return {
    kind,
    how:
      (['tag', 'option', 'argument'] as const).find((_, i) => tail[i + 3] !== undefined) ??
      (tail[2] === ':' ? 'labelled' : 'assigned'),
    quote: tail[6] ?? '',
    shouted: /^[A-Z][A-Z0-9_]*$/.test(whole),
    parameter: /[?&;]$/.test(line.slice(0, at - head.length).slice(-1)),
    field:
      /[{ ]$/.test(line.slice(0, at - head.length).slice(-1)) &&
      /^[A-Z]/.test(whole) &&
      tail[0].endsWith(':') &&
      isInStruct(line, at),
    name: whole,
  };
}

/** Tells whether the position is inside a struct as Go prints it. */
function isInStruct(line: string, at: number): boolean {
  const before = line.slice(Math.max(0, at - MAX_INNER * 3), at);
  return before.lastIndexOf('{') > before.lastIndexOf('}') && line.indexOf('}', at) !== -1;
}

/** Returns the end of a value: the closing quote, or the end of an unquoted value. */
function findValueEnd(line: string, from: number, { quote, kind, how, shouted, parameter }: Site): number {
  const near = line.slice(from, from + MAX_VALUE);
  const close = quote === '' ? -1 : near.indexOf(quote);
  if (close !== -1) return from + close;
  const whole = kind === 'password' && how === 'assigned' && shouted && !parameter;
  const stop = whole ? WHITESPACE : how === 'tag' ? MARKUP : ENDS;
  const end = near.search(stop);
  return from + (end === -1 ? near.length : end);
}

function findUnquotedEnd(line: string, from: number): number {
  ENDS_FROM.lastIndex = from;
  return ENDS_FROM.exec(line)?.index ?? line.length;
}

const WHITESPACE = /[\s"'`\u0000-\u001f]/;
const MARKUP = /[<\s]/;
const ENDS = /[\s"'`,;&<>(){}[\]|\\\u0000-\u001f]/;
const ENDS_FROM = new RegExp(ENDS, 'g');

function isSecretValue(value: string, site: Site): boolean {
  if (isPlaceholder(value) || (site.kind !== 'password' && /\s/.test(value))) return false;
  if (site.how === 'tag' && site.kind !== 'password') return looksSecret(value);
  switch (site.kind) {
    case 'password':
      return isPassword(value, site);
    case 'token':
      if (site.how === 'option' && !/^-{1,2}[\w-]*$/.test(site.name)) return false;
      return looksSecret(value) || isVendorValue(site.name, value);
    case 'key':
      return (
        (site.how === 'assigned' || site.quote !== '') &&
        !PUBLIC_KEY.test(site.name) &&
        (looksRandom(value) || isHexKey(value, site) || isVendorValue(site.name, value))
      );
  }
}

/** Names of secret keys. A plain `key=` before hexadecimal digits may just as well be a checksum. */
const SECRET_KEY = new RegExp(
  '(?:encrypt(?:ion)?|decrypt(?:ion)?|signing|sign|master|hmac|aes|cipher|' +
    'jwt|session|cookie|auth|webhook|vault)[_.-]?key$',
  'i',
);

/**
 * Names of keys that sign packages. 40 hexadecimal digits are then the fingerprint of an OpenPGP key, which
 * is public.
 */
const SIGNING_KEY = /(?<!(?:cookie|hmac|jwt|request|session|token|url|webhook)[_.-]?)sign(?:ing)?[_.-]?key$/i;

/** Tells whether a value is a hexadecimal key of at least 128 bits with the name of a secret key. */
function isHexKey(value: string, { name }: Site): boolean {
  if (SIGNING_KEY.test(name) && value.length === 40) return false;
  return (
    SECRET_KEY.test(name) && value.length >= 32 && /^(?:0x)?[0-9a-f]+$/i.test(value) && looksSecret(value)
  );
}

/** Tells whether a value is a password. It need not look random if its context allows nothing else. */
function isPassword(value: string, { how, quote, shouted, parameter, field, name }: Site): boolean {
  // Test runners print `PASS: name`; objects quote their values.
  if (/^pass$/i.test(name) && (quote === '' || name !== 'pass')) return false;
  if (how === 'option') return /^-{1,2}[\w-]*$/.test(name) && value.length >= 4 && !/^[-/]/.test(value);
  if (/^[/.~]/.test(value) || value.length < 4) return false;
  if (
    /^(?:str|string|text|bytes?|varchar|required|optional|incorrect|invalid|missing|wrong|prompt|must|is|was|for|not)$/i.test(
      value,
    )
  )
    return false;
  if (shouted || parameter || field || how === 'tag') return true;
  if (how === 'assigned') return value.length >= 6 && /\d|[^\w]/.test(value);
  if (looksSecret(value)) return true;
  if (quote !== '') return value.length >= 6 && /\d|[^\w\s]/.test(value) && !/\s/.test(value);
  return how === 'labelled' && isMadeUp(value);
}

/**
 * Tells whether a value has at least six characters, with letters and digits, and is not a time, a version or
 * a path.
 */
function isMadeUp(value: string): boolean {
  return (
    value.length >= 6 &&
    /[A-Za-z]/.test(value) &&
    /\d/.test(value) &&
    !/^v?\d+[.:]|[/\\]|\.\w{1,4}$/.test(value)
  );
}

/** Sentences that contain a password: `password is …`, `Password for user ci: …`. */
const SENTENCES: readonly RegExp[] = [
  /\bpassw(?:or[dt])(?: (?:is|was|ist|set to|changed to)|:) (?:now |set to )?(["'`]?)([^\s"'`,;{}]{6,200})\1/gi,
  /\bpassw(?:or[dt]) f(?:or|ür) [^\r\n]{1,200}: (["'`]?)([^\s"'`]{4,200})\1\s{0,20}$/gi,
];

/** Finds the values of passwords in sentences. */
export function findTold(line: string): Span[] {
  return SENTENCES.flatMap((pattern) =>
    Array.from(line.matchAll(pattern)).flatMap((match) => {
      const value = (match[2] ?? '').replace(/[.!]$/, '');
      const from = match.index + match[0].lastIndexOf(match[2] ?? '');
      return isPlaceholder(value) || !isMadeUp(value) ? [] : [{ from, to: from + value.length }];
    }),
  );
}
