import { oneLine } from '../wording.ts';

/** Longer values are no names but texts. */
const MAX_VALUE = 160;

/** These characters at the beginning or end of a value are not part of it. */
const FRAME = /^(?:[\s*│|]|>(?![=\d])){1,20}|[\s*│|,;:]{1,20}$/g;
const QUOTED = /^["'`‘“](.*)["'`’”]$/;

/**
 * Makes a value fit for a sentence: one line, no quotes around it, no comment of a matcher; null where
 * nothing readable is left.
 */
export function cleanValue(raw: string): string | null {
  const line = raw
    .replace(/\s{0,20}\/\/ Object\.is equality.*$/s, '')
    .replace(/\\[nrt]/g, ' ')
    .replace(/[│╭╰╮╯─┌└┐┘├┤]{1,200}/g, ' ')
    .replace(/\*\*|__(?=\s|$)/g, '')
    .replace(/(?<=^@[\w.-]{1,60})%2f/i, '/')
    .replace(/\s{1,400}/g, ' ')
    .replace(FRAME, '')
    .replace(/(?<=[\w)\]])\.$/, '')
    .replace(QUOTED, '$1')
    .replace(/^["'`‘“](?=[^"'`’”]{0,200}$)|(?<=^[^"'`‘“]{0,60})["'`’”]$/g, '');
  return line === '' || line.length > MAX_VALUE || /\u2026$|\[address left out\]/.test(line) ? null : line;
}

/**
 * Makes words of the log fit for the middle of a sentence: without marks, boxes and a stop at the end, cut
 * between words.
 */
export function cleanWords(raw: string, most: number): string {
  const text = raw
    .replace(/\s{0,20}\/\/ Object\.is equality/g, '')
    .replace(/\\[nrt](?![\w\\])|\\n/g, ' ')
    .replace(/[│╭╰╮╯─┌└┐┘├┤✖✘●⨯⎯]{1,200}/g, ' ')
    .replace(/\*\*(?=\S)|(?<=\S)\*\*/g, '')
    .replace(/\s{1,400}/g, ' ')
    .replace(/\[\d{1,3}(?:;\d{1,3}){0,3}m/g, '')
    .trim()
    .replace(/^(?:\d{4}-\d\d-\d\d[T ][\d:.,]{8,16}Z? |[-!*•×>→] (?=\S)){1,3}/, '')
    .replace(
      /^(?:(?:##\[error\]|npm (?:ERR!|error)(?: code)?|\[ERROR\]|ERROR:|Error:|error:|E:|fatal:|FATAL:) ?){1,3}/,
      '',
    )
    .replace(/[.:;,\s]{1,10}$/, '');
  return oneLine(text, most);
}
