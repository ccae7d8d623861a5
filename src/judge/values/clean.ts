import { getProjectPath } from '../../log/paths.ts';
import { toOneLine } from '../wording.ts';

/** The maximum length of a value. Longer ones are texts. */
const MAX_VALUE = 160;

/** Characters at the beginning or end that are not part of a value. */
const FRAME = /^(?:[\s*│|]|>(?![=\d])){1,20}|[\s*│|,;:]{1,20}$/g;
/** A value in quotes, as opposed to one that only begins and ends with a quote: `"name": "west"`. */
const QUOTED = /^(?:"([^"]*)"|'([^']*)'|`([^`]*)`|[‘“](.*)[’”])$/;

/**
 * Converts a value for use in a sentence: one line, no quotes around it, no comment of a problem matcher.
 * Returns null if nothing readable is left.
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
    .replace(QUOTED, '$1$2$3$4')
    .replace(/^["'`‘“](?=[^"'`’”]{0,200}$)|(?<=^[^"'`‘“]{0,60})["'`’”]$/g, '');
  return line === '' || line.length > MAX_VALUE || /\u2026$|\[address left out\]/.test(line) ? null : line;
}

/** Prefixes that tools print before a message: times, levels, tags, and signs. */
const PREFIXES = [
  String.raw`[\p{Extended_Pictographic}\u{FE0F}\u{200D}]{1,8}|\?{2,4}`,
  String.raw`\[?\d{4}[-/]\d\d[-/]\d\d[T ][\d:.,]{8,16}Z?\]?`,
  String.raw`\[?\d{1,2}:\d\d:\d\d(?:[.,]\d{1,6})?(?: [AP]M:)?\]?(?= )|[AP]M:(?= )|\[ {0,4}\+?\d{1,7} ?m?s\]`,
  String.raw`[-!*•×→>|:](?= +\S)|\x60?->(?= )|[xX✗](?= +[A-Z])`,
  String.raw`g?make(?:\[\d{1,3}\])?: (?:Leaving|Entering) directory '[^'\n]{1,300}'(?= \S)`,
  String.raw`thread '[^'\n]{0,200}' (?:\(\d{1,10}\) )?panicked at [^\s:]{1,300}:\d{1,7}:\d{1,6}:(?= \S)`,
  String.raw`remote: |[Ff]ailed to [\w ]{1,40}: (?=[Ff]ailed to|process )|error (?=[A-Z])|##\[error\]|` +
    String.raw`[Cc]aused by:|e:(?= )|npm (?:ERR!|error)(?: code)?(?= )|\[(?:ERROR|error)\]`,
  String.raw`(?:Error|error|Fatal|fatal|err|E)[:!](?= )|(?:ERROR|FATAL)(?:[:!]| =>| \|)?(?= )`,
  String.raw`\[[A-Za-z][\w.-]{2,60}\](?= +[A-Z\d[])|[a-z_]{2,40}(?:::[a-z_]{2,40}){1,6}:(?= )`,
];
const PREFIX = new RegExp(`^(?:(?:${PREFIXES.join('|')})\\s{0,4}){1,8}`, 'u');
/** A line of keys and values in logfmt. */
const LOGFMT =
  /^(?:(?:time|ts|level|logger|caller|source)="?[^"\s]{1,80}"? ){1,5}msg="(?<message>[^"\n]{1,400})".*$/;
/** A goal of Maven with its project. */
const GOAL =
  /^(?:[Ff]ailed to execute goal )?[\w.-]{1,80}(?::[\w.-]{1,80}){1,3}(?: \([\w.-]{1,60}\))? on project [\w.-]{1,80}: /;
/** The package of an exception's type. */
const PACKAGES = /(?<![\w./])(?:[a-z_]\w{0,60}\.){2,10}(?=[A-Z][\w$]{0,80}(?:Error|Exception|Failure)\b)/g;
/** A URL with further information. */
const READ_ON =
  /[.;]? ?\(?(?:For (?:further|more) (?:information|details)|For details|(?:Read|Learn|See) more|More (?:information|details)|See also)\b[^.:]{0,60}:? ?https?:\/\/.*$/i;
/** Escapes that a program printed as text. */
const ESCAPES =
  /\\(?:x1b|u001b|033)(?:\[[\d;]{0,20}[A-Za-z])?|\\e\[[\d;]{0,20}[A-Za-z]|\[\d{1,3}(?:;\d{1,3}){0,3}m/gi;
/** An absolute path, which may be in the checkout. */
const ABSOLUTE = /(?<![\w./:~@-])(?:\/|[A-Za-z]:[\\/])[\w@.+-]{1,80}(?:[\\/][\w@.+-]{1,80}){2,30}/g;

/**
 * Converts text of the log for use inside a sentence: without markers, times, boxes, packages of exception
 * types, the checkout folder, and a final period. Text is cut between words.
 */
export function cleanWords(raw: string, most: number): string {
  const text = raw
    .replace(/\s{0,20}\/\/ Object\.is equality/g, '')
    .replace(/[A-Za-z]:\\/.test(raw) ? /\\[nrt](?![\w\\.])/g : /\\[nrt](?![\w\\])|\\n/g, ' ')
    .replace(/[│╭╰╮╯─┌└┐┘├┤✖✘●⨯⎯]{1,200}/g, ' ')
    .replace(/(?<!\*)\*\*(?!\*)/g, '')
    .replace(/^E {2,40}(?=\S)/, '')
    .replace(/\s{1,400}/g, ' ')
    .replace(ESCAPES, '')
    .trim()
    .replace(LOGFMT, '$<message>')
    .replace(PREFIX, '')
    .replace(GOAL, '')
    .replace(PACKAGES, '')
    .replace(ABSOLUTE, getProjectPath)
    .replace(/ -> \[Help \d\]$| \(detected at line \d{1,6}\)$/, '')
    .replace(READ_ON, '')
    .replace(/ \[[^\][\s]{1,300}\.\w{0,8}proj\]$/, '')
    .replace(/[.:;,\s]{1,10}$/, '');
  // True if the text has a single, unpaired quotation mark.
  const isLone = text.split('"').length === 2 && (text.startsWith('"') || text.endsWith('"'));
  return toOneLine(isLone ? text.replace('"', '') : text, most);
}

/** Puts text of the log in quotation marks. */
export function quoteWords(words: string): string {
  return `“${words}”`;
}
