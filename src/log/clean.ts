/**
 * Terminal control sequences: OSC (titles, links), CSI (colours, cursor), and single escapes. Bounded, and never across a line end,
 * so that a text keeps its lines. The second form catches colour codes whose escape character was lost on the way.
 */
const ESCAPES = /\u001b(?:\][^\u0007\u001b\n]{0,2000}(?:\u0007|\u001b\\)?|\[[0-?]{0,60}[ -/]{0,10}[@-~]|[()][0-9A-B]|[=>78cDEHMNOZ])?/g;

/** The job and step columns of GitHub's downloads. */
const LONGEST_COLUMN = 120;
const JOB_AND_STEP = /^[^\t\n]{1,120}\t[^\t\n]{1,120}\t(?=\ufeff?\d{4}-\d\d-\d\dT)/;

/** What CI systems put before each line: times and stream marks. */
const PREFIXES: readonly RegExp[] = [
  /^\ufeff?\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?(?: \d\d[OE][ +]| ?)/,
  /^\[\d\d:\d\d:\d\d(?:[.,]\d{1,6})?\](?:\[[\w -]{1,12}\]:?)? ?/,
  /^\[\d{1,3}:\d\d:\d\d\] ?/,
  /^\[task \d{4}-\d\d-\d\dT[\d:.]{8,16}Z\] ?/,
  /^\d\d:\d\d:\d\d {1,8}(?:INFO|DEBUG) - {1,2}/,
  /^\d\d:\d\d:\d\d {1,8}(?=(?:WARNING|ERROR|CRITICAL|FATAL) - )/,
];

/** Removes terminal control sequences. The number of lines stays the same. */
export function stripEscapes(text: string): string {
  return text.includes('\u001b') ? text.replace(ESCAPES, '') : text;
}

/** What a person saw of one line (without escapes): the text after the last carriage return, without CI's own prefix. */
export function cleanLine(line: string): string {
  let shown = line.includes('\r') ? lastSegment(line) : line;
  const tab = shown.indexOf('\t');
  if (tab > 0 && tab <= LONGEST_COLUMN) shown = shown.replace(JOB_AND_STEP, '');
  const first = shown.charCodeAt(0);
  if (first === 0xfeff || first === 0x5b || (first >= 0x30 && first <= 0x39)) {
    for (const prefix of PREFIXES) shown = shown.replace(prefix, '');
  }
  return shown;
}

function lastSegment(line: string): string {
  const end = line.endsWith('\r') ? line.replace(/\r{1,9}$/, '') : line;
  return end.slice(end.lastIndexOf('\r') + 1);
}
