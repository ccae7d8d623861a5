/** Order matters: the long shapes first, bare numbers last. Every quantifier is bounded or runs over one class. */
const REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?/g, '<time>'],
  [/\b\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?\b/g, '<time>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<uuid>'],
  [/\b0x[0-9a-f]{1,16}\b/gi, '<hex>'],
  [/\b(?=[0-9a-f]{0,39}\d)[0-9a-f]{7,64}\b/gi, '<hex>'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b/g, '<address>'],
  [/\blocalhost:\d{1,5}\b/g, 'localhost:<n>'],
  [/\b\d+(?:[.,]\d+)?\s?(?:ns|us|µs|ms|s|sec|secs|seconds?|minutes?|min|m|h|hours?)\b/g, '<duration>'],
  [/(?:[A-Za-z]:)?(?:[\\/][\w.@+~-]{1,100}){2,30}/g, '<path>'],
  [/\d+(?:\.\d+)?/g, '<n>'],
  [/\*{3,}/g, '***'],
  [/\s+/g, ' '],
];

/** A message without what changes from run to run: times, ids, addresses, path prefixes (the file's name stays), numbers. */
export function normaliseMessage(text: string): string {
  let out = text.slice(0, 1_000);
  for (const [pattern, replacement] of REPLACEMENTS) {
    out = replacement === '<path>' ? out.replace(pattern, baseName) : out.replace(pattern, replacement);
  }
  return out.trim();
}

/** Numbers that tell one failure from another: HTTP statuses and exit codes, by the words around them. */
const TELLING_NUMBERS: readonly RegExp[] = [
  /(?<=\b(?:HTTP(?:\/\d(?:\.\d)?)?|status(?: ?code)?|response(?: code)?|returned|responded with|server error|client error|HTTP error)[ :='"(]{1,3})[1-5]\d\d\b/gi,
  /\b[45]\d\d(?= (?:Bad|Unauthori[sz]ed|Payment|Forbidden|Not |Method|Conflict|Gone|Too Many|Unprocessable|Internal|Service|Gateway|Client Error|Server Error))/g,
  /(?<=\bE)[45]\d\d\b/g,
  /(?<=\bexit(?:ed)?(?: with)?(?: (?:code|status|value))?[ :='"(]{1,3})-?\d{1,3}\b/gi,
];

/** The same, but HTTP statuses and exit codes stay: a 404 is not a 502, and a killed process is not one that gave up. */
export function normaliseIdentity(text: string): string {
  let kept = text.slice(0, 1_000);
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
