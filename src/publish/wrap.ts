/** Breaks a line at spaces so that none is longer than `columns` characters; a longer word is cut. */
export function wrap(line: string, columns: number): string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(' ').flatMap((part) => cutWord(part, columns))) {
    const joined = current === '' ? word : `${current} ${word}`;
    if (Array.from(joined).length <= columns) {
      current = joined;
      continue;
    }
    lines.push(current);
    current = word;
  }
  return current === '' ? lines : [...lines, current];
}

function cutWord(word: string, columns: number): string[] {
  const characters = Array.from(word);
  const parts: string[] = [];
  for (let from = 0; from < characters.length; from += columns) parts.push(characters.slice(from, from + columns).join(''));
  return parts;
}
