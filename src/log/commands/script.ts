import type { Section } from '../../domain/failure.ts';
import type { LogText } from '../lines/lines.ts';

/** The commands of a step's script that may have failed. */
export interface StepScript {
  /**
   * Commands whose failure did not end the script, in the order of the script, followed by the last command
   * if its failure ended the step.
   */
  readonly commands: readonly string[];
  /** The last line of the step's head; output begins below it. */
  readonly headEnd: number;
}

/** The maximum number of lines of a script that are read. */
const MAX_SCRIPT = 300;
/**
 * A command that records its failure for later: `cmd || status=$?`, `cmd || failed=1`,
 * `cmd || (( errors++ ))`.
 */
const KEEPS_STATUS =
  /\|\|\s{0,4}(?:\{\s{0,4})?(?:export |let |declare )?(?:\w{1,40}\+?=|\(\(|errors?\b|fail\w{0,10}\b)/;
/** A command whose failure is ignored. */
const PASSES_OVER = /\|\|\s{0,4}(?:true\b|:|echo\b|printf\b)|;\s{0,4}true\b/;
/** Commands that set up or end a script. They are not the cause of a failure. */
const TRIVIAL = new RegExp(
  `^(?:#|\\w{1,40}\\+?=\\S{0,200}$|(?:${[
    'exit',
    'return',
    'set',
    'cd',
    'echo',
    'printf',
    'export',
    'local',
    'declare',
    'source',
    '\\.',
    ':',
    'true',
    'if',
    'then',
    'else',
    'elif',
    'fi',
    'for',
    'while',
    'do',
    'done',
    'case',
    'esac',
    '\\}',
    '\\{',
    '\\[',
    'test',
    'shopt',
    'trap',
  ].join('|')})(?=\\s|$|;))`,
);
const SHELL = /^shell: (.{1,200})/;
const STOPS_AT_FAILURE = /(?:^|[/\\\s])(?:ba|z|da)?sh(?:\.exe)?\b.{0,100}\s-\w{0,5}e/;
const IS_SHELL = /(?:^|[/\\\s])(?:ba|z|da)?sh(?:\.exe)?(?:\s|$)/;

/**
 * Reads the script in the head of a step (`##[group]Run …` to `shell: …`). Returns null if the head has none,
 * or if the script ended at the first command that failed.
 */
export function readScript(
  log: LogText,
  { lineStart, lineEnd }: Pick<Section, 'lineStart' | 'lineEnd'>,
): StepScript | null {
  const lines: string[] = [];
  let shell: string | null = null;
  let headEnd = lineStart;
  if (!log.line(lineStart).startsWith('##[group]Run ')) return null;
  for (let line = lineStart + 1; line <= Math.min(lineEnd, lineStart + MAX_SCRIPT); line++) {
    const text = log.line(line);
    headEnd = line;
    if (text.startsWith('##[endgroup]')) break;
    shell ??= SHELL.exec(text)?.[1] ?? null;
    if (shell === null) lines.push(text);
  }
  if (shell === null || !IS_SHELL.test(shell)) return null;
  const commands = listCommandsOfScript(joinContinued(lines), STOPS_AT_FAILURE.test(shell));
  return commands.length < 2 ? null : { commands, headEnd };
}

function joinContinued(lines: readonly string[]): string[] {
  const joined: string[] = [];
  let open = '';
  for (const line of lines) {
    const text = `${open}${line.trim()}`;
    open = text.endsWith('\\') ? `${text.slice(0, -1)} ` : '';
    if (open === '') joined.push(text);
  }
  return open === '' ? joined : [...joined, open];
}

/**
 * Returns the commands that can have failed in the same run: those after whose failure the script goes on,
 * and the last one.
 */
function listCommandsOfScript(lines: readonly string[], stopsAtFailure: boolean): string[] {
  let stops = stopsAtFailure;
  const failing: string[] = [];
  let last: string | null = null;
  for (const line of lines) {
    const option = /^set ([-+])\w{0,5}e/.exec(line)?.[1];
    if (option !== undefined) stops = option === '-';
    if (TRIVIAL.test(line) && !KEEPS_STATUS.test(line)) continue;
    if (PASSES_OVER.test(line)) continue;
    const goesOn = KEEPS_STATUS.test(line) || !stops;
    last = goesOn ? null : line;
    if (goesOn) failing.push(line.replace(/\s{0,4}\|\|.{0,300}$/, ''));
  }
  return last === null || failing.length === 0 ? failing : [...failing, last];
}
