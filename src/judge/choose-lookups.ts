import type { Understanding } from '../domain/conversation.ts';
import type { ToolCall } from '../domain/evidence.ts';
import type { Inquiry } from '../ports/analyst.ts';
import type { ToolDescription } from '../ports/toolbox.ts';
import { keepKnownArguments } from './choose-tools.ts';
import { readClues } from './clues.ts';
import { findForms, findSides } from './question-forms.ts';

const MAX_CALLS = 4;
const AROUND = 5;
const MAX_LINES = 40;

type Lookup = Inquiry & {
  readonly understanding: Understanding;
  readonly offered: readonly ToolDescription[];
  readonly round: number;
};

/**
 * Chooses the calls that the question needs and that were not made yet. Returns calls only in the first
 * round.
 */
export function chooseLookups(input: Lookup): ToolCall[] {
  if (input.round > 1) return [];
  return [...chooseCallsByWords(input.question), ...chooseCallsByForm(input)]
    .flatMap((call) => {
      const tool = input.offered.find(({ name }) => name === call.tool);
      return tool === undefined ? [] : [{ ...call, args: keepKnownArguments(call.args, tool) }];
    })
    .slice(0, MAX_CALLS);
}

function chooseCallsByForm({ question, understanding, topic, evidence, offered }: Lookup): ToolCall[] {
  const known = new Set(evidence.map(({ tool }) => tool));
  const clues = readClues(topic.subject, topic.analysis.category);
  return [...new Set(chooseTools(question, understanding))]
    .filter((name) => !known.has(name))
    .flatMap((name) => {
      const args = offered.find((tool) => tool.name === name)?.argumentsFrom?.(clues) ?? null;
      return args === null ? [] : [{ tool: name, args, why: `the question is about ${understanding.about}` }];
    });
}

function chooseTools(question: string, { shape }: Understanding): readonly string[] {
  if (shape === 'journey') return ['count_consecutive_failures', 'diff_with_green', 'read_commit_history'];
  if (shape === 'explanation') return findForms(question).flatMap(({ tools }) => tools);
  const { green, past } = findSides(question);
  return past.length > 0 && green.length > 0 ? [...green.slice(0, 2), ...past] : [...green, ...past];
}

/** Returns calls of the log tools for the line numbers and quoted words in the question. */
function chooseCallsByWords(question: string): ToolCall[] {
  const calls: ToolCall[] = [];
  const [, first, last] = /\blines? (\d{1,9})(?: ?(?:-|–|to|and) ?(\d{1,9}))?/i.exec(question) ?? [];
  if (first !== undefined)
    calls.push({
      tool: 'view_log',
      args: toLineRange(Number(first), last),
      why: 'the question names the lines',
    });
  const words = /["“`]([^"“”`\n]{2,200})["”`]/.exec(question)?.[1];
  if (words !== undefined)
    calls.push({
      tool: 'grep_log',
      args: { text: words, ignoreCase: true, limit: 10 },
      why: 'the question quotes it',
    });
  return calls;
}

function toLineRange(first: number, last: string | undefined): { from: number; to: number } {
  const from = Math.max(1, first);
  if (last === undefined) return { from: Math.max(1, from - AROUND), to: from + AROUND };
  return { from, to: Math.min(Math.max(from, Number(last)), from + MAX_LINES) };
}
