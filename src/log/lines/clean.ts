/**
 * Terminal control sequences: OSC (titles, links), APC (time stamps of Buildkite), CSI (colors, cursor), and
 * single escapes. Matches are bounded and never contain a line end, so that the number of lines stays the
 * same.
 */
const ESCAPES = new RegExp(
  String.raw`\u001b(?:[\]_][^\u0007\u001b\n]{0,2000}(?:\u0007|\u001b\\)?|` +
    String.raw`\[[0-?]{0,60}[ -/]{0,10}[@-~]|[()][0-9A-B]|[=>78cDEHMNOZ])?`,
  'g',
);

/** The maximum length of the job and step columns of a log that was downloaded from GitHub. */
const MAX_COLUMN = 120;
const JOB_AND_STEP = new RegExp(
  String.raw`^(?:\ufeff|∩╗┐|´╗┐|ï»¿)?(?!\d{4}-\d\d-\d\dT)([^\t\n]{1,120})\t([^\t\n]{1,120})` +
    String.raw`\t(?=(?:\ufeff|∩╗┐|´╗┐|ï»¿)?\d{4}-\d\d-\d\dT)`,
);
/** A byte order mark, also as code pages 437, 850 and Windows-1252 display it. */
const MARK = /^(?:\ufeff|∩╗┐|´╗┐|ï»¿)/;

const DIGITS = '0123456789';
/**
 * BuildKit's seconds, which take five characters. A number of four digits and a point counts only if the step
 * is named.
 */
const SECONDS = String.raw`\d\.\d{3}|\d\d\.\d\d|\d{3}\.\d`;
/** Beginnings of tools' messages. A number before one of them is a time stamp, not a count or measurement. */
const SPEAKS =
  String.raw`(?:npm |yarn |pnpm |[Ee]rror\b|ERR|E[:\s] |W: |[Ff]atal\b|FATAL|FAIL|--- FAIL|Traceback |` +
  String.raw`\s{2,12}(?:at \S|File ")|[\w.$]{1,80}(?:Error|Exception)\b|\/\S{1,200}: |` +
  String.raw`[\w./-]{1,200}:\d{1,6}:|\[ERROR|[✘✖✕●] |[×>+] [A-Za-z@.\/]|make(?:\[\d{1,2}\])?: )`;

/**
 * The prefixes that CI systems and builders put before each line, outermost first: times, stream marks, and
 * the names of steps and containers. Each has the characters it may begin with.
 */
const PREFIXES: readonly { readonly begins: string; readonly pattern: RegExp }[] = [
  // Buildkite's time stamps, if the escape character was lost
  { begins: '_', pattern: /^_bk;t=\d{1,16}\u0007/ },
  {
    begins: `[${DIGITS}`,
    pattern:
      /^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?(?: \d\d[OE][ +]| ?)/,
  },
  // TeamCity
  { begins: '[', pattern: /^\[\d\d:\d\d:\d\d\] ?[A-Za-z]? ?: {0,2}\t {0,8}(?:\[Step \d{1,3}\/\d{1,3}\] ?)?/ },
  { begins: '[', pattern: /^\[\d\d:\d\d:\d\d(?:[.,]\d{1,6})?\](?:\[[\w -]{1,12}\]:?)? ?/ },
  { begins: '[', pattern: /^\[\d{1,3}:\d\d:\d\d\] ?/ },
  { begins: '[', pattern: /^\[task \d{4}-\d\d-\d\dT[\d:.]{8,16}Z\] ?/ },
  { begins: DIGITS, pattern: /^\d\d:\d\d:\d\d {1,8}(?:INFO|DEBUG) - {1,2}/ },
  { begins: DIGITS, pattern: /^\d\d:\d\d:\d\d {1,8}(?=(?:WARNING|ERROR|CRITICAL|FATAL) - )/ },
  // CodeBuild
  { begins: '[', pattern: /^\[Container\] \d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d(?:\.\d{1,9})? / },
  // Cloud Build
  { begins: 'S', pattern: /^Step #\d{1,3}(?: - "[^"]{1,100}")?: / },
  // Drone and Woodpecker, Tekton, kubectl
  { begins: '[', pattern: /^\[[\w.-]{1,80}:L\d{1,7}:\d{1,7}s\] ?/ },
  { begins: '[', pattern: /^\[[\w.-]{1,80} : [\w.-]{1,80}\] ?/ },
  { begins: '[', pattern: /^\[pod\/[\w.-]{1,120}\/[\w.-]{1,80}\] ?/ },
  // act: workflow and job
  { begins: '[', pattern: /^\[[^\]\n]{1,80}\/[^\]\n]{1,80}\] {2,3}(?:\| ?)?/ },
  // The runner's marker of a finding; the tool's own line follows
  { begins: '#', pattern: /^##\[error\](?= )/ },
  // BuildKit: with the step, and without it when a failed step is printed again
  { begins: '#', pattern: new RegExp(`^#\\d{1,4} (?:${SECONDS}|\\d{4}\\.) `) },
  { begins: DIGITS, pattern: new RegExp(`^(?:${SECONDS}) (?=${SPEAKS})`) },
];

/**
 * The prefixes by their first character, each with its position in the order. Most lines begin with none of
 * these characters.
 */
const BY_BEGINNING = Map.groupBy(
  PREFIXES.flatMap(({ begins, pattern }, place) =>
    Array.from(begins, (begin) => ({ code: begin.charCodeAt(0), pattern, place })),
  ),
  ({ code }) => code,
);

/** Docker Compose: the numbered container, padded with spaces. */
const CONTAINER = /^[\w.-]{3,80}(?= {2,40}\|)(?<=[-_]\d{1,3}) {2,40}\|(?: |$)/;
const MAX_CONTAINER = 120;

/** Removes terminal control sequences. The number of lines stays the same. */
export function stripEscapes(text: string): string {
  return text.includes('\u001b') ? text.replace(ESCAPES, '') : text;
}

/**
 * Returns a line as a terminal displays it: the text after the last carriage return, without the prefixes of
 * CI systems, builders and containers. The line must have no escapes.
 */
export function cleanLine(line: string): string {
  let visible = line.includes('\r') ? getLastSegment(line) : line;
  const tab = visible.indexOf('\t');
  if (tab > 0 && tab <= MAX_COLUMN) visible = visible.replace(JOB_AND_STEP, '');
  if (visible.charCodeAt(0) > 127) visible = visible.replace(MARK, '');
  visible = withoutPrefixes(visible);
  const bar = visible.indexOf('  |');
  return bar > 0 && bar <= MAX_CONTAINER ? visible.replace(CONTAINER, '') : visible;
}

/**
 * Returns the part of a stored line that begins with its own text: without prefixes of CI systems and without
 * overwritten text. Escapes inside are kept, so the result is a substring of the stored line.
 */
export function stripPrefixes(raw: string): string {
  const line = raw.replace(/\r{1,9}$/, '');
  const plain = stripEscapes(line);
  const visible = cleanLine(plain);
  if (!plain.endsWith(visible)) return line;
  let [room, at] = [plain.length - visible.length, 0];
  if (plain.length === line.length) return line.slice(room);
  for (const code of line.matchAll(ESCAPES)) {
    const before = code.index - at;
    if (before > room) break;
    room -= before;
    at = code.index + code[0].length;
  }
  return line.slice(at + room);
}

/**
 * Extracts job and step from a stored line of a log that `gh run view` downloaded. Returns null for any other
 * line.
 */
export function extractJobAndStep(line: string): { readonly job: string; readonly step: string } | null {
  const [, job, step] = JOB_AND_STEP.exec(line) ?? [];
  return job === undefined || step === undefined ? null : { job, step };
}

/** Removes each prefix once, outermost first. */
function withoutPrefixes(line: string): string {
  let visible = line;
  let from = 0;
  for (;;) {
    const candidates = BY_BEGINNING.get(visible.charCodeAt(0));
    if (candidates === undefined) return visible;
    let length = 0;
    for (const { pattern, place } of candidates) {
      if (place < from || length > 0) continue;
      length = pattern.exec(visible)?.[0].length ?? 0;
      if (length > 0) from = place + 1;
    }
    if (length === 0) return visible;
    visible = visible.slice(length);
  }
}

/**
 * Returns the text after the last carriage return. Up to nine carriage returns at the end of a line count as
 * its line end.
 */
function getLastSegment(line: string): string {
  let end = line.length;
  while (end > line.length - 9 && line[end - 1] === '\r') end--;
  return end === 0 ? '' : line.slice(line.lastIndexOf('\r', end - 1) + 1, end);
}
