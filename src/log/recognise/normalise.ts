import { stripEscapes } from '../lines/clean.ts';

const DURATION =
  /\d{1,12}(?:[.,]\d{1,12})?\s?(?:ns|us|µs|ms|millis|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|days?)(?![A-Za-z])/;

/** Order matters: the long shapes first, bare numbers last. Every quantifier is bounded or runs over one class. */
const REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/[‘’“”"`´]/g, "'"],
  [/\b\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?/g, '<time>'],
  [
    /\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? {1,2}(?:\d{1,2} )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\b/g,
    '<time>',
  ],
  [/\b\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?\b/g, '<time>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<uuid>'],
  [/\b0x[0-9a-f]{1,16}\b/gi, '<hex>'],
  // Digits alone are a number, however many.
  [/\b(?=[0-9a-f]{0,39}\d)(?=\d{0,39}[a-f])[0-9a-f]{7,64}\b/gi, '<hex>'],
  // One service is asked for by name, in IPv4 or in IPv6, whatever the machine prefers.
  [/(?<![\w:.-])(?:localhost|\[?::1\]?)(?::\d{1,5})?(?![\w:-])/g, '<address>'],
  // Java prints a socket's address with the name it was asked for: ci-7.example.net/10.0.0.7:50000.
  [/(?:(?<![\w.-])[\w.-]{1,100}\/)?\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b/g, '<address>'],
  [
    /(?<![\w:])(?:[0-9a-f]{1,4}:){4,7}[0-9a-f]{1,4}(?![\w:])|(?<![\w:])(?:(?:[0-9a-f]{1,4}:){1,6}|:):(?=[a-f]{0,4}\d)[0-9a-f]{1,4}(?![\w:])/gi,
    '<address>',
  ],
  [/(?<=[\w\]])@[0-9a-f]{5,8}\b/g, '@<hex>'],
  [new RegExp(`\\b${DURATION.source}(?:,? ?${DURATION.source}){0,3}`, 'g'), '<duration>'],
  [/\b\d{1,12}(?:[.,]\d{1,12})?\s?(?:[kKMGT]i?B|bytes?)\b/g, '<size>'],
  // Absolute or relative, of any system: the file's name stays.
  [/(?:\bfile:\/\/|\\\\\?\\)?(?:[A-Za-z]:|(?<![\w.@+~-])[\w.@+~-]{1,100})?(?:[\\/]{1,2}[\w.@+~-]{1,100}){2,30}/g, '<path>'],
  [/\btmp(?:(?=[a-z]{0,7}[0-9_])[a-z0-9_]{8}|\.[A-Za-z0-9]{6,12})\b/g, '<tmp>'],
  [/\d+(?:\.\d+)*/g, '<n>'],
  [/\*{3,}/g, '***'],
  [/\s+/g, ' '],
];

/** A message without what changes from run to run: times, ids, addresses, path prefixes (the file's name stays), numbers. */
export function normaliseMessage(text: string): string {
  let out = stripEscapes(text.slice(0, 1_000));
  for (const [pattern, replacement] of REPLACEMENTS) {
    out = replacement === '<path>' ? out.replace(pattern, baseName) : out.replace(pattern, replacement);
  }
  return out.trim();
}

/** Numbers that tell one failure from another: HTTP statuses and exit codes, by the words around them. */
const TELLING_NUMBERS: readonly RegExp[] = [
  /(?<=\b(?:HTTP(?:\/\d(?:\.\d)?)?|status(?: ?code)?|response(?: code)?|returned(?: error)?|responded with|server error|client error|HTTP error)[ :='"(]{1,3})[1-5]\d\d\b/gi,
  /\b[45]\d\d(?= (?:Bad|Unauthori[sz]ed|Payment|Forbidden|Not |Method|Conflict|Gone|Too Many|Unprocessable|Internal|Service|Gateway|Client Error|Server Error))/g,
  /(?<=\bE)[45]\d\d\b/g,
  /(?<=\bexit(?:ed)?(?: with)?(?: (?:code|status|value))?[ :='"(]{1,3})-?\d{1,3}\b/gi,
];

/** Words that differ between two reports of one failure: by the reporter, by which check came first, or by chance. */
const CHANCE: readonly (readonly [RegExp, string])[] = [
  // Some reporters print the assertion's class before its message, others do not.
  [/^(?:[\w.$]{0,100}\.)?(?:AssertionError|AssertionFailedError|ComparisonFailure)(?: \[\w{1,40}\])?: (?=\S)/, ''],
  [/\b(?:strictly |loosely )?(?:deep(?:ly)?[- ])?(?=equal\b)/, ''],
  // V8 names the place that asked for memory last.
  [/^(?:# )?Fatal (?:process OOM in|javascript OOM in|javascript out of memory:) .{1,200}$/i, '<v8-out-of-memory>'],
  [/^FATAL ERROR: .{1,200} JavaScript heap out of memory$/, '<v8-out-of-memory>'],
];

/**
 * The same, but HTTP statuses and exit codes stay: a 404 is not a 502, and a killed process is not one that gave up. Words that are
 * there by chance go: the class of an assertion before its message, how strictly it compared.
 */
export function normaliseIdentity(text: string): string {
  let kept = text.slice(0, 1_000);
  for (const [pattern, replacement] of CHANCE) kept = kept.replace(pattern, replacement);
  for (const pattern of TELLING_NUMBERS) kept = kept.replace(pattern, spelled);
  return normaliseMessage(kept);
}

/** Digits as letters, which the normalisation of numbers leaves alone: 502 → <code-fac>. */
function spelled(digits: string): string {
  return `<code-${digits.replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '')}>`;
}

function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}
