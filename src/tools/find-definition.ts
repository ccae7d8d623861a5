import { z } from 'zod';
import type { Finding } from '../domain/evidence.ts';
import { mapInParallel } from '../lib/collections.ts';
import type { CodeHost } from '../ports/code-host.ts';
import { type Definition, findComment, listDefinitions, mayBeMember, mayDefine } from './code/definitions.ts';
import { readLines } from './code/read-lines.ts';
import { type BuiltCode, defineCodeTool, findBuiltCode } from './repository.ts';
import type { Tool } from './tool.ts';

/** Lines of the repository that are looked at for one name. */
const LOOKED_AT = 3_000;
const MAX_FILES = 12;
const MAX_SHOWN = 8;
/** Lines of a definition that are whole, with its comment. */
const MAX_LINES = 60;
const TESTS = new RegExp(
  String.raw`(?:^|/)(?:tests?|__tests__|spec|examples?|benches|benchmarks?|fixtures?)/|` +
    String.raw`[._-](?:test|spec)s?\.\w+$|_test\.go$`,
  'i',
);

const Parameters = z.strictObject({
  name: z
    .string()
    .trim()
    .min(2)
    .max(200)
    .regex(/^[\w$.:#~!?-]+$/, 'one name, such as runHook, Session.request or Cart::total')
    .describe('A function, class, type or constant; Container.name for a member'),
});

/** Creates the tool that finds where a name is defined, with its comment and code. */
export function findDefinition(codeHost: CodeHost): Tool {
  return defineCodeTool(codeHost, {
    name: 'find_definition',
    question: 'Where is this function, class, type or constant defined, and what is written there?',
    serves: { CODE_ERROR: null },
    investigator: 'code',
    asks: 'code host',
    costClass: 'medium',
    usualLatencyMs: 1_000,
    parameters: Parameters,
    keptBy: 'arguments',
    async run({ name }, context): Promise<Finding[]> {
      const code = await findBuiltCode(codeHost, context);
      const found = await locateDefinitions(code, name);
      return found
        .slice(0, MAX_SHOWN)
        .flatMap((place, index) => toFindings(place, code, { index, total: found.length }));
    },
  });
}

interface Located {
  readonly path: string;
  readonly lines: readonly string[];
  readonly definition: Definition;
}

/** Finds the definitions of a name; those outside of tests come first. */
async function locateDefinitions(code: BuiltCode, name: string): Promise<Located[]> {
  const { own, container } = splitName(name);
  const hits = await code.host.search({ ...code.at, text: own, limit: LOOKED_AT }, code.signal);
  const likely = [mayDefine, mayBeMember].flatMap((isLikely) =>
    hits.filter(({ path, text }) => isLikely(path, text, own)).map(({ path }) => path),
  );
  const paths = [...new Set(likely)].sort((left, right) => Number(isTest(left)) - Number(isTest(right)));
  const files = await mapInParallel(paths.slice(0, MAX_FILES), 4, async (path) => {
    const file = await readLines(code, path);
    const all = file === null ? [] : listDefinitions(path, file.lines);
    return all
      .filter((definition) => definition.name === own || definition.name.endsWith(`::${own}`))
      .filter((definition) => container === null || isWithin(definition, container))
      .map((definition) => ({ path, lines: file?.lines ?? [], definition }));
  });
  return files.flat();
}

function isTest(path: string): boolean {
  return TESTS.test(path);
}

/** Splits `Session.request`, `Cart::total` and `Hooks#run` into the name and what contains it. */
function splitName(name: string): { readonly own: string; readonly container: string | null } {
  const parts = name.split(/::|[.#]/).filter((part) => part !== '' && part !== 'prototype');
  return { own: parts.at(-1) ?? name, container: parts.at(-2) ?? null };
}

function isWithin({ container, name }: Definition, wanted: string): boolean {
  return container === wanted || name.startsWith(`${wanted}::`);
}

/** Shows a definition with its comment; a long comment is a finding of its own. */
function toFindings(
  { path, lines, definition }: Located,
  { at, titled }: BuiltCode,
  { index, total }: { readonly index: number; readonly total: number },
): Finding[] {
  const { name, kind, container, line, lineEnd, complexity } = definition;
  const comment = findComment(path, lines, definition);
  const isLong = comment !== null && comment.lineEnd - comment.lineStart > MAX_LINES / 2;
  const lineStart = isLong ? line : Math.min(comment?.lineStart ?? line, line);
  const last = Math.min(Math.max(lineEnd, comment?.lineEnd ?? 0), lineStart + MAX_LINES - 1);
  const inside = container === null ? '' : ` of ${container}`;
  const more = index === 0 && total > MAX_SHOWN ? `; ${total} definitions in all` : '';
  const show = (title: string, from: number, to: number, data: Record<string, unknown>): Finding => ({
    title: titled(title),
    text: lines.slice(from - 1, to).join('\n'),
    source: path,
    lineStart: from,
    lineEnd: to,
    data: { path, ...data, commit: at.ref },
  });
  const title = `${path}:${line} defines the ${kind} ${name}${inside} (lines ${line}–${lineEnd})${more}`;
  const data = { name, kind, container, line, end: lineEnd, complexity, comment };
  const whole = show(title, lineStart, last, data);
  if (comment === null || !isLong) return [whole];
  const end = Math.min(comment.lineEnd, comment.lineStart + MAX_LINES / 2);
  return [whole, show(`${path}:${line}, comment of ${name}`, comment.lineStart, end, {})];
}
