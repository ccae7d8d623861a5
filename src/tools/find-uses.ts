import { z } from 'zod';
import type { Finding } from '../domain/evidence.ts';
import { mapInParallel } from '../lib/collections.ts';
import type { CodeHost } from '../ports/code-host.ts';
import { removeNonCode } from './code/code-only.ts';
import { type Definition, listDefinitions } from './code/definitions.ts';
import { findLanguage } from './code/languages.ts';
import { readLines } from './code/read-lines.ts';
import { type BuiltCode, defineCodeTool, findBuiltCode } from './repository.ts';
import type { Tool } from './tool.ts';

const LOOKED_AT = 3_000;
const MAX_FILES = 16;
const MAX_SHOWN = 10;
/** Longer lines are generated. */
const MAX_LINE = 500;
const IDENTIFIER = /[\w$]/;

const Parameters = z.strictObject({
  name: z
    .string()
    .trim()
    .min(2)
    .max(200)
    .regex(/^[\w$.:#~!?-]+$/, 'one name, such as runHook')
    .describe('A function, class, type or constant'),
  calls: z.boolean().default(false).describe('Only lines that call it: the name and a parenthesis'),
});

/** Creates the tool that finds the lines of code that use a name, and the function that each is in. */
export function findUses(codeHost: CodeHost): Tool {
  return defineCodeTool(codeHost, {
    name: 'find_uses',
    question:
      'Which lines of code use or call this function, class, type or constant, and in which function?',
    serves: { CODE_ERROR: null },
    investigator: 'code',
    asks: 'code host',
    costClass: 'medium',
    usualLatencyMs: 1_000,
    parameters: Parameters,
    keptBy: 'arguments',
    async run({ name, calls }, context): Promise<Finding[]> {
      const code = await findBuiltCode(codeHost, context);
      const [lastName = name, container] = name.split(/::|[.#]/).toReversed();
      const hits = await code.host.search({ ...code.at, text: lastName, limit: LOOKED_AT }, code.signal);
      const paths = [...new Set(hits.map(({ path }) => path))].filter((path) => findLanguage(path) !== null);
      const files = await mapInParallel(paths.slice(0, MAX_FILES), 4, (path) =>
        listUses(code, path, lastName, calls),
      );
      const uses = keepQualified(files.flat(), container);
      const isWhole = paths.length <= MAX_FILES && hits.length < LOOKED_AT;
      const total = `${uses.length}${isWhole ? '' : '+'}`;
      return uses.slice(0, MAX_SHOWN).map((use) => toFinding(use, code, lastName, { total, isWhole }));
    },
  });
}

/**
 * Keeps the uses that name the container, where there are some: `Cart::new` is not every `new`. A method is
 * called on a value, whose type no line says.
 */
function keepQualified(uses: readonly Use[], container: string | undefined): readonly Use[] {
  const qualified = uses.filter(({ qualifier }) => qualifier !== null && qualifier === container);
  return qualified.length > 0 ? qualified : uses;
}

interface Use {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  readonly within: string | null;
  readonly isCall: boolean;
  /** The name before the used one: `Cart` of `Cart::new`. */
  readonly qualifier: string | null;
}

/** Lists the uses of a name in one file, in code only. What defines or imports it is no use. */
async function listUses(code: BuiltCode, path: string, name: string, calls: boolean): Promise<Use[]> {
  const file = await readLines(code, path);
  const language = findLanguage(path);
  if (file === null || language === null) return [];
  const definitions = listDefinitions(path, file.lines);
  const uses: Use[] = [];
  const lines = file.lines.map((line) => (line.length > MAX_LINE ? '' : line));
  for (const [index, line] of removeNonCode(lines, language.lexis).entries()) {
    const place = findName(line, name);
    const isDefinition = definitions.some((other) => other.line === index + 1 && other.name === name);
    const isImport = /^\s*(?:import|from|use|export \{|package|require|#\s?include)\b/.test(line);
    if (place === null || isDefinition || isImport) continue;
    if (calls && !place.isCall) continue;
    const within = findInnermost(definitions, index + 1);
    uses.push({ path, line: index + 1, text: file.lines[index] ?? '', within, ...place });
  }
  return uses;
}

/** Finds a name as a whole word; a call if a parenthesis, macro mark or template follows. */
function findName(line: string, name: string): Pick<Use, 'isCall' | 'qualifier'> | null {
  let named: Pick<Use, 'isCall' | 'qualifier'> | null = null;
  for (let at = line.indexOf(name); at >= 0; at = line.indexOf(name, at + name.length)) {
    const isWord = !IDENTIFIER.test(line[at - 1] ?? '') && !IDENTIFIER.test(line[at + name.length] ?? '');
    if (!isWord) continue;
    const qualifier = /(\w{1,200})(?:::|\.)$/.exec(line.slice(Math.max(0, at - 202), at))?.[1] ?? null;
    if (/^ ?(?:!?\(|`|::<|<[^()]*>\()/.test(line.slice(at + name.length, at + name.length + 200)))
      return { isCall: true, qualifier };
    named ??= { isCall: false, qualifier };
  }
  return named;
}

function findInnermost(definitions: readonly Definition[], line: number): string | null {
  const inner = definitions.findLast(
    ({ kind, line: first, lineEnd }) =>
      first <= line && line <= lineEnd && (kind === 'function' || kind === 'method'),
  );
  if (inner === undefined) return null;
  return inner.container === null ? inner.name : `${inner.container}.${inner.name}`;
}

function toFinding(
  { path, line, text, within, isCall }: Use,
  { at, titled }: BuiltCode,
  name: string,
  { total, isWhole }: { readonly total: string; readonly isWhole: boolean },
): Finding {
  const where = within === null ? '' : ` in ${within}`;
  const how = isCall ? 'calls' : 'uses';
  return {
    title: titled(`${path}:${line} ${how} ${name}${where}; lines in all: ${total}`),
    text,
    source: path,
    lineStart: line,
    lineEnd: line,
    data: { name, path, line, within, isCall, total, isWhole, commit: at.ref },
  };
}
