/** A text, and honest remarks about how it was made of bytes. */
export interface DecodedText {
  readonly text: string;
  readonly notes: readonly string[];
}

const MARK = '\ufffd';
const SAMPLE_BYTES = 4_096;

/** Characters of the bytes from 128 on, in the code pages as which consoles read the UTF-8 of another program: 437, 850 and Windows-1252. */
const CODE_PAGES: readonly string[] = [
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
  new TextDecoder('windows-1252').decode(Uint8Array.from({ length: 128 }, (_, at) => at + 128)),
];

/**
 * Reads bytes as UTF-8; as UTF-16 by its mark or by where its NULs stand; as Windows-1252 where there is next to no UTF-8 in it. What people
 * and PostgreSQL cannot read is replaced or, for NUL, left out. Never throws.
 */
export function toText(name: string, bytes: Uint8Array): DecodedText {
  const notes: string[] = [];
  if (bytes.length === 0) notes.push(`${name} is empty.`);
  const text = withoutCodePage(name, withoutNul(name, decode(name, bytes, notes), notes), notes);
  if (!text.includes('\n') && text.indexOf('\r') !== text.lastIndexOf('\r')) {
    notes.push(`${name} has carriage returns and no line feed: it is one line of many parts.`);
  }
  return { text, notes };
}

/** How UTF-16 text is written, by its mark, or by the NULs that ASCII characters have in it; null for any other text. */
export function utf16Of(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  const pairs = Math.min(bytes.length, SAMPLE_BYTES) >> 1;
  if (pairs < 2) return null;
  let even = 0;
  let odd = 0;
  for (let at = 0; at < pairs * 2; at += 2) {
    if (bytes[at] === 0) even++;
    if (bytes[at + 1] === 0) odd++;
  }
  if (odd > pairs * 0.6 && even < pairs * 0.05) return 'utf-16le';
  return even > pairs * 0.6 && odd < pairs * 0.05 ? 'utf-16be' : null;
}

function decode(name: string, bytes: Uint8Array, notes: string[]): string {
  const wide = utf16Of(bytes);
  if (wide !== null) {
    notes.push(`${name} was ${wide.toUpperCase()}${bytes.length % 2 === 0 ? '' : ', cut in the middle of a character'}.`);
    return new TextDecoder(wide).decode(bytes);
  }
  const text = new TextDecoder('utf-8').decode(bytes);
  const invalid = count(text, MARK) - countEncodedMarks(bytes);
  if (invalid <= 0) return text;
  if (invalid >= 3 && isLatin(bytes, text, invalid)) {
    notes.push(`${name} is not UTF-8 and was read as Windows-1252.`);
    return new TextDecoder('windows-1252').decode(bytes);
  }
  notes.push(`${name} has ${invalid} invalid UTF-8 ${invalid === 1 ? 'sequence' : 'sequences'}, shown as ${MARK}.`);
  return text;
}

/** Hardly any character beyond ASCII is valid UTF-8, and what is not stands beside letters, as in `für` and `naïve`. */
function isLatin(bytes: Uint8Array, text: string, invalid: number): boolean {
  let valid = 0;
  for (let at = 0; at < text.length && valid * 4 < invalid; at++) if (text.charCodeAt(at) > 0x7f && text[at] !== MARK) valid++;
  if (valid * 4 >= invalid) return false;
  let high = 0;
  let inWords = 0;
  for (let at = 0; at < bytes.length && high < 10_000; at++) {
    if ((bytes[at] ?? 0) < 0x80) continue;
    high++;
    if (isLetter(bytes[at - 1]) || isLetter(bytes[at + 1])) inWords++;
  }
  return inWords * 10 >= high * 8;
}

function isLetter(byte: number | undefined): boolean {
  return byte !== undefined && ((byte > 64 && byte < 91) || (byte > 96 && byte < 123));
}

/** NULs come from UTF-16 appended to other text, and from holes of files that were cut: the text reads without them. */
function withoutNul(name: string, text: string, notes: string[]): string {
  if (!text.includes('\0')) return text;
  const nuls = count(text, '\0');
  notes.push(`${name} holds ${nuls} NUL ${nuls === 1 ? 'character, which was' : 'characters, which were'} left out.`);
  return text.replaceAll('\0', '');
}

/**
 * PowerShell's `>` reads what a program writes in the console's code page: a byte order mark becomes `∩╗┐`, `✓` becomes `Γ£ô`. Where a text
 * has such a mark, or twice the beginning of a sign or arrow, what is UTF-8 in that code page is read as UTF-8.
 */
function withoutCodePage(name: string, text: string, notes: string[]): string {
  const page = CODE_PAGES.find((characters) => {
    const shown = (...bytes: readonly number[]) => bytes.map((byte) => characters[byte - 128]).join('');
    return text.includes(shown(0xef, 0xbb, 0xbf)) || [0x80, 0x94, 0x9c].some((byte) => count(text, shown(0xe2, byte)) > 1);
  });
  if (page === undefined) return text;
  notes.push(`${name} was UTF-8 that had been read in another code page, and was read again.`);
  const bytes = new Map(Array.from(page, (character, at) => [character, at + 128]));
  const wrong = new RegExp(`[${page.replace(/[\\\]^-]/g, '\\$&')}]{2,400}`, 'g');
  return text.replace(wrong, (shown) => readAgain(Uint8Array.from(shown, (character) => bytes.get(character) ?? 0)) ?? shown);
}

function readAgain(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function count(text: string, wanted: string): number {
  let found = 0;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) found++;
  return found;
}

function countEncodedMarks(bytes: Uint8Array): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const mark = Buffer.from(MARK);
  let found = 0;
  for (let at = buffer.indexOf(mark); at !== -1; at = buffer.indexOf(mark, at + 3)) found++;
  return found;
}
