/**
 * Logs, models and reviewers write what we print. Everything that a terminal or an editor would obey rather than show
 * (escapes, control and format characters, direction changes, invisible characters, lone surrogates) becomes `⟦U+001B⟧`.
 * Colours and the erasing to the line's end that goes with them say nothing, so they are left out.
 */
const COLOUR = /(?:\u001b\[|\u009b)(?:[\d:;]*m|K)/g;
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/gu;
const TAB = '  ';

/** One line: line ends become spaces, tabs two spaces, and nothing in it is obeyed by a terminal. */
export function visibleLine(text: string): string {
  // Split, not matched: a pattern for blanks around a line end takes seconds over a line of 50,000 blanks.
  const lines = text.split('\n').map((line) => line.trim());
  return visible(lines.filter((line) => line !== '').join(' ')).trim();
}

/** The text's lines (`\n` ends one), each harmless to print; a `\r` that belongs to the line end is dropped. */
export function visibleLines(text: string): string[] {
  return text.split('\n').map((line) => visible(line.replace(/\r$/, '')).trimEnd());
}

/** Cuts to at most `limit` characters and says how many are missing: "… +18,204 characters". */
export function clip(text: string, limit: number): string {
  const characters = Array.from(text);
  if (characters.length <= limit) return text;
  return `${characters.slice(0, limit).join('')}… +${formatNumber(characters.length - limit)} characters`;
}

/** 14210 → "14,210". */
export function formatNumber(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/**
 * CI runners obey lines that begin with `::name::`, and `##[name]` or `##vso[name]` wherever they stand. Printed by us in a
 * job, a log's own words must not become commands: one character is swapped for its look-alike, so the width stays.
 */
export function disarmRunnerCommands(line: string): string {
  return line.replace(/^(\s*):(?=:)/, '$1\u2236').replace(/#(?=#\w{0,20}\[)/g, '\u266f');
}

function visible(text: string): string {
  return text.replace(COLOUR, '').replaceAll('\t', TAB).replace(UNSEEN, spellOut);
}

function spellOut(character: string): string {
  return `⟦U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟧`;
}
