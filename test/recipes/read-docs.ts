import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const DOCS = join(import.meta.dirname, '../../docs');

/** The fenced blocks of one language in a page of the documentation, in their order. */
export function listBlocks(page: string, language: string): string[] {
  const text = readFileSync(join(DOCS, page), 'utf8');
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, name, block]) =>
    name === language ? [block ?? ''] : [],
  );
}

/** The commands of the last `- |` block below a key of a YAML text, without their indentation. */
export function readScriptBelow(yaml: string, key: string): string {
  const lines = yaml.split('\n');
  const start = lines.findLastIndex(
    (line, at) =>
      line.trim() === '- |' &&
      lines
        .slice(0, at)
        .findLast((before) => before.trim().endsWith(':'))
        ?.trim() === `${key}:`,
  );
  if (start < 0) throw new Error(`no block below ${key}`);
  const indent = `${/^ */.exec(lines[start] ?? '')?.[0]}  `;
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => line.trim() !== '' && !line.startsWith(indent));
  return rest
    .slice(0, end < 0 ? rest.length : end)
    .map((line) => line.slice(indent.length))
    .join('\n');
}
