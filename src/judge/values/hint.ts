import type { TriageSubject } from '../../domain/triage.ts';
import type { Value } from '../sentence.ts';
import type { ShownLine, TellingBlock } from '../telling-block.ts';

/** Lines below the deciding one in which a tool says what to do. */
const BELOW = 6;
const [SHORTEST, LONGEST, FEWEST_WORDS] = [18, 260, 4];
/** A mark that tools put before advice. */
const MARK =
  /^[^\p{L}\p{N}"'`(]{0,12}(?:\[?(?:help|hint|tip|suggestion|fix|solution)\]?(?:\[[\w-]{1,40}\])?[:=] {0,4})/iu;
/** The severity that tools put before a line. */
const SEVERITY = /^(?:npm (?:ERR!|error)|\[\w{4,7}\]|error:|note:) ?/i;
const VERB = `(?:run|use|commit|rebuild|install|upgrade|update|add|set|remove|rename|pass|specify|provide|create|change|increase|replace|enable|disable|delete|declare|move|downgrade|pin|regenerate|configure|try (?:(?=\`)|adding|running|using|installing|setting|removing)|make sure|ensure)`;
const IMPERATIVE = new RegExp(
  '^(?:please |to fix (?:this|it),? |you (?:need|have|must|should) (?:to )?|consider ' +
    `(?=\\w{2,20}ing ))?${VERB}\\b`,
  'i',
);
/** A line of source that a tool shows: with a comment, or with marks below it. */
const SOURCE_LINE = /(?<!:)\/\/|\/\*|<!--|\b(?:TODO|FIXME|XXX)\b/;
const MARKS_BELOW = /^[\s|\d]{0,200}[~^]{1,200}\s{0,20}$/;
/** A sentence behind another one on the line. */
const BEHIND = new RegExp(
  `[.!?;:] ((?:Please |You (?:need|have|must|should) (?:to )?)?${VERB} .{12,200})$`,
  'i',
);
/** Code, docstrings, echoes, deprecations, general help, and what fetches and runs something. */
const UNFIT = [
  /^[A-Z]{3,12} FAILED\b|[{}<>|=]\s{0,4}$|^\W|[[({]\s{0,4}$|;\s{0,4}$|^\w{1,40}\(|=>|\$\{|^@param|^#/,
  /\bdeprecat|\bwill be removed\b|\b(?:update|upgrade) (?:is )?available\b|\bto (?:see|view|get|show|disable|suppress|ignore|silence|hide)\b/i,
  /(?:\b|(?=--))(?:stack ?trace|--(?:stacktrace|info|debug|scan|verbose|help)|-X\b|full (?:log|output|report)|more (?:info|details|log)|debug (?:log|mode)|documentation)\b/i,
  /\b(?:curl|wget|iwr|iex|eval|sudo rm|Invoke-\w{1,40})\b|\|\s{0,4}(?:sudo\s{1,4})?(?:ba|z|da)?sh\b|\$\(/i,
  /\btest modules\/packages have valid Python names|\b(?:report|file|open) (?:a |an |this )?(?:bug|issue)\b|\bnpm (?:audit|fund)\b|^run(?:ning)? (?:id|time|number|npm fund)\b/i,
  /\b(?:a|an|the|and|or|to|of|from|with|in|for|by|that|is)\W{0,2}$|[:,(–-]\s{0,4}$/i,
];

/**
 * Reads the advice that the failing tool prints on or below the deciding line: one whole sentence, its
 * wrapped lines joined; null if it prints none.
 */
export function readHint({ trigger, paragraph }: TellingBlock, { diagnostics }: TriageSubject): Value | null {
  const lines = paragraph.filter(
    ({ line }) => trigger.line !== null && line >= trigger.line && line <= trigger.line + BELOW,
  );
  // What is reported is no advice, however it is worded: "Use 'const' instead".
  const reported = new Set(diagnostics.map(({ at }) => `${at?.source}:${at?.line}`));
  for (const [index, shownLine] of lines.entries()) {
    const marked = MARK.test(shownLine.text);
    const isReported = reported.has(`${shownLine.source}:${shownLine.line}`);
    // What stands below the next finding is about that one.
    if (isReported && shownLine.line !== trigger.line) return null;
    if (isReported && !marked) continue;
    if (SOURCE_LINE.test(shownLine.text) || MARKS_BELOW.test(lines[index + 1]?.text ?? '')) continue;
    const text = marked ? shownLine.text.replace(MARK, '') : shownLine.text.trim().replace(SEVERITY, '');
    const start =
      IMPERATIVE.test(text) || (marked && /^\p{L}/u.test(text)) ? text : (BEHIND.exec(text)?.[1] ?? null);
    const sentence = start === null ? null : finish(start, lines.slice(index + 1));
    if (sentence !== null && isFit(sentence))
      return {
        text: sentence,
        source: shownLine.source,
        line: shownLine.line,
        near: shownLine.line === trigger.line ? 'line' : 'paragraph',
      };
  }
  return null;
}

/** Joins the lines that a sentence was wrapped into, up to its end. */
function finish(start: string, below: readonly ShownLine[]): string | null {
  let text = start.trim();
  for (const { text: next } of below) {
    if (/[.!?]["')`”]?$/.test(text) || text.length > LONGEST || !/^\s{2,30}[a-z`'"(]/.test(next)) break;
    text = `${text} ${next.trim()}`;
  }
  const first = /^.{10,}?[.!?](?=\s+[A-Z])/.exec(text)?.[0] ?? text;
  return first.length > LONGEST ? null : first.replace(/[.!]$/, '');
}

function isFit(text: string): boolean {
  const isWhole = [/`/g, /"/g, /[(]|[)]/g].every((mark) => (text.match(mark)?.length ?? 0) % 2 === 0);
  return (
    isWhole &&
    text.length >= SHORTEST &&
    text.split(/\s+/).length >= FEWEST_WORDS &&
    !UNFIT.some((unfit) => unfit.test(text))
  );
}
