import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Program } from './program.ts';

const SOURCE = /\.(?:[cm]?[jt]s|py|go|rb|php)$/;
const TEST = /(?:^|\/)(?:tests?|spec)\/|[._](?:test|spec)\.|_test\.go$|(?:^|\/)test_/;
const COMMENT = /^\s*(?:\/\/|#|\*|\/\*|<\?php)/;

/**
 * Rewrites the code of a program, except its tests, in another format, as a formatter with other settings
 * would: calls on three lines, and spaces inside brackets.
 */
export function reformat(folder: string, { language }: Program): void {
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!SOURCE.test(path) || TEST.test(path)) continue;
    const lines = readFileSync(join(folder, path), 'utf8').split('\n');
    const written = lines.map((line) => (COMMENT.test(line) ? line : reformatLine(line, language)));
    writeFileSync(join(folder, path), written.join('\n'));
  }
}

function reformatLine(line: string, language: Program['language']): string {
  if (line.includes('`')) return line;
  const call = findBrackets(line, /\w\(/, '()');
  if (call !== null) {
    const indent = /^\s*/.exec(line)?.[0] ?? '';
    const step = language === 'Go' ? '\t' : '  ';
    const comma = language === 'Go' ? ',' : '';
    return `${call.before}\n${indent}${step}${step}${call.inside}${comma}\n${indent}${call.after}`;
  }
  const index = findBrackets(line, /\w\[/, '[]');
  return index === null ? line : `${index.before} ${index.inside} ${index.after}`;
}

/** Finds the first non-empty brackets of a line, outside of strings. */
function findBrackets(line: string, opening: RegExp, [open, close]: string) {
  let quote: string | null = null;
  let [start, depth] = [-1, 0];
  for (const [at, sign] of [...line].entries()) {
    if (quote !== null) quote = sign === quote ? null : quote;
    else if (sign === '"' || sign === "'") quote = sign;
    else if (start < 0 && sign === open && opening.test(line.slice(Math.max(0, at - 1), at + 1)))
      [start, depth] = [at, 1];
    else if (start >= 0 && sign === open) depth += 1;
    else if (start >= 0 && sign === close) {
      depth -= 1;
      if (depth > 0) continue;
      const inside = line.slice(start + 1, at);
      return inside.trim() === ''
        ? null
        : { before: line.slice(0, start + 1), inside, after: line.slice(at) };
    }
  }
  return null;
}
