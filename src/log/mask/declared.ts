import { buildMatcher, findGroups, type Matcher, shortenLiterals } from '../scan/matcher.ts';
import { findAssigned } from './assigned.ts';
import { isPlaceholder, type Span } from './span.ts';
import type { Shape } from './tokens.ts';

/**
 * A statement that declares a value secret: its literals, one of which is on every such line, and a pattern
 * whose last group is the value.
 */
type Declaration = readonly [literals: readonly string[], pattern: RegExp];

/** Commands of CI systems and PowerShell that declare a value secret. */
const DECLARATIONS: readonly Declaration[] = [
  [
    ['##vso[task.setvariable'],
    /##vso\[task\.setvariable (?=[^\]\n]{0,400}\bissecret=["']?true\b)[^\]\n]{1,400}\]([^\r\n]{1,4096})/gi,
  ],
  [['##vso[task.setsecret'], /##vso\[task\.setsecret\]([^\r\n]{1,4096})/gi],
  [['::add-mask::', '##[add-mask]'], /(?:::|##\[)add-mask(?:::|\])([^\r\n]{1,4096})/gi],
  [
    ['convertto-securestring'],
    new RegExp(
      String.raw`\bConvertTo-SecureString\s{1,3}(?:-(?:String|AsPlainText|Force)\s{1,3}){0,3}` +
        String.raw`(?:"([^"]{1,4096})"|'([^']{1,4096})'|([^\s"'$(-]\S{0,400}))`,
      'gi',
    ),
  ],
];

/** The closing quotation mark of a command that a shell prints. It is not part of the value. */
const QUOTED_COMMAND = /["'`]$/;

/** Finds values that a line explicitly declares secret. */
export function findDeclared(line: string): Span[] {
  return DECLARATIONS.flatMap(([, pattern]) =>
    Array.from(line.matchAll(pattern)).flatMap((match) => {
      const value = match.findLast((group) => group !== undefined) ?? '';
      const from = match.index + match[0].lastIndexOf(value);
      const quote = QUOTED_COMMAND.exec(line.slice(Math.max(0, match.index - 1), match.index))?.[0];
      const end = quote === undefined ? -1 : value.indexOf(quote);
      const declared = (end === -1 ? value : value.slice(0, end)).trimEnd();
      return declared === '' || isPlaceholder(declared) ? [] : [{ from, to: from + declared.length }];
    }),
  );
}

/**
 * The minimum number of characters of a declared value that is hidden everywhere, for one word and for
 * several words.
 */
const MIN_DECLARED = 6;
const MIN_DECLARED_WORDS = 10;
/** Values that jobs declare by mistake and that any log contains: words, numbers, versions. */
const ORDINARY = /^(?:[a-z]{1,11}|[A-Z]{1,11}|[A-Z][a-z]{1,10}|\d{1,9}|v?\d+(?:\.\d+){1,3})$/;

/** Tells whether a declared value is distinctive enough to be hidden in all texts. */
export function canHideEverywhere(value: string): boolean {
  return value.length >= (/\s/.test(value) ? MIN_DECLARED_WORDS : MIN_DECLARED) && !ORDINARY.test(value);
}

export const DECLARED: Shape = {
  literals: DECLARATIONS.flatMap(([literals]) => literals),
  find: findDeclared,
};

/** Hashes of passwords as in `/etc/shadow` and `htpasswd`. They allow guessing the password offline. */
const HASHES = new RegExp(
  String.raw`\$(?:(?:1|apr1)\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}|[56]\$(?:rounds=\d{1,9}\$)?` +
    String.raw`[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{43,86}|2[abxy]\$\d\d\$[./A-Za-z0-9]{53}|` +
    String.raw`(?:y|gy|7)\$[./A-Za-z0-9]{1,20}\$[./A-Za-z0-9]{1,90}\$[./A-Za-z0-9]{43}|argon2(?:id|i|` +
    String.raw`d)\$v=\d{1,3}\$[\w=,]{1,60}\$[A-Za-z0-9+/]{8,100}\$[A-Za-z0-9+/]{16,200})` +
    String.raw`(?![./A-Za-z0-9])|(?<=:)\{S{0,2}SHA(?:256|512)?\}[A-Za-z0-9+/]{20,140}={0,2}`,
  'g',
);

export const PASSWORD_HASHES: Shape = {
  literals: [
    '$1$',
    '$apr1$',
    '$5$',
    '$6$',
    '$2a$',
    '$2b$',
    '$2x$',
    '$2y$',
    '$y$',
    '$gy$',
    '$7$',
    '$argon2',
    ':{sha',
    ':{ssha',
  ],
  find: (line) =>
    Array.from(line.matchAll(HASHES), ({ 0: hash, index }) => ({ from: index, to: index + hash.length })),
};

/** Names at the beginning of an assignment that is encoded in base64 or hex. */
const ENCODED_NAMES = ['password', 'passwd', 'secret', 'api_key', 'apikey', 'token'].flatMap((name) => [
  name,
  name.toUpperCase(),
  `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
]);
const IN_BASE64 = ENCODED_NAMES.flatMap((name) => [0, 1, 2].map((place) => encodeAt(name, place)));
const IN_HEX = ENCODED_NAMES.map((name) => Buffer.from(name).toString('hex'));
const BASE64_RUN = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,8192}={0,2}/g;
const HEX_RUN = /(?<![0-9A-Za-z])(?:[0-9a-f]{2}){12,4096}(?![0-9A-Za-z])/gi;

/**
 * Returns the base64 characters that depend only on `name`, if it begins `place` bytes after a multiple of
 * three.
 */
function encodeAt(name: string, place: number): string {
  const whole = Buffer.concat([Buffer.alloc(place), Buffer.from(name)]).toString('base64');
  return whole.slice(Math.ceil((place * 8) / 6), Math.floor(((place + name.length) * 8) / 6));
}

/** Assignments of secrets that are encoded as a whole in base64 or hex. */
export const ENCODED_ASSIGNMENTS: Shape = {
  literals: [...IN_BASE64, ...IN_HEX],
  find: (line) => [
    ...findEncoded(line, BASE64_RUN, IN_BASE64, (run) => Buffer.from(run, 'base64')),
    ...findEncoded(line, HEX_RUN, IN_HEX, (run) => Buffer.from(run, 'hex')),
  ],
};

function findEncoded(
  line: string,
  runs: RegExp,
  literals: readonly string[],
  decode: (run: string) => Buffer,
): Span[] {
  return Array.from(line.matchAll(runs)).flatMap(({ 0: run, index }) => {
    const sought = runs === HEX_RUN ? run.toLowerCase() : run;
    if (!literals.some((literal) => sought.includes(literal))) return [];
    const text = decode(run).toString('utf8');
    // If it does not decode to text, it is not an assignment and only contains these characters.
    if (/[\u0000-\u0008\u000e-\u001f\ufffd]/.test(text)) return [];
    return text.split(/\r?\n/).some((row) => findAssigned(row).length > 0)
      ? [{ from: index, to: index + run.length }]
      : [];
  });
}

/** Invisible characters. In a name or a value, they would keep it from being found. */
const UNSEEN = ['\u00ad', '\u200b', '\u200c', '\u200d', '\u2060', '\ufeff'];
const UNSEEN_ANY = new RegExp(`[${UNSEEN.join('')}]`, 'g');
/**
 * Matches an invisible character, except the byte order mark before a time, with which each step in a log of
 * GitHub Actions begins.
 */
const HIDES = /[\u00ad\u200b-\u200d\u2060]|\ufeff(?!\d{4}-\d\d-\d\dT)/;

/** Creates a shape that finds the secrets of `shapes` in lines that contain invisible characters. */
export function createUnseenShape(shapes: readonly Shape[]): Shape {
  let matcher: Matcher | undefined;
  return {
    literals: UNSEEN,
    find: (line) => {
      if (!HIDES.test(line)) return [];
      const seen = line.replace(UNSEEN_ANY, '');
      matcher ??= buildMatcher(shapes.map(({ literals }) => shortenLiterals(literals)));
      const groups = findGroups(seen, matcher);
      const spans = shapes.flatMap(({ find }, group) => (groups.has(group) ? find(seen) : []));
      if (spans.length === 0) return [];
      const places = line.split('').flatMap((character, at) => (UNSEEN.includes(character) ? [] : [at]));
      return spans.map(({ from, to }) => ({
        from: places[from] ?? line.length,
        to: (places[to - 1] ?? line.length - 1) + 1,
      }));
    },
  };
}
