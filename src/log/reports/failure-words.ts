/** What reporters write where they have nothing to say. */
const EMPTY_WORDS = /^(?:(?:test |subtest )?(?:failed|failure|error|not ok)|unknown|null|undefined|no message)?[.!:]?$/i;
/** Lines of a test's output that frame it and do not tell. */
const FRAMING = /^(?:=== |--- (?:FAIL|PASS|SKIP)|FAIL\b|PASS\b|ok\b|[-=_~*#.]{3,}|Traceback \(most recent|stack ?trace:|at \S)/i;
const TELLING = /error|fail|assert|exception|expect|panic|mismatch|!=|\bgot\b|\bwant/i;
/** What `go test` and others put before a message. */
const PLACED = /^[\w./\\-]{1,200}\.\w{1,5}:\d{1,7}:(?:\d{1,6}:)? ?/;
const MAX_LINES = 400;

/** What a report gives of a failure; empty where it gives nothing. */
export interface FailureWords {
  readonly message: string;
  readonly type: string | null;
  readonly detail: string;
  readonly output: string;
}

/** The message, or where it says nothing of its own, what detail, type or output say best; null where nothing does. */
export function tellingMessage({ message, type, detail, output }: FailureWords): string | null {
  const said = message.trim();
  if (!EMPTY_WORDS.test(said)) return said;
  const first = placedLine(detail) ?? linesOf(detail)[0];
  if (first !== undefined) return first.replace(PLACED, '').trim() || first;
  if (type !== null && !EMPTY_WORDS.test(type.trim())) return type;
  const printed = linesOf(output);
  return printed.find((line) => TELLING.test(line)) ?? printed.at(-1) ?? (said || type || null);
}

/** Of the lines that begin with a place in a file, as `go test` and compilers write them, the most telling; null where there is none. */
export function placedLine(detail: string): string | null {
  const placed = linesOf(detail).filter((line) => PLACED.test(line));
  return placed.find((line) => TELLING.test(line.replace(PLACED, ''))) ?? placed[0] ?? null;
}

/** Takes colours and other terminal escapes off: reports quote what was meant for a terminal. */
export function withoutEscapes(text: string): string {
  return /[\u001b\u009b]/.test(text) ? text.replace(/[\u001b\u009b]\[?[\d;?]{0,30}[A-Za-z]/g, '') : text;
}

function linesOf(text: string): string[] {
  return text
    .split('\n', MAX_LINES)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !FRAMING.test(line));
}
