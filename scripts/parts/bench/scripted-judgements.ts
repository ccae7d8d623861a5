import type { ScriptedBody } from './scripted-model.ts';

/** The reply of the scripted model: text (JSON if a schema was requested) and tool calls. */
export interface Judged {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly args: Readonly<Record<string, unknown>> }[];
}

const CRASHES = /NullPointerException|TypeError: |null_reference|panic: /;
const TESTS = /AssertionError|assert|expected|Failing tests|--- FAIL/i;
const DEPENDENCIES = /ERESOLVE|Could not resolve|No matching version|E404|ModuleNotFoundError/i;
const MACHINES = /timed out|Connection refused|No space left|ECONNRESET|\b50[0234]\b/i;

/**
 * Returns a plausible judgment for the request, of the `known` category if it is given. After `rounds`
 * rounds, it says that enough is known.
 */
export function judge(
  body: ScriptedBody,
  rounds: number,
  known?: readonly [category: string, kind: string],
): Judged {
  const prompt = body.messages.map((message) => message.content ?? '').join('\n');
  if (body.tools !== undefined && body.tools.length > 0) {
    const offered = body.tools.map((tool) => tool.function.name);
    return { text: '', calls: chooseCalls(offered, prompt) };
  }
  switch (body.response_format?.json_schema?.name) {
    case 'classify':
      return toJudged(createClassification(known ?? findCategory(prompt)));
    case 'reason': {
      const enough = readRound(prompt) >= rounds;
      return toJudged({
        thought: 'What broke is known; why it broke is asked.',
        gaps: [],
        revised: null,
        confidence: enough ? 0.9 : 0.55,
        next: enough ? 'answer' : 'look',
        calls: enough ? [] : chooseCalls(listOffered(prompt), prompt).map(toPlannedCall),
      });
    }
    case 'answer':
      return toJudged(answer(prompt));
    case 'verify':
      return toJudged({
        grades: [{ evidence: 'E1', grade: 'relevant' }],
        unsupportedClaims: [],
        gaps: [],
        against: [],
        confidence: 0.9,
      });
    default:
      return toJudged({ calls: [], ok: true });
  }
}

function toJudged(value: unknown): Judged {
  return { text: JSON.stringify(value), calls: [] };
}

/** Chooses knowledge tools first, then logs, then other tools that were not called yet. */
function chooseCalls(offered: readonly string[], prompt: string): Judged['calls'] {
  const wanted =
    readRound(prompt) === 1
      ? [
          { name: 'search_knowledge', args: {} },
          { name: 'search_error_library', args: {} },
        ]
      : [
          { name: 'grep_log', args: { text: 'error', limit: readRound(prompt) } },
          { name: 'read_failure_history', args: { limit: readRound(prompt) } },
        ];
  return wanted.filter((call) => offered.includes(call.name));
}

/** Lists the tools that a plan may choose. */
function listOffered(prompt: string): string[] {
  const listed = /\nTools that can be asked:\n((?:- .*\n)*)/.exec(prompt)?.[1] ?? '';
  return Array.from(listed.matchAll(/^- (\w+)\(/gm), ([, name]) => name ?? '');
}

function toPlannedCall({ name, args }: Judged['calls'][number]) {
  return { tool: name, args: JSON.stringify(args), why: 'It may tell why.' };
}

function readRound(prompt: string): number {
  return Number(/\bround: (\d+)/.exec(prompt)?.[1] ?? 1);
}

function createClassification([category, kind]: readonly [string, string]) {
  const probabilities = {
    CODE_ERROR: 0.03,
    INFRA_ERROR: 0.03,
    CONFIG_ERROR: 0.03,
    DEPENDENCY_ERROR: 0.03,
    TEST_FAILURE: 0.03,
    [category]: 0.88,
  };
  return {
    because: 'The first error line says so.',
    category,
    kind,
    confidence: 0.88,
    probabilities,
    abstained: false,
  };
}

function findCategory(prompt: string): readonly [string, string] {
  if (CRASHES.test(prompt)) return ['CODE_ERROR', 'null_reference'];
  if (DEPENDENCIES.test(prompt)) return ['DEPENDENCY_ERROR', 'dependency_install'];
  if (TESTS.test(prompt)) return ['TEST_FAILURE', 'assertion'];
  if (MACHINES.test(prompt)) return ['INFRA_ERROR', 'network'];
  return ['CODE_ERROR', 'compile_error'];
}

/**
 * Quotes the first line of the first evidence with line numbers, so that the check of quotations finds it.
 */
function answer(prompt: string) {
  const first = /^(E\d+)(?:, E\d+)*: source (.+?), lines [^\n]*\n(\d+)\| ([^\n]*\S[^\n]*)/m.exec(prompt);
  const quotes = first === null ? [] : [{ source: first[2], line: Number(first[3]), text: first[4] }];
  const text = 'The step stopped at the error that is quoted.';
  return {
    title: 'The step stopped at its first error',
    rootCause: `${text} (E1)`,
    fixRecommendation: 'Mend the line that is named first and run the step again.',
    claims: [{ text, evidence: [first?.[1] ?? 'E1'], quotes }],
    suspects: [],
    hypotheses: [],
    confidence: 0.9,
  };
}
