import { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import { KnowledgeDocument } from '../domain/library.ts';

const Signal = z.string().trim().min(1);
const FIELDS = ['id', 'title', 'category', 'kind', 'tools', 'signals'] as const;
const REQUIRED_SECTIONS = ['Symptoms', 'Causes', 'Fixes'] as const;
type Field = (typeof FIELDS)[number];

/**
 * Reads one knowledge document: front matter between `---` lines (id, title, category, kind, `tools: [a, b]`, and `signals:`
 * as a list of JSON strings), then `## Heading` sections. Anything else is refused: TriageError `invalid-config` naming
 * file and line.
 */
export function parseKnowledge(file: string, text: string): KnowledgeDocument {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const fail: Fail = (line, problem) => new TriageError('invalid-config', `${file}:${line}: the knowledge document ${problem}.`);
  if (lines[0] !== '---') throw fail(1, 'must begin with a line of three dashes');
  const end = lines.indexOf('---', 1);
  if (end < 0) throw fail(lines.length, 'has no line of three dashes that ends the front matter');
  const frontMatter = readFrontMatter(lines.slice(1, end), fail);
  const sections = readSections(lines, end + 1, fail);
  for (const field of FIELDS) if (!frontMatter.values.has(field)) throw fail(end + 1, `lacks the field ${field}`);
  for (const name of REQUIRED_SECTIONS) if (sections[name] === undefined) throw fail(lines.length, `lacks the section ## ${name}`);
  return check(frontMatter, sections, fail);
}

/** The error for a line of the file at hand. */
type Fail = (line: number, problem: string) => TriageError;

interface FrontMatter {
  readonly values: ReadonlyMap<string, string | readonly string[]>;
  readonly at: ReadonlyMap<string, number>;
}

function readFrontMatter(lines: readonly string[], fail: Fail): FrontMatter {
  const values = new Map<string, string | string[]>();
  const at = new Map<string, number>();
  let list: string[] | null = null;
  for (const [index, line] of lines.entries()) {
    const number = index + 2;
    const item = line.match(/^ {2}- (".*")$/)?.[1];
    if (item !== undefined) {
      if (list === null) throw fail(number, 'has a list item outside a list');
      list.push(readString(item, number, fail));
      continue;
    }
    const field = line.match(/^([a-z]+):(?: (.*))?$/);
    const name = field?.[1] ?? '';
    const value = field?.[2]?.trim() ?? '';
    if (field === null || !isField(name)) throw fail(number, `has a line that is no known field: ${JSON.stringify(line.slice(0, 80))}`);
    if (values.has(name)) throw fail(number, `has the field ${name} twice`);
    at.set(name, number);
    list = value === '' ? [] : null;
    values.set(name, list ?? (name === 'tools' ? readInlineList(value, number, fail) : value));
  }
  return { values, at };
}

function isField(name: string): name is Field {
  return FIELDS.some((field) => field === name);
}

function readString(json: string, line: number, fail: Fail): string {
  try {
    return Signal.parse(JSON.parse(json));
  } catch {
    throw fail(line, `has a signal that is no JSON string: ${json.slice(0, 80)}`);
  }
}

function readInlineList(value: string, line: number, fail: Fail): string[] {
  const inside = value.match(/^\[(.*)\]$/)?.[1];
  if (inside === undefined) throw fail(line, 'must list its tools as [a, b]');
  return inside
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function readSections(lines: readonly string[], start: number, fail: Fail): Record<string, string> {
  const sections = new Map<string, string[]>();
  let current: string[] | null = null;
  for (const [index, line] of lines.slice(start).entries()) {
    const heading = line.match(/^## (.+)$/)?.[1]?.trim();
    if (heading === undefined) {
      if (current === null && line.trim() !== '') throw fail(start + index + 1, 'has text before its first ## heading');
      current?.push(line);
      continue;
    }
    if (sections.has(heading)) throw fail(start + index + 1, `has the section ${heading} twice`);
    current = [];
    sections.set(heading, current);
  }
  return Object.fromEntries([...sections].map(([heading, body]) => [heading, body.join('\n').trim()]));
}

function check({ values, at }: FrontMatter, sections: Record<string, string>, fail: Fail): KnowledgeDocument {
  const result = KnowledgeDocument.safeParse({ ...Object.fromEntries(values), sections });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw fail(at.get(String(issue?.path[0])) ?? 1, `has a wrong ${issue?.path.join('.')}: ${issue?.message}`);
}
