import type { Statement, Understanding } from '../domain/conversation.ts';
import type { ToolCall } from '../domain/evidence.ts';
import type { Analyst, Converse, Inquiry, Judgement } from '../ports/analyst.ts';
import type { ToolDescription } from '../ports/toolbox.ts';
import { composeAnswer } from './answer.ts';
import { chooseCalls, fitting, mendCall, planNext } from './choose-tools.ts';
import { ruleOn } from './classify.ts';
import { readClues } from './clues.ts';
import {
  type Aspect,
  comparisonStatements,
  explanationStatements,
  findAspects,
  journeyStatements,
  laidOut,
  understandQuestion,
} from './converse-statements.ts';
import { assess } from './verify.ts';

/**
 * Creates the analyst that works without a model: rules for what the log reader extracted and for what was
 * retrieved. It is deterministic and offline, costs nothing, and throws only on cancellation. `note` is added
 * to each judgement and states why the rules judge instead of the configured analyst.
 */
export function createRulesAnalyst({ note = null }: { readonly note?: string | null } = {}): Analyst {
  const judge = async <Value>(signal: AbortSignal, decide: () => Value): Promise<Judgement<Value>> => {
    signal.throwIfAborted();
    return { value: decide(), by: 'rules', usage: FREE, model: null, promptHash: null, note };
  };
  return {
    name: 'rules',
    classify: ({ subject }, signal) => judge(signal, () => ruleOn(subject).classification),
    plan: (input, signal) => judge(signal, () => planNext(input)),
    chooseTools: (input, signal) => judge(signal, () => chooseCalls(input)),
    correctCall: ({ call, tool, subject }, signal) => judge(signal, () => mendCall(call, tool, subject)),
    answer: (input, signal) => judge(signal, () => composeAnswer(input)),
    verify: (input, signal) => judge(signal, () => assess(input)),
    converse: createRulesConverse(judge),
  };
}

const FREE = { inputTokens: 0, outputTokens: 0, costUsd: 0, modelCalls: 0 } as const;

type Judge = <Value>(signal: AbortSignal, decide: () => Value) => Promise<Judgement<Value>>;

/**
 * Creates the answers to follow-up questions without a model: the stored analysis, its evidence, and the
 * results of tools, in the shape that the question asks for. It recognizes questions by their words and lists
 * what it can explain if it recognizes none.
 */
export function createRulesConverse(judge: Judge): Converse {
  return {
    understand: ({ question }, signal) => judge(signal, () => understandQuestion(question)),
    chooseTools: (input, signal) => judge(signal, () => chooseLookups(input)),
    reply: (input, signal) =>
      judge(signal, () => {
        const statements = buildStatements(input);
        for (const { lead, text } of statements) input.onText({ text: lead + text });
        return statements;
      }),
  };
}

function buildStatements(input: Inquiry & { understanding: Understanding }): Statement[] {
  const { shape } = input.understanding;
  if (shape === 'journey') return laidOut(journeyStatements(input), 'numbered');
  return laidOut(shape === 'comparison' ? comparisonStatements(input) : explanationStatements(input), 'list');
}

const MOST = 4;
const AROUND = 5;
const MOST_LINES = 40;

/** Tools that know more about an aspect than the analysis does. */
const BY_ASPECT: Partial<Record<Aspect, readonly string[]>> = {
  suspects: ['read_commit_history', 'read_blame'],
  history: ['read_failure_history', 'count_consecutive_failures'],
  similar: ['find_similar_failures', 'read_failure_history'],
  green: ['diff_with_green', 'count_consecutive_failures'],
  cause: ['search_knowledge'],
  fix: ['search_knowledge'],
};

/**
 * Chooses calls once, in the first round: those that the shape and words of the question call for and whose
 * results are not yet in the evidence.
 */
function chooseLookups(
  input: Inquiry & { understanding: Understanding; offered: readonly ToolDescription[]; round: number },
): ToolCall[] {
  if (input.round > 1) return [];
  const calls = [...callsForWords(input.question), ...callsForAspects(input)];
  return calls
    .flatMap((call) => {
      const tool = input.offered.find(({ name }) => name === call.tool);
      return tool === undefined ? [] : [{ ...call, args: fitting(call.args, tool) }];
    })
    .slice(0, MOST);
}

function callsForAspects({
  question,
  understanding,
  topic,
  evidence,
  offered,
}: Inquiry & { understanding: Understanding; offered: readonly ToolDescription[] }): ToolCall[] {
  const aspects = findAspects(question);
  const names = [
    ...namesForShape(understanding, aspects),
    ...aspects.flatMap((aspect) => BY_ASPECT[aspect] ?? []),
  ];
  const known = new Set(evidence.map(({ tool }) => tool));
  const clues = readClues(topic.subject, topic.analysis.category);
  return [...new Set(names)]
    .filter((name) => !known.has(name))
    .flatMap((name) => {
      const args = offered.find((tool) => tool.name === name)?.argumentsFrom?.(clues) ?? null;
      return args === null ? [] : [{ tool: name, args, why: `the question is about ${understanding.about}` }];
    });
}

function namesForShape({ shape }: Understanding, aspects: readonly Aspect[]): readonly string[] {
  if (shape === 'journey') return ['count_consecutive_failures', 'diff_with_green', 'read_commit_history'];
  if (shape === 'explanation') return [];
  const green = ['diff_with_green', 'count_consecutive_failures', 'read_commit_history'];
  const past = ['read_failure_history', 'find_similar_failures'];
  if (aspects.includes('green')) return green;
  return aspects.includes('history') || aspects.includes('similar') ? past : [...green.slice(0, 2), ...past];
}

/** Returns calls of the log tools for line numbers and quoted words in the question. */
function callsForWords(question: string): ToolCall[] {
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
  return { from, to: Math.min(Math.max(from, Number(last)), from + MOST_LINES) };
}
