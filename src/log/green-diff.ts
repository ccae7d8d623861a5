import { cleanLine, stripEscapes } from './clean.ts';
import { normaliseMessage } from './normalise.ts';

/** Lines of a green log that are remembered at most. */
const MAX_TEMPLATES = 500_000;

/** What a green build of the same job also said: answers whether a clean line has the template of one of its lines. */
export function knownLines(greenText: string): (line: string) => boolean {
  const templates = new Set<string>();
  const plain = stripEscapes(greenText);
  let start = 0;
  while (start <= plain.length && templates.size < MAX_TEMPLATES) {
    const at = plain.indexOf('\n', start);
    const end = at === -1 ? plain.length : at;
    templates.add(templateOf(cleanLine(plain.slice(start, end))));
    start = end + 1;
  }
  return (line) => templates.has(templateOf(line));
}

function templateOf(line: string): string {
  return normaliseMessage(line.slice(0, 400));
}
