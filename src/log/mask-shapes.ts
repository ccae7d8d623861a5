/** A text with its secrets hidden, and how many there were. */
export interface Masked {
  readonly text: string;
  readonly count: number;
}

/** Literals without which no shape below can match. */
export const SHAPE_LITERALS = [
  'token',
  'passw',
  'passphrase',
  'secret',
  'credential',
  'authorization',
  'bearer',
  'apikey',
  'api_key',
  'api-key',
  'access_key',
  'access-key',
  'accesskey',
  'private_key',
  'pwd',
  '://',
  'eyj',
  'akia',
  'asia',
  'aiza',
  'npm_',
  'pypi-',
  'dckr_',
  'glpat-',
  'gh',
  'xox',
  'client_secret',
  'signature=',
  'sig=',
  '_auth',
] as const; // prettier-ignore

/** Tokens that give themselves away; the whole match is hidden. */
const TOKENS =
  /\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255}|gl(?:pat|dt|rt|ft|cbt|ptt)-[\w-]{16,255}|npm_[A-Za-z0-9]{30,60}|pypi-[\w-]{40,255}|dckr_(?:pat|oat)_[\w-]{20,64}|xox[abeoprs]-[A-Za-z0-9-]{10,255}|(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA)[A-Z0-9]{16}|AIza[\w-]{35}|ya29\.[\w-]{20,255}|eyJ[\w-]{10,4000}\.[\w-]{10,8000}(?:\.[\w-]{4,2000})?)(?![A-Za-z0-9])/g;

/** `Authorization: Bearer …` and the like: the credentials after the scheme. */
const AUTHORIZATION =
  /\b((?:proxy-)?authorization["']?\s{0,3}[:=]\s{0,3}["']?(?:(?:basic|bearer|token|apikey|negotiate|digest)\s{1,3})?|bearer\s{1,3})([\w+/=.~-]{8,4096})/gi;

/** `https://user:password@host`: the password, or a lone long token in its place. */
const URL_CREDENTIALS = /(\b[a-z][a-z0-9+.-]{1,30}:\/\/)(?:([^\s:/@"'<>]{0,200}):([^\s/@"'<>]{1,400})|([\w-]{20,400}))@/gi;

/** `token=…`, `"password": "…"`, `--api-key …`. */
const ASSIGNED =
  /((?:(?<![\w.-])[\w.-]{0,200}?(?:token|passw(?:or)?d|passphrase|secret|credentials?|api[_-]?key|access[_-]?key|private[_-]?key|signature|_auth|pwd)[\w-]{0,40}|\bsig)["']?(?:\s{0,3}(?:=>|[:=])\s{0,3}|\s(?=[^\s:=-]))["']?)([^\s"',;&<>(){}[\]]{6,4096})/gi;

/** Hides CI-specific shapes in one line. */
export function maskShapes(line: string): Masked {
  let count = 0;
  const hide = () => {
    count++;
    return '***';
  };
  const text = line
    .replace(TOKENS, hide)
    .replace(AUTHORIZATION, (whole, head: string, value: string) => (isPlaceholder(value) || !looksSecret(value) ? whole : head + hide()))
    .replace(URL_CREDENTIALS, (whole, scheme: string, user: string | undefined, password: string | undefined) => {
      if (password === undefined) return `${scheme}${hide()}@`;
      return isPlaceholder(password) ? whole : `${scheme}${user}:${hide()}@`;
    })
    .replace(ASSIGNED, (whole, head: string, value: string) => (isAssignedSecret(head, value) ? head + hide() : whole));
  return { text, count };
}

function isAssignedSecret(head: string, value: string): boolean {
  if (isPlaceholder(value)) return false;
  const explicit = /[:=]/.test(head);
  if (/passw|pwd|passphrase/i.test(head) && /=/.test(head)) return value.length >= 6 && /\d|[^\w]/.test(value) && !/^[/.]/.test(value);
  return explicit ? looksSecret(value) : value.length >= 20 && looksSecret(value) && /^-{1,2}/.test(head);
}

function isPlaceholder(value: string): boolean {
  return /^\*{3}|\*{3}$|^[$%<{]|^(?:null|none|true|false|undefined|redacted|\[?masked\]?|x{3,}|process\.env|secrets\.|env\.)|^\w{1,60}\(/i.test(
    value,
  );
}

/** Letters and digits mixed, at least 8 characters, and at least 2.8 bits of entropy a character: no word, path, version or time. */
function looksSecret(value: string): boolean {
  if (value.length < 8 || /^[./~]|\.\.|^\d[\d.:T-]*Z?$|^[\d.]+$|^https?:/.test(value)) return false;
  if (!/\d/.test(value) || !/[A-Za-z]/.test(value)) return false;
  return entropy(value) >= 2.8;
}

function entropy(value: string): number {
  const counts = new Map<string, number>();
  for (const char of value.slice(0, 256)) counts.set(char, (counts.get(char) ?? 0) + 1);
  const total = Math.min(value.length, 256);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / total) * Math.log2(count / total);
  return bits;
}
