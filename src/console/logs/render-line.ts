import { append, findMin } from '../../lib/collections.ts';
import { spellCharacter } from '../../lib/text.ts';
import { MAX_RAW } from '../../log/lines/lines.ts';

/** A part of a shown line. `text` is plain text that must still be escaped. */
export interface LinePart {
  readonly text: string;
  /** The CSS classes. Empty for ordinary text. */
  readonly classes: string;
  /** True if the text is a hit of the search. */
  readonly found?: true;
}

/** A stored line in the form in which people see it. */
export interface ShownLine {
  /** The line number, 1-based, counted by line feeds. */
  readonly number: number;
  /** The timestamp before the line, if all lines have one. */
  readonly stamp: string | null;
  readonly parts: readonly LinePart[];
  /** The number of characters that are not shown because the line is longer than {@link MAX_SHOWN}. */
  readonly missing: number;
  readonly overwritten: Overwritten | null;
}

/** The text that carriage returns within the line overwrote. */
interface Overwritten {
  readonly times: number;
  /** The last overwritten texts, oldest first, each shortened. */
  readonly texts: readonly string[];
}

/** The maximum number of characters of a line that are shown. */
export const MAX_SHOWN = 2_000;
/** The maximum number of overwritten texts of a line that are kept, and of characters of each. */
const KEPT_OVERWRITES = 10;
const KEPT_CHARACTERS = 200;
/** The number of lines after which a color that was not reset ends. */
const COLOUR_LINES = 100;
/** The number of characters before the last carriage return that are searched for colors. */
const LOOKED_BACK = 16_000;

/**
 * Returns consecutive lines in the form in which people see them. Colors continue from one line to the next,
 * for at most 100 lines. Never throws. At most {@link MAX_RAW} characters of each line are read.
 */
export function showLines(lines: readonly string[], first: number): ShownLine[] {
  const stamped = areStamped(lines);
  let pen = PLAIN;
  let since = 0;
  return lines.map((line, at) => {
    since = line.includes('\u001b') ? 0 : since + 1;
    if (since > COLOUR_LINES) pen = PLAIN;
    const { shown, after } = showLine(line, first + at, pen, stamped);
    pen = after;
    return shown;
  });
}

const DATE_STAMP = /^\ufeff?\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]? ?/;
const CLOCK_STAMP = /^\ufeff?\[?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]? /;

/** Checks whether every line that is not empty begins with a time. */
export function areStamped(lines: readonly string[]): boolean {
  const filled = lines.filter((line) => line !== '');
  return filled.length > 0 && filled.every((line) => readStamp(line) !== '');
}

/** Returns the text of a line without colors, for copying and tests. */
export function toPlainText({ parts }: Pick<ShownLine, 'parts'>): string {
  return parts.map(({ text }) => text).join('');
}

/** Marks all occurrences of the searched word in the line. */
export function markFound(line: ShownLine, word: string, matchCase: boolean): ShownLine {
  const text = toPlainText(line);
  const [where, what] = matchCase ? [text, word] : [text.toLowerCase(), word.toLowerCase()];
  // If lowercasing changes the length of the text, the positions would be wrong, so nothing is marked.
  if (what === '' || where.length !== text.length || !where.includes(what)) return line;
  const cuts = new Set<number>();
  const found: { from: number; to: number }[] = [];
  for (let at = where.indexOf(what); at !== -1; at = where.indexOf(what, at + what.length)) {
    found.push({ from: at, to: at + what.length });
    cuts.add(at).add(at + what.length);
  }
  return { ...line, parts: cutAt(line.parts, cuts, found) };
}

/** Marks all occurrences of these words in the line, case-sensitively. */
export function markWords(line: ShownLine, words: readonly string[]): ShownLine {
  const text = toPlainText(line);
  const found = words
    .flatMap((word) => {
      const from = word === '' ? -1 : text.indexOf(word);
      return from === -1 ? [] : [{ from, to: from + word.length }];
    })
    .toSorted((left, right) => left.from - right.from || right.to - left.to);
  const apart = found.filter(({ from }, index) => found.slice(0, index).every(({ to }) => to <= from));
  if (apart.length === 0) return line;
  return { ...line, parts: cutAt(line.parts, new Set(apart.flatMap(({ from, to }) => [from, to])), apart) };
}

function cutAt(
  parts: readonly LinePart[],
  cuts: ReadonlySet<number>,
  found: readonly { readonly from: number; readonly to: number }[],
): LinePart[] {
  const pieces: LinePart[] = [];
  const places = [...cuts].sort((left, right) => left - right);
  let start = 0;
  let next = 0;
  let hit = 0;
  for (const { text, classes } of parts) {
    for (let at = 0; at < text.length; ) {
      while (next < places.length && (places[next] ?? 0) <= start + at) next += 1;
      const end = Math.min(text.length, (places[next] ?? Number.POSITIVE_INFINITY) - start);
      while ((found[hit]?.to ?? Number.POSITIVE_INFINITY) <= start + at) hit += 1;
      const isFound = (found[hit]?.from ?? Number.POSITIVE_INFINITY) <= start + at;
      pieces.push({ text: text.slice(at, end), classes, ...(isFound && { found: true }) });
      at = end;
    }
    start += text.length;
  }
  return pieces;
}

function readStamp(line: string): string {
  return DATE_STAMP.exec(line)?.[0] ?? CLOCK_STAMP.exec(line)?.[0] ?? '';
}

function showLine(raw: string, number: number, pen: Pen, stamped: boolean): { shown: ShownLine; after: Pen } {
  const stamp = stamped ? readStamp(raw) : '';
  const whole = raw.slice(stamp === '' && raw.startsWith('\ufeff') ? 1 : stamp.length);
  const line = whole.slice(0, MAX_RAW);
  const { before, last } = splitAtReturns(line);
  const start = movePen(before.slice(-LOOKED_BACK), pen);
  const { parts, missing, after } = showText(last, start);
  const rendered: ShownLine = {
    number,
    stamp: stamped ? stamp.replace('\ufeff', '').trim() : null,
    parts,
    missing: missing + whole.length - line.length,
    overwritten: before === '' ? null : overwrites(before),
  };
  return { shown: rendered, after: whole.length > line.length ? PLAIN : after };
}

/**
 * Splits a line at its carriage returns into the overwritten text and the last visible text. Carriage returns
 * at the end are part of the line end.
 */
function splitAtReturns(line: string): { readonly before: string; readonly last: string } {
  const ended = line.endsWith('\r') ? line.replace(/\r{1,9}$/, '') : line;
  let end = ended.length;
  for (let looked = 0; looked < KEPT_OVERWRITES; looked += 1) {
    const at = ended.lastIndexOf('\r', end - 1);
    if (at === -1 || end === 0) break;
    const last = ended.slice(at + 1, end);
    if (saysSomething(last))
      return { before: ended.slice(0, at), last: ended.slice(at + 1).replaceAll('\r', '') };
    end = at;
  }
  return { before: '', last: ended.replaceAll('\r', '') };
}

function saysSomething(text: string): boolean {
  for (const stretch of parseStretches(text, PLAIN)) if (stretch.text !== '') return true;
  return false;
}

function overwrites(before: string): Overwritten {
  let times = 1;
  for (let at = before.indexOf('\r'); at !== -1; at = before.indexOf('\r', at + 1)) times += 1;
  const texts = before
    .slice(-LOOKED_BACK)
    .split('\r')
    .slice(-KEPT_OVERWRITES)
    .map((text) => toPlainText(showText(text.slice(0, KEPT_CHARACTERS), PLAIN)));
  return { times, texts };
}

function movePen(text: string, start: Pen): Pen {
  if (!text.includes('\u001b') && !text.includes('\u009b')) return start;
  let pen = start;
  for (const stretch of parseStretches(`${text} `, start)) pen = stretch.pen;
  return pen;
}

function showText(
  text: string,
  start: Pen,
): { readonly parts: LinePart[]; readonly missing: number; readonly after: Pen } {
  const parts: LinePart[] = [];
  let room = MAX_SHOWN;
  let missing = 0;
  const stretches = parseStretches(text, start);
  let next = stretches.next();
  for (; next.done !== true; next = stretches.next()) {
    const fits = cutCharacters(next.value.text, room);
    room -= fits.length;
    missing += countCharacters(next.value.text, fits.length);
    if (fits !== '') append(parts, splitVisibleParts(fits, toClassNames(next.value.pen)));
  }
  return { parts, missing, after: next.value };
}

/** Cuts a text to at most `room` UTF-16 units, without splitting a surrogate pair. */
function cutCharacters(text: string, room: number): string {
  if (text.length <= room) return text;
  const isHalf = room > 0 && (text.charCodeAt(room - 1) & 0xfc00) === 0xd800;
  return text.slice(0, isHalf ? room - 1 : room);
}

function countCharacters(text: string, from: number): number {
  let count = 0;
  for (let at = from; at < text.length; at += 1) if ((text.charCodeAt(at) & 0xfc00) !== 0xdc00) count += 1;
  return count;
}

/** Characters that are invisible or change the direction of text, except tabs. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
const EACH_UNSEEN = /([\0-\x08\n-\x1f\x7f-\x9f]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}])/u;

function splitVisibleParts(text: string, classes: string): LinePart[] {
  if (!UNSEEN.test(text)) return [{ text, classes }];
  return text.split(EACH_UNSEEN).flatMap((piece, at) => {
    if (piece === '') return [];
    if (at % 2 === 0) return [{ text: piece, classes }];
    return [
      piece === '\0'
        ? { text: '\ufffd', classes }
        : { text: spellCharacter(piece), classes: `${classes} ctl`.trim() },
    ];
  });
}

/** The style of text. Numbers are the sixteen colors of terminals. */
interface Pen {
  readonly colour: number | null;
  readonly background: number | null;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly inverse: boolean;
}

/** A part of a text between control sequences, with its style. */
interface Stretch {
  readonly text: string;
  readonly pen: Pen;
}

const PLAIN: Pen = {
  colour: null,
  background: null,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
};

/**
 * Control sequences of terminals: CSI with its parameters and final letter, strings such as titles and links
 * with or without their end, and single escapes. Every repetition is bounded, and no two can match the same
 * characters, so matching takes linear time.
 */
const SEQUENCES = new RegExp(
  String.raw`(?:\u001b\[|\u009b)([0-?]{0,60})[ -/]{0,10}([@-~])|\u001b[\]_PX^][^\u0007\u001b\n]{0,900}` +
    String.raw`(?:\u0007|\u001b\\)?|\u001b(?:[()][0-9A-B]|[=>78cDEHMNOZ])?`,
  'g',
);

/**
 * Yields the text of a line piece by piece, without its control sequences. Each piece has the style that
 * color sequences set; the effects of other sequences are ignored.
 */
function* parseStretches(text: string, start: Pen): Generator<Stretch, Pen> {
  let pen = start;
  let at = 0;
  for (const sequence of text.matchAll(SEQUENCES)) {
    if (sequence.index > at) yield { text: text.slice(at, sequence.index), pen };
    at = sequence.index + sequence[0].length;
    if (sequence[2] === 'm') pen = applyPenCodes(pen, sequence[1] ?? '');
    else if (isUnended(sequence[0])) yield { text: sequence[0].slice(2), pen };
  }
  if (at < text.length) yield { text: text.slice(at), pen };
  return pen;
}

/**
 * Returns the CSS classes of a style, or an empty string for the default style. Only sixteen colors exist,
 * because the style sheet guarantees their contrast.
 */
function toClassNames(pen: Pen): string {
  const { colour, background } = pen;
  // Bright colors look like the normal ones, except for black.
  const hue = (number: number) => (number > 8 ? number - 8 : number);
  const names = [
    colour !== null && `fg${hue(colour)}`,
    background !== null && `bg${hue(background)}`,
    pen.bold && 'bold',
    pen.dim && 'dim',
    pen.italic && 'ital',
    pen.underline && 'under',
    pen.inverse && 'inv',
  ];
  return names.filter((name) => name !== false).join(' ');
}

/** Checks whether a string sequence has no end. Such a sequence hides nothing, so its text is shown. */
function isUnended(sequence: string): boolean {
  return sequence.length > 2 && ']_PX^'.includes(sequence.charAt(1)) && !/[\u0007\\]$/.test(sequence);
}

/** Returns the style after "Select Graphic Rendition" (ECMA-48, 8.3.117). Unknown codes change nothing. */
function applyPenCodes(pen: Pen, parameters: string): Pen {
  if (/[<=>?]/.test(parameters)) return pen;
  let next = pen;
  const codes = parameters.split(';');
  for (let at = 0; at < codes.length; at += 1) {
    const parts = (codes[at] ?? '').split(':').map(Number);
    const code = parts[0] ?? 0;
    if (code !== 38 && code !== 48) {
      next = withCode(next, code, parts[1]);
      continue;
    }
    const following = parts.length > 1 ? parts.slice(1) : codes.slice(at + 1, at + 5).map(Number);
    const { colour, used } = readExtendedColor(following);
    if (parts.length === 1) at += used;
    next = code === 38 ? { ...next, colour } : { ...next, background: colour };
  }
  return next;
}

function withCode(pen: Pen, code: number, detail: number | undefined): Pen {
  if (code === 0) return PLAIN;
  if (code >= 30 && code <= 37) return { ...pen, colour: code - 30 };
  if (code >= 90 && code <= 97) return { ...pen, colour: code - 82 };
  if (code >= 40 && code <= 47) return { ...pen, background: code - 40 };
  if (code >= 100 && code <= 107) return { ...pen, background: code - 92 };
  if (code === 4) return { ...pen, underline: detail !== 0 };
  return { ...pen, ...ATTRIBUTES[code] };
}

const ATTRIBUTES: Readonly<Record<number, Partial<Pen>>> = {
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  7: { inverse: true },
  21: { underline: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  39: { colour: null },
  49: { background: null },
};

/**
 * Reads the color after 38 or 48: `5;n` of 256 colors, or `2;r;g;b`. With colons, a color space may precede
 * the red.
 */
function readExtendedColor(parts: readonly number[]): {
  readonly colour: number | null;
  readonly used: number;
} {
  if (parts[0] === 5) return { colour: mapPaletteColor(parts[1] ?? 0), used: 2 };
  if (parts[0] !== 2) return { colour: null, used: 1 };
  const [red = 0, green = 0, blue = 0] = parts.length > 4 ? parts.slice(2, 5) : parts.slice(1, 4);
  return { colour: findNearestColor(red, green, blue), used: 4 };
}

/** The sixteen colors of xterm, as red, green and blue. */
const SIXTEEN: readonly (readonly [number, number, number])[] = [
  [0, 0, 0],
  [205, 0, 0],
  [0, 205, 0],
  [205, 205, 0],
  [0, 0, 238],
  [205, 0, 205],
  [0, 205, 205],
  [229, 229, 229],
  [127, 127, 127],
  [255, 0, 0],
  [0, 255, 0],
  [255, 255, 0],
  [92, 92, 255],
  [255, 0, 255],
  [0, 255, 255],
  [255, 255, 255],
];
const CUBE: readonly number[] = [0, 95, 135, 175, 215, 255];

/**
 * Maps one of xterm's 256 colors to the sixteen. Returns null for a number out of range. The 256 colors are
 * the sixteen, a cube of 6 × 6 × 6, and 24 grays.
 */
function mapPaletteColor(number: number): number | null {
  if (!(number >= 0 && number <= 255)) return null;
  if (number < 16) return number;
  if (number >= 232)
    return findNearestColor(8 + (number - 232) * 10, 8 + (number - 232) * 10, 8 + (number - 232) * 10);
  const level = (step: number) => CUBE[Math.floor((number - 16) / step) % 6] ?? 0;
  return findNearestColor(level(36), level(6), level(1));
}

function findNearestColor(red: number, green: number, blue: number): number | null {
  const distances = SIXTEEN.map(([r, g, b]) => (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2);
  const least = findMin(distances);
  return Number.isNaN(least) ? null : distances.indexOf(least);
}
