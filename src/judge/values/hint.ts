import type { TriageSubject } from '../../domain/triage.ts';
import type { FailureBlock, ShownLine } from '../failure-block.ts';
import type { Value } from '../sentence.ts';

/** The number of lines below the deciding line in which a tool may print advice. */
const BELOW = 6;
const [SHORTEST, LONGEST, FEWEST_WORDS] = [18, 260, 4];
/** A marker that tools print before advice. */
const MARK =
  /^[^\p{L}\p{N}"'`(]{0,12}(?:\[?(?:help|hint|tip|suggestion|fix|solution)\]?(?:\[[\w-]{1,40}\])?[:=] {0,4})/iu;
/** A severity that tools print before a line. */
const SEVERITY = /^(?:npm (?:ERR!|error)|\[\w{4,7}\]|error:|note:) ?/i;
const VERB = `(?:run|use|commit|rebuild|install|upgrade|update|add|set|remove|rename|pass|specify|provide|create|change|increase|replace|enable|disable|delete|declare|move|downgrade|pin|regenerate|configure|try (?:(?=\`)|adding|running|using|installing|setting|removing)|make sure|ensure)`;
const IMPERATIVE = new RegExp(
  '^(?:please |to fix (?:this|it),? |you (?:need|have|must|should) (?:to )?|consider ' +
    `(?=\\w{2,20}ing ))?${VERB}\\b`,
  'i',
);
/** A line of source code that a tool quotes: with a comment, or with markers below it. */
const SOURCE_LINE = /(?<!:)\/\/|\/\*|<!--|\b(?:TODO|FIXME|XXX)\b/;
const MARKS_BELOW = /^[\s|\d]{0,200}[~^]{1,200}\s{0,20}$/;
/** A sentence after another one on the same line. */
const BEHIND = new RegExp(
  `[.!?;:] ((?:Please |You (?:need|have|must|should) (?:to )?)?${VERB} .{12,200})$`,
  'i',
);
/**
 * Text that is not usable as advice: code, docstrings, echoes, deprecations, general help, and commands that
 * download and run something.
 */
const UNFIT = [
  /^[A-Z]{3,12} FAILED\b|[{}<>|=]\s{0,4}$|^\W|[[({]\s{0,4}$|;\s{0,4}$|^\w{1,40}\(|=>|\$\{|^@param|^#/,
  /\bdeprecat|\bwill be removed\b|\b(?:update|upgrade) (?:is )?available\b|\bto (?:see|view|get|show|disable|suppress|ignore|silence|hide)\b/i,
  /(?:\b|(?=--))(?:stack ?trace|--(?:stacktrace|info|debug|scan|verbose|help)|-X\b|full (?:log|output|report)|more (?:info|details|log)|debug (?:log|mode)|documentation)\b/i,
  /\b(?:curl|wget|iwr|iex|eval|sudo rm|Invoke-\w{1,40})\b|\|\s{0,4}(?:sudo\s{1,4})?(?:ba|z|da)?sh\b|\$\(/i,
  /\btest modules\/packages have valid Python names|\b(?:report|file|open) (?:a |an |this )?(?:bug|issue)\b|\bnpm (?:audit|fund)\b|^run(?:ning)? (?:id|time|number|npm fund)\b/i,
  /\b(?:a|an|the|and|or|to|of|from|with|in|for|by|that|is)\W{0,2}$|[:,(–-]\s{0,4}$/i,
];

/**
 * Reads the advice that the failing tool prints on or below the deciding line: one complete sentence, with
 * its wrapped lines joined. Returns null if there is none.
 */
export function readHint({ trigger, paragraph }: FailureBlock, { diagnostics }: TriageSubject): Value | null {
  const lines = paragraph.filter(
    ({ line }) => trigger.line !== null && line >= trigger.line && line <= trigger.line + BELOW,
  );
  // A reported finding is not advice, even if it reads like it: "Use 'const' instead".
  const reported = new Set(diagnostics.map(({ at }) => `${at?.source}:${at?.line}`));
  for (const [index, shownLine] of lines.entries()) {
    const marked = MARK.test(shownLine.text);
    const isReported = reported.has(`${shownLine.source}:${shownLine.line}`);
    // Lines below the next finding are about that finding.
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

/** Joins the lines of a wrapped sentence up to its end. */
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
