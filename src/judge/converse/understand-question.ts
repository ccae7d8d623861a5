import type { QuestionShape, Understanding } from '../../domain/conversation.ts';

/** What the rules can tell about an analysis. */
export type Aspect =
  | 'cause'
  | 'fix'
  | 'suspects'
  | 'certainty'
  | 'history'
  | 'similar'
  | 'green'
  | 'lines'
  | 'tests'
  | 'category'
  | 'cost'
  | 'others';

/** Words by which a question names an aspect; several may be named. In the order in which they are answered. */
const WORDS: readonly (readonly [Aspect, RegExp, string])[] = [
  ['cause', /\b(?:why|causes?|caused|reason|because|explain|went wrong|is wrong|what is this|mean|means)\b/i, 'the cause'],
  ['fix', /\b(?:fix|fixed|fixes|repair|solve|solution|mend|workaround|remedy|to do|(?:should|can) (?:i|we) do)\b/i, 'the fix'],
  [
    'suspects',
    /\b(?:who|whose|author|commits?|blame|suspects?|which (?:file|change)|introduced|pull request|broke it|my change|our change)\b/i,
    'who and which file',
  ],
  [
    'green',
    /\b(?:green|last (?:good|success|successful|pass|passed|passing)|passed|why now|changed|new since|diff)\b/i,
    'what is new since green',
  ],
  [
    'history',
    /\b(?:before|earlier|again|history|often|flaky|flakiness|first time|past|previous|previously|seen|how many times)\b/i,
    'earlier failures',
  ],
  ['similar', /\b(?:similar|same as|like this|other builds?|other repositor(?:y|ies)|elsewhere)\b/i, 'similar failures'],
  ['tests', /\b(?:tests?|specs?|assertions?|expected|expectation)\b/i, 'the tests'],
  ['lines', /\b(?:lines?|logs?|show|evidence|output|printed|where|proof|prove|proves)\b/i, 'the lines that show it'],
  ['certainty', /\b(?:sure|certain|confidence|confident|doubt|trust|reliable|right|wrong about|review|reviewer)\b/i, 'how sure it is'],
  ['category', /\b(?:category|classified|kind of|infra|infrastructure|environment|my fault|our fault|my code|our code)\b/i, 'the category'],
  ['cost', /\b(?:cost|costs|tokens?|dollars?|how long|took|which model)\b/i, 'what the analysis cost'],
  ['others', /\b(?:other (?:causes?|failures?)|else (?:failed|is wrong|broke)|anything else)\b/i, 'the other causes'],
];

const JOURNEY =
  /\b(?:how (?:did|does|come|was)|come to|came to|step by step|steps|timeline|sequence|journey|what happened|chain of|in what order|walk me|leads? to|led to|story)\b/i;
const COMPARISON =
  /\b(?:compare|compared|comparison|differ|differs|difference|differences|different|versus|vs|against|why now|same as|unlike|like (?:build|#)|since (?:the )?last|last green)\b/i;

/** The aspects that a question names; none where it names nothing that the rules know. */
export function aspectsOf(question: string): Aspect[] {
  return WORDS.filter(([, words]) => words.test(question)).map(([aspect]) => aspect);
}

/** Shape and subject by the question's own words. */
export function understandQuestion(question: string): Understanding {
  const named = WORDS.filter(([, words]) => words.test(question)).map(([, , name]) => name);
  return { shape: shapeOf(question), about: named.length === 0 ? 'the failure' : named.slice(0, 3).join(', ') };
}

function shapeOf(question: string): QuestionShape {
  if (COMPARISON.test(question)) return 'comparison';
  return JOURNEY.test(question) ? 'journey' : 'explanation';
}
