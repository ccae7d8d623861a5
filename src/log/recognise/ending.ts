/** An ending that says nothing more than that it was bad. */
export const PLAIN_ENDING = 'failed';

/** Windows ends a crashed process with one of these (NTSTATUS, unsigned); the signal is what other systems say for the same. */
const WINDOWS_ENDINGS: ReadonlyMap<number, string> = new Map([
  [0xc0000005, 'SIGSEGV'],
  [0xc00000fd, 'SIGSEGV'],
  [0xc0000409, 'SIGABRT'],
  [0x80000003, 'SIGTRAP'],
  [0xc000001d, 'SIGILL'],
  [0xc0000094, 'SIGFPE'],
  [0xc000013a, 'SIGINT'],
]);

const SIGNALS: ReadonlyMap<number, string> = new Map([
  [1, 'SIGHUP'],
  [2, 'SIGINT'],
  [3, 'SIGQUIT'],
  [4, 'SIGILL'],
  [5, 'SIGTRAP'],
  [6, 'SIGABRT'],
  [7, 'SIGBUS'],
  [8, 'SIGFPE'],
  [9, 'SIGKILL'],
  [11, 'SIGSEGV'],
  [13, 'SIGPIPE'],
  [15, 'SIGTERM'],
]);

/** What shells and runtimes say when a signal ended a process, each a whole line. */
const SAID: readonly (readonly [RegExp, string])[] = [
  [/^(?:signal: )?segmentation fault$/i, 'SIGSEGV'],
  [/^(?:signal: )?abort(?:ed)?$/i, 'SIGABRT'],
  [/^(?:signal: )?killed$/i, 'SIGKILL'],
  [/^(?:signal: )?terminated$/i, 'SIGTERM'],
  [/^(?:signal: )?bus error$/i, 'SIGBUS'],
  [/^(?:signal: )?illegal instruction$/i, 'SIGILL'],
  [/^(?:signal: )?floating point exception$/i, 'SIGFPE'],
];

const TIME_LIMIT = /^(?:the )?(?:(?:test|process|case) )?(?:timed out|time ?out)(?: (?:in|after) [\d.]{1,10} ?[a-z]{1,12})?$/i;
const BY_NUMBER =
  /^(?:(?:the )?(?:test|process) )?(?:(?:crashed|ended|exited|failed|died|terminated|returned|aborted) (?:with|on|by) )?(?:exit )?(?:code|status):? ?\(?(-?\d{1,10}|0x[0-9a-f]{1,8})\)?$/i;
const BY_SIGNAL =
  /^(?:(?:the )?(?:test|process) )?(?:(?:crashed|ended|exited|failed|died|terminated|killed|aborted|received) )?(?:(?:with|on|by) )?(?:signal:? )?\(?(SIG[A-Z]{2,6})\)?$/;

/**
 * How a test or process ended, in one word for all platforms: `timeout`, a signal's name, `exit 127`, or `failed` where there is
 * no more to it. Null where the text says more than an ending, that is, where it may say why.
 */
export function endingOf(text: string): string | null {
  if (text.length > 120) return null;
  const words = text
    .trim()
    .replace(/ \(core dumped\)$/, '')
    .replace(/[.!]$/, '');
  if (TIME_LIMIT.test(words)) return 'timeout';
  const code = BY_NUMBER.exec(words)?.[1];
  if (code !== undefined) return endingOfCode(Number(code));
  return BY_SIGNAL.exec(words)?.[1] ?? SAID.find(([pattern]) => pattern.test(words))?.[1] ?? null;
}

/** 124 is `timeout`'s own; 126 and 127 are the shell's. A code that a program chose itself (1, 2, 7) tells nothing. */
function endingOfCode(code: number): string {
  const signal = WINDOWS_ENDINGS.get(code < 0 ? code + 0x1_0000_0000 : code);
  if (signal !== undefined) return signal;
  if (code === 124) return 'timeout';
  if (code === 126 || code === 127) return `exit ${code}`;
  const number = code < 0 ? -code : code - 128;
  return number > 0 && number < 65 ? (SIGNALS.get(number) ?? `SIG${number}`) : PLAIN_ENDING;
}
