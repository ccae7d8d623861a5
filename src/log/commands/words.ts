import type { Extraction } from '../extract/extraction.ts';
import type { LogText } from '../lines/lines.ts';
import type { LineRange } from '../sections/system.ts';

/** The maximum number of mentions of one word that count, because a tool may print its name on every line. */
const MAX_MENTIONS = 2;
/** Words that many commands and tools print. */
const COMMON_WORD =
  /^(?:tests?|build|check|install|python3?|bash|node|make|main|src|run|exec|version|true|false|null)$/;

/**
 * Counts for each command the mentions of words that only this command has: for each line, the number of
 * mentions from the first line up to it.
 */
export function scoreWords(
  log: LogText,
  found: Extraction,
  { start, end }: LineRange,
  commands: readonly string[],
): number[][] {
  const words = commands.map((command) => {
    const words = command.split(/\s+/).filter((word) => !word.startsWith('-'));
    return new Set(
      words.flatMap((word) => word.toLowerCase().match(/[a-z][\w-]{2,60}(?:\.\w{1,10})?/g) ?? []),
    );
  });
  const counts = new Map<string, number>();
  for (const commandWords of words)
    for (const word of commandWords) counts.set(word, (counts.get(word) ?? 0) + 1);
  const tools = new Map(
    found.diagnostics.flatMap(({ at, tool }) =>
      at === null ? [] : [[at.line, tool.toLowerCase()] as const],
    ),
  );
  return words.map((commandWords) => {
    const distinctive = [...commandWords].filter((word) => counts.get(word) === 1 && !COMMON_WORD.test(word));
    const gains = new Map<number, number>();
    for (const word of distinctive) {
      let mentions = 0;
      for (let line = start; line <= end && mentions < MAX_MENTIONS; line++) {
        if (tools.get(line) !== word && !holdsWord(log.line(line).toLowerCase(), word)) continue;
        gains.set(line, (gains.get(line) ?? 0) + 1);
        mentions++;
      }
    }
    let sum = 0;
    const sums: number[] = [];
    for (let line = start; line <= end; line++) {
      sum += gains.get(line) ?? 0;
      sums.push(sum);
    }
    return sums;
  });
}

function holdsWord(text: string, word: string): boolean {
  const at = text.indexOf(word);
  return at !== -1 && !/\w/.test(text[at - 1] ?? ' ') && !/\w/.test(text[at + word.length] ?? ' ');
}
