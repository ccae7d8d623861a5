import { minOf } from '../../lib/collections.ts';
/** How text is painted at a place in a log: numbers are the terminal's sixteen colours. */
export interface Pen {
  readonly colour: number | null;
  readonly background: number | null;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly inverse: boolean;
}

/** A stretch of text between control sequences, with the pen it is written with. */
export interface Stretch {
  readonly text: string;
  readonly pen: Pen;
}

export const PLAIN: Pen = { colour: null, background: null, bold: false, dim: false, italic: false, underline: false, inverse: false };

/**
 * Control sequences of terminals: CSI with its parameters and last letter, strings (titles, links) with or without their end, single escapes.
 * Every repeat is bounded, and none meets another over the same characters.
 */
const SEQUENCES =
  /(?:\u001b\[|\u009b)([0-?]{0,60})[ -/]{0,10}([@-~])|\u001b[\]_PX^][^\u0007\u001b\n]{0,900}(?:\u0007|\u001b\\)?|\u001b(?:[()][0-9A-B]|[=>78cDEHMNOZ])?/g;

/** Yields the text of a line without its control sequences, piece by piece. What colours paint is told; what else they would do is not done. */
export function* stretchesOf(text: string, start: Pen): Generator<Stretch, Pen> {
  let pen = start;
  let at = 0;
  for (const sequence of text.matchAll(SEQUENCES)) {
    if (sequence.index > at) yield { text: text.slice(at, sequence.index), pen };
    at = sequence.index + sequence[0].length;
    if (sequence[2] === 'm') pen = painted(pen, sequence[1] ?? '');
    else if (isUnended(sequence[0])) yield { text: sequence[0].slice(2), pen };
  }
  if (at < text.length) yield { text: text.slice(at), pen };
  return pen;
}

/** The classes of the style sheet for a pen; empty where it is plain. There is no colour but the sixteen: contrast is the style sheet's. */
export function classesOf(pen: Pen): string {
  const { colour, background } = pen;
  const names = [
    colour !== null && `fg${colour}`,
    background !== null && `bg${background}`,
    pen.bold && 'bold',
    pen.dim && 'dim',
    pen.italic && 'ital',
    pen.underline && 'line',
    pen.inverse && 'inv',
  ];
  return names.filter((name) => name !== false).join(' ');
}

/** A string without its end hides nothing: what would be its title is shown. */
function isUnended(sequence: string): boolean {
  return sequence.length > 2 && ']_PX^'.includes(sequence.charAt(1)) && !/[\u0007\\]$/.test(sequence);
}

/** The pen after "Select Graphic Rendition" (ECMA-48, 8.3.117); what is not known changes nothing. */
function painted(pen: Pen, parameters: string): Pen {
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
    const { colour, used } = extended(following);
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

/** What follows 38 or 48: `5;n` of 256 colours, or `2;r;g;b`; with colons, a colour space may be before the red. */
function extended(parts: readonly number[]): { readonly colour: number | null; readonly used: number } {
  if (parts[0] === 5) return { colour: ofPalette(parts[1] ?? 0), used: 2 };
  if (parts[0] !== 2) return { colour: null, used: 1 };
  const [red = 0, green = 0, blue = 0] = parts.length > 4 ? parts.slice(2, 5) : parts.slice(1, 4);
  return { colour: nearest(red, green, blue), used: 4 };
}

/** xterm's sixteen. */
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

/** xterm's 256: the sixteen, a cube of 6 × 6 × 6, and 24 greys. */
function ofPalette(number: number): number | null {
  if (!(number >= 0 && number <= 255)) return null;
  if (number < 16) return number;
  if (number >= 232) return nearest(8 + (number - 232) * 10, 8 + (number - 232) * 10, 8 + (number - 232) * 10);
  const level = (step: number) => CUBE[Math.floor((number - 16) / step) % 6] ?? 0;
  return nearest(level(36), level(6), level(1));
}

function nearest(red: number, green: number, blue: number): number | null {
  const distances = SIXTEEN.map(([r, g, b]) => (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2);
  const least = minOf(distances);
  return Number.isNaN(least) ? null : distances.indexOf(least);
}
