import type { ToolCall } from '../../domain/evidence.ts';
import type { Inquiry, PlaceTopic } from '../../ports/analyst.ts';
import type { ToolDescription } from '../../ports/toolbox.ts';
import { listDefinitionEvidence } from './place-evidence.ts';
import { isPathName, type PlaceQuestion } from './place-questions.ts';

/** Chooses the calls of a round for a form of question: what it names first, then what that leads to. */
export function choosePlaceCalls(
  question: PlaceQuestion,
  input: Inquiry<PlaceTopic> & { readonly offered: readonly ToolDescription[]; readonly round: number },
): ToolCall[] {
  // A model may have chosen other calls in the rounds before it failed.
  const made = new Set(input.outcomes.map(({ call: { tool } }) => tool));
  const first = listFirstCalls(question).filter(({ tool }) => !made.has(tool));
  const calls = first.length > 0 ? first : listNextCalls(question, input);
  const offered = new Set(input.offered.map(({ name }) => name));
  return calls.filter(({ tool }) => offered.has(tool));
}

function listFirstCalls({ form, entities }: PlaceQuestion): ToolCall[] {
  switch (form) {
    case null:
      return [];
    case 'overview':
    case 'layout':
      return [call('read_repository_docs', {}, 'the documentation comes first')];
    case 'stack':
      return [call('describe_stack', {}, 'the question is about what it is built with')];
    case 'callers':
      return entities.flatMap((name) => [
        call('find_uses', { name, calls: true }, `it asks what calls ${name}`),
      ]);
    default:
      return entities.map((name) => callForName(form, name));
  }
}

function callForName(form: PlaceQuestion['form'], name: string): ToolCall {
  if (!isPathName(name)) return call('find_definition', { name: trimName(name) }, `it asks about ${name}`);
  if (form === 'where') return call('list_files', { globs: [toGlob(name)] }, `it asks for the file ${name}`);
  if (form === 'changed')
    return call('read_commit_history', { path: name, limit: 5 }, `it asks who changed ${name}`);
  return call('outline_file', { path: name }, `it asks about the file ${name}`);
}

/** Asks for the history of what was found, or for uses where nothing calls a name by parentheses. */
function listNextCalls(
  { form, entities }: PlaceQuestion,
  input: Inquiry<PlaceTopic> & { readonly round: number },
): ToolCall[] {
  if (form === 'callers' && input.found.length === 0)
    return entities.map((name) => call('find_uses', { name: trimName(name) }, `nothing calls ${name}`));
  if (form !== 'changed') return [];
  return entities.flatMap((name) =>
    listDefinitionEvidence(input, name)
      .slice(0, 1)
      .map(({ data }) =>
        call(
          'read_commit_history',
          { path: data.path, lineStart: data.line, lineEnd: data.end, limit: 5 },
          `its lines tell who changed ${name}`,
        ),
      ),
  );
}

function call(tool: string, args: Record<string, unknown>, why: string): ToolCall {
  return { tool, args, why };
}

/** Drops what is no part of a name in code, such as the bang of a macro. */
function trimName(name: string): string {
  return name.replace(/!$/, '').replace(/^@/, '');
}

function toGlob(name: string): string {
  return name.startsWith('**/') || name.startsWith('/') ? name : `**/${name}`;
}
