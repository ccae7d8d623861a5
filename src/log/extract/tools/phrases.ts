import type { LogText } from '../../lines/lines.ts';
import { roleOf } from '../../roles.ts';
import type { Extraction, Extractor } from '../extraction.ts';

interface Phrase {
  readonly pattern: RegExp;
  readonly weight: number;
  readonly reason: string;
}

/** Names of options, fields and files that hold the word. */
const ONLY_A_NAME = /-Werror|error_?log|on_?error|errors?\.(?:js|ts|py|go|rb|java|c|h|o|rs|class|html)\b/i;

const PHRASES: readonly Phrase[] = [
  {
    pattern: /\b(?:fatal error|FATAL|panic(?:ked)?\b|Segmentation fault|core dumped|heap out of memory)/,
    weight: 62,
    reason: 'fatal error',
  },
  { pattern: /^##\[error\]|^\[error\]|^::error/i, weight: 58, reason: 'error reported to CI' },
  { pattern: /^(?:\S{1,80}: )?(?:error|fatal|ERROR|FATAL|Error)(?:\[\w{1,12}\])?: \S/, weight: 56, reason: 'error line' },
  { pattern: /\b(?:Exception|Error)\b(?::|$)/, weight: 48, reason: 'exception' },
  {
    pattern:
      /command not found|No such file or directory|[Pp]ermission denied|No space left on device|Connection refused|Could not resolve host|Connection (?:timed out|reset)|\b(?:ECONN|ETIMEDOUT|ENOTFOUND|ENOENT|EACCES)\w*|Killed\b|cannot find|[Cc]ould not (?:find|resolve|read|open|connect|transfer)|undefined (?:reference|symbol)/,
    weight: 48,
    reason: 'failure message',
  },
  { pattern: /\b(?:FAILED|FAILURE|FAIL|failed|failure)\b/, weight: 40, reason: 'failure line' },
  {
    pattern:
      /[Cc]ould not be|[Cc]annot |[Cc]an't |[Uu]nable to |unrecognized|not (?:found|defined|provided|supported)|[Ii]nvalid|[Mm]issing|timed out|[Nn]o (?:module|matching|such|package|space|rule|provider|candidate|usable|suitable)\b|conflicts? with|running out of|is required|[Pp]lease specify|[Dd]enied|[Rr]efused|[Aa]bort/,
    weight: 38,
    reason: 'complaint',
  },
  { pattern: /\b(?:error|ERROR)\b/, weight: 34, reason: 'error line' },
];

/** What a notice weighs that holds a phrase, and what an ending does as a message. */
const [NOTICE, ENDING] = [16, 8];

/** Error lines that no tool's own reader knows: the net under all others. */
export const phrases: Extractor = {
  name: 'generic',
  literals: [
    ...['error', 'fatal', 'fail', 'exception', 'panic', 'segmentation fault', 'core dumped', 'out of memory', 'not found'],
    ...['no such file', 'permission denied', 'no space left', 'connection', 'could not', 'cannot', "can't", 'unable to'],
    ...['killed', 'abort', 'econn', 'etimedout', 'enotfound', 'enoent', 'eacces', 'unrecognized', 'no module', 'no matching'],
    ...['no such', 'no package', 'no space', 'no rule', 'no provider', 'no candidate', 'no usable', 'no suitable', 'conflict'],
    ...['running out', 'is required', 'please specify', 'undefined', 'timed out', 'denied', 'refused', 'invalid', 'missing'],
  ],
  extract: (log, lines, found) => {
    for (const line of lines) readLine(log, line, found);
  },
};

function readLine(log: LogText, line: number, found: Extraction): void {
  const text = log.line(line);
  const role = roleOf(text);
  if (role === 'blank' || role === 'passing' || role === 'echo' || ONLY_A_NAME.test(text)) return;
  const phrase = PHRASES.find(({ pattern }) => pattern.test(text));
  if (phrase === undefined) return;
  const isQuiet = role === 'notice' || role === 'progress';
  const weight = isQuiet ? NOTICE : phrase.weight;
  found.blocks.push({ start: line, end: line, weight, reason: isQuiet ? 'warning' : phrase.reason, loose: true });
  if (role === 'wrapper') return;
  found.messages.push({ text: text.trim().slice(0, 500), at: { source: log.name, line }, weight: role === 'ending' ? ENDING : weight });
}
