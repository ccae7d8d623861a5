import { append, takeFirstOfEach } from '../../lib/collections.ts';
import type { Span } from './span.ts';

/** Finds known secrets in a text, in every spelling: whole, truncated, or broken over lines. */
export type FindKnown = (text: string) => Span[];

/**
 * The maximum number of secrets of one run that are hidden everywhere. A hostile log could declare any
 * number.
 */
export const MAX_SECRETS = 1_000;
/**
 * The maximum length of the part of a secret that is searched for. The rest is compared where the part is
 * found.
 */
const MAX_LITERAL = 64;
/** The minimum length of a secret that is also found if up to two characters are missing at an end. */
const TRIMMED_FROM = 14;
const TRIM = 2;
/** The number of characters at the end of a line by which a broken secret is recognized. */
const GRAM = 3;
/** The maximum number of lines that one secret may be broken over. */
const MAX_BREAKS = 60;
/**
 * The maximum length of a secret's part on its first line, and the maximum numbers of indexed positions, in
 * total and for one gram.
 */
const MAX_FIRST_PART = 400;
const MAX_PLACES = 300_000;
const MAX_ALIKE = 8;
/** The text that may precede a continued line: white space, a time, a runner's name. */
const PREFIX = new RegExp(
  String.raw`^(?:\[[^\]]{0,60}\]\s?|\d{4}-\d\d-\d\d[T ][\d:.,]{5,20}Z?\s?|` +
    String.raw`\d\d:\d\d:\d\d[.,\d]{0,7}\s?|[>|]\s?|\s){0,12}`,
);

/** Creates a finder of known secrets. Returns null if there is nothing to look for. */
export function createKnownFinder(secrets: Iterable<string>): FindKnown | null {
  const forms = [...new Set(secrets)].slice(0, MAX_SECRETS).flatMap(listForms);
  if (forms.length === 0) return null;
  const cores = forms.map(({ text }) => {
    const trim = text.length >= TRIMMED_FROM ? TRIM : 0;
    return { trim, literal: text.slice(trim, Math.min(text.length - trim, trim + MAX_LITERAL)) };
  });
  const find = createFinder(cores.map(({ literal }) => literal));
  const grams = indexGrams(forms);
  return (text) => {
    const spans: Span[] = [];
    const hiddenTo = new Map<number, number>();
    find(text, (id, from) => {
      const [form, core] = [forms[id], cores[id]];
      // If a secret contains itself, the next match may be in a part that is hidden already.
      if (form === undefined || core === undefined || from + core.literal.length <= (hiddenTo.get(id) ?? 0))
        return;
      const span = extendMatch(text, from, core.trim, form);
      if (form.text.length < MIN_FORM && isWithinWord(text, span)) return;
      hiddenTo.set(id, span.to);
      spans.push(span);
    });
    findBroken(text, forms, grams, spans);
    return spans;
  };
}

/** Extends a match to both sides as long as the text equals the form. */
function extendMatch(text: string, at: number, trim: number, form: Form): Span {
  let from = at;
  let start = trim;
  while (start > 0 && text[from - 1] === form.text[start - 1]) {
    from--;
    start--;
  }
  let to = at;
  let index = trim;
  while (index < form.text.length && text[to] === form.text[index]) {
    to++;
    index++;
  }
  if (start === 0) for (let n = 0; n < form.before && isBase64(text, from - 1); n++) from--;
  if (index === form.text.length) for (let n = 0; n < form.after && isBase64(text, to); n++) to++;
  return { from, to };
}

/** Checks whether a match is part of a longer word, as a short secret may be. */
function isWithinWord(text: string, { from, to }: Span): boolean {
  return /\w/.test(text[from - 1] ?? '') || /\w/.test(text[to] ?? '');
}

function isBase64(text: string, at: number): boolean {
  return /[A-Za-z0-9+/_-]/.test(text[at] ?? '');
}

type Grams = ReadonlyMap<string, readonly (readonly [form: number, end: number])[]>;

/**
 * Indexes the positions at which a form may be broken: each three characters of it, with the position after
 * them.
 */
function indexGrams(forms: readonly Form[]): Grams {
  const grams = new Map<string, [number, number][]>();
  let count = 0;
  for (const [id, { text }] of forms.entries()) {
    const last = Math.min(text.length - GRAM, MAX_FIRST_PART);
    for (let end = GRAM; end <= last && count < MAX_PLACES; end++) {
      const gram = text.slice(end - GRAM, end);
      const places = grams.get(gram);
      if (places === undefined) grams.set(gram, [[id, end]]);
      else if (places.length < MAX_ALIKE) places.push([id, end]);
      else continue;
      count++;
    }
  }
  return grams;
}

/** Adds the places of forms that begin at the end of one line and continue on the next. */
function findBroken(text: string, forms: readonly Form[], grams: Grams, spans: Span[]): void {
  for (let lineEnd = text.indexOf('\n'); lineEnd !== -1; lineEnd = text.indexOf('\n', lineEnd + 1)) {
    const end = text.charCodeAt(lineEnd - 1) === 13 ? lineEnd - 1 : lineEnd;
    for (const [id, at] of grams.get(text.slice(Math.max(0, end - GRAM), end)) ?? []) {
      const form = forms[id]?.text ?? '';
      if (end >= at && text.startsWith(form.slice(0, at), end - at))
        append(spans, followBreak(text, form, at, end, lineEnd));
    }
  }
}

function followBreak(text: string, form: string, at: number, end: number, lineEnd: number): Span[] {
  const spans: Span[] = [{ from: end - at, to: end }];
  let known = at;
  let next = lineEnd + 1;
  for (let line = 0; line < MAX_BREAKS && known < form.length; line++) {
    const from = next + (PREFIX.exec(text.slice(next, next + 200))?.[0].length ?? 0);
    let to = from;
    while (known < form.length && to < text.length && text[to] === form[known]) {
      to++;
      known++;
    }
    if (to === from) return [];
    spans.push({ from, to });
    if (known < form.length && text[to] !== '\n' && text[to] !== '\r') return [];
    next = to + (text[to] === '\r' ? 2 : 1);
  }
  return known === form.length && form.length >= MIN_FORM ? spans : [];
}

/** A spelling of a secret to look for. */
interface Form {
  readonly text: string;
  /** The number of characters before and after it that also contain bits of the secret, in base64. */
  readonly before: number;
  readonly after: number;
}

/**
 * The minimum length of a spelling that is searched for inside words. A shorter one is searched for only if
 * the secret itself is that short, and only as a whole word.
 */
export const MIN_FORM = 8;

/**
 * Lists all spellings of a secret in logs: itself, base64 and base64url at each of the three offsets it can
 * have in a longer text, hex, URL-encoded, and escaped for JSON and XML.
 */
function listForms(secret: string): Form[] {
  if (secret.length < MIN_FORM) return [{ text: secret, before: 0, after: 0 }];
  const bytes = Buffer.from(secret, 'utf8');
  const hex = bytes.toString('hex');
  const plain = [
    secret,
    hex,
    hex.toUpperCase(),
    ...listUrlEncoded(secret),
    JSON.stringify(secret).slice(1, -1),
    ...encodeForXml(secret),
  ];
  const forms = plain
    .map((text) => ({ text, before: 0, after: 0 }))
    .concat([0, 1, 2].flatMap((place) => encodeBase64Forms(bytes, place)));
  return takeFirstOfEach(forms, ({ text }) => text).filter(({ text }) => text.length >= MIN_FORM);
}

/**
 * Encodes a secret in base64: the characters that depend only on the secret, and one at each end that also
 * depends on the adjacent text.
 */
function encodeBase64Forms(bytes: Buffer, place: number): Form[] {
  const whole = Buffer.concat([Buffer.alloc(place), bytes])
    .toString('base64')
    .replace(/={1,2}$/, '');
  const from = Math.ceil((place * 8) / 6);
  const to = Math.floor(((place + bytes.length) * 8) / 6);
  const text = whole.slice(from, to);
  const [before, after] = [place === 0 ? 0 : 1, whole.length > to ? 1 : 0];
  const safe = text.replaceAll('+', '-').replaceAll('/', '_');
  return [text, safe].map((encoded) => ({ text: encoded, before, after }));
}

function listUrlEncoded(secret: string): string[] {
  const encoded = encodeURIComponent(secret.toWellFormed());
  const strict = encoded.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const lower = (text: string) => text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  return [encoded, strict, lower(encoded), lower(strict), strict.replaceAll('%20', '+')];
}

/** The ways in which XML writers escape `>`, `"` and `'`. */
const XML_STYLES = [
  ['&gt;', '&quot;', '&apos;'],
  ['&gt;', '&quot;', '&#39;'],
  ['&gt;', '&quot;', '&#x27;'],
  ['&gt;', '&#34;', '&#39;'],
  ['&gt;', '&quot;', "'"],
  ['&gt;', '"', "'"],
  ['>', '&quot;', "'"],
  ['>', '"', "'"],
] as const;

function encodeForXml(secret: string): string[] {
  const text = secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return XML_STYLES.map(([above, double, single]) =>
    text.replaceAll('>', above).replaceAll('"', double).replaceAll("'", single),
  );
}

/** Calls `found` for each place in a text where one of the literals is, in order. Places may overlap. */
type FindLiterals = (text: string, found: (literal: number, from: number) => void) => void;

const TABLE = 1 << 16;

/**
 * Creates a search for any number of literals of at least two characters, case sensitive. Uses Wu and
 * Manber's method ("A fast algorithm for multi-pattern searching", 1994) over blocks of two characters, which
 * skips most of a text.
 */
function createFinder(literals: readonly string[]): FindLiterals {
  const shortest = literals.reduce((least, { length }) => Math.min(least, length), 255);
  const shifts = new Uint8Array(TABLE).fill(shortest - 1);
  const buckets = new Map<number, number[]>();
  for (const [id, literal] of literals.entries()) {
    for (let end = 1; end < shortest; end++) {
      const block = hashBlock(literal, end);
      shifts[block] = Math.min(shifts[block] ?? 0, shortest - 1 - end);
      if (end === shortest - 1) buckets.set(block, [...(buckets.get(block) ?? []), id]);
    }
  }
  return (text, found) => {
    for (let end = shortest - 1; end < text.length; ) {
      const block = hashBlock(text, end);
      const shift = shifts[block] ?? 0;
      if (shift > 0) {
        end += shift;
        continue;
      }
      const from = end - shortest + 1;
      for (const id of buckets.get(block) ?? [])
        if (text.startsWith(literals[id] ?? '', from)) found(id, from);
      end++;
    }
  };
}

/**
 * Hashes two characters to an index of the table. Different pairs may share an index, because each hit is
 * compared.
 */
function hashBlock(text: string, end: number): number {
  return ((text.charCodeAt(end - 1) * 251) ^ text.charCodeAt(end)) & (TABLE - 1);
}

export interface PseudonymOptions {
  readonly emails: boolean;
  /** True to replace private addresses, and host names with an ending that no public name has. */
  readonly hosts: boolean;
  /** Further endings of private host names, such as `.corp.example.com`. */
  readonly hostSuffixes?: readonly string[];
  /**
   * False to replace all by `<EMAIL>` and `<HOST>`, so that nothing can be restored. By default, the names
   * are numbered.
   */
  readonly numbered?: boolean;
}

/**
 * Numbered names for e-mail addresses and private hosts. Within one object, the same value always has the
 * same name.
 */
export interface Pseudonyms {
  /**
   * Replaces e-mail addresses and hosts by `<EMAIL_1>`, `<HOST_1>` and so on. The number of lines does not
   * change, and hiding again changes nothing.
   */
  hide(text: string): string;
  /**
   * Restores the original values for readers who may see them. Must not be used for a model, a store or a
   * comment.
   */
  reveal(text: string): string;
}

const EMAIL =
  /(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,5}\.[A-Za-z]{2,24}(?![\w-]|\.\w)/g;
/** User names of services: `git@host:path`, and `noreply@` of code hosts. */
const SERVICE = /^(?:git|noreply|no-reply|hg|svn|root)@/i;
const PRIVATE_V4 = new RegExp(
  String.raw`(?<![\w.-])(?:10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|` +
    String.raw`3[01])(?:\.\d{1,3}){2}|169\.254(?:\.\d{1,3}){2}|100\.(?:6[4-9]|[7-9]\d|` +
    String.raw`1[01]\d|12[0-7])(?:\.\d{1,3}){2})(?![\w-]|\.\d)`,
  'g',
);
const PRIVATE_V6 = /(?<![\w:.])f(?:[cd][0-9a-f]{2}|e[89ab][0-9a-f])(?::[0-9a-f]{0,4}){2,7}(?![\w:])/gi;
const PRIVATE_ENDINGS = [
  'local',
  'internal',
  'intranet',
  'intra',
  'lan',
  'corp',
  'private',
  'localdomain',
  'home.arpa',
];
const NAMED = /<(EMAIL|HOST)_(\d{1,6})>/g;
/**
 * The maximum number of names in one run, because a hostile log could hold any number. Further values share
 * one name.
 */
const MAX_NAMES = 10_000;
/**
 * The maximum number of passes over a text. A replacement may uncover another match, as in `fe80::1x.local`.
 */
const MAX_ROUNDS = 4;

/** Creates the pseudonyms of one run. The table exists in this object alone, and is never stored or sent. */
export function createPseudonyms(options: PseudonymOptions): Pseudonyms {
  const names = new Map<string, string>();
  const values = new Map<string, string>();
  const taken = new Set<string>();
  const counts = { EMAIL: 0, HOST: 0 };
  const assignName = (kind: keyof typeof counts, value: string): string => {
    const key = value.toLowerCase();
    const known = names.get(key);
    if (known !== undefined) return known;
    if (options.numbered === false || names.size >= MAX_NAMES) return `<${kind}>`;
    do counts[kind]++;
    while (taken.has(`<${kind}_${counts[kind]}>`));
    const name = `<${kind}_${counts[kind]}>`;
    names.set(key, name);
    values.set(name, value);
    return name;
  };
  const hostName = buildHostPattern(options.hostSuffixes ?? []);
  const hideOnce = (text: string): string => {
    let hidden = text;
    if (options.emails && text.includes('@'))
      hidden = hidden.replace(EMAIL, (email) => (SERVICE.test(email) ? email : assignName('EMAIL', email)));
    if (!options.hosts) return hidden;
    return hidden
      .replace(PRIVATE_V4, (address) => (isAddress(address) ? assignName('HOST', address) : address))
      .replace(PRIVATE_V6, (address) => assignName('HOST', address))
      .replace(hostName, (host) => assignName('HOST', host));
  };
  return {
    hide: (text) => {
      // A text that already contains <HOST_1> must not be revealed as a real host.
      for (const [name] of text.matchAll(NAMED)) if (!values.has(name)) taken.add(name);
      let hidden = text;
      for (let round = 0, before = ''; round < MAX_ROUNDS && hidden !== before; round++) {
        before = hidden;
        hidden = hideOnce(before);
      }
      return hidden;
    },
    reveal: (text) => text.replace(NAMED, (name) => values.get(name) ?? name),
  };
}

function isAddress(text: string): boolean {
  return text.split('.').every((part) => Number(part) <= 255);
}

function buildHostPattern(suffixes: readonly string[]): RegExp {
  const endings = [...PRIVATE_ENDINGS, ...suffixes.map((suffix) => suffix.replace(/^\.+/, ''))].filter(
    (ending) => ending !== '',
  );
  const any = endings.map((ending) => ending.replace(/[^A-Za-z0-9]/g, '\\$&')).join('|');
  return new RegExp(
    `(?<![\\w.@/-])[A-Za-z0-9][A-Za-z0-9-]{0,62}(?:\\.[A-Za-z0-9-]{1,63}){0,4}?\\.(?:${any})(?![\\w-]|\\.\\w|\\()`,
    'gi',
  );
}
