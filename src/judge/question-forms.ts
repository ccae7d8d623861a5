/**
 * A form of question that the rules can answer with facts of the answer's page and with findings of tools.
 */
export interface QuestionForm {
  /** The subject of the question, in a few words. */
  readonly about: string;
  /** Matches the words with which people ask for it. */
  readonly words: RegExp;
  /** The names of the facts that answer it, as on the answer's page. */
  readonly facts: readonly string[];
  /** The tools whose findings also answer it. */
  readonly tools: readonly string[];
  /** The answer if there are neither facts nor findings. */
  readonly otherwise: string;
}

const NOTHING_EARLIER = 'No similar earlier failure is known.';

/** The forms of questions, in the order in which they are answered. A question may match several. */
export const QUESTION_FORMS: readonly QuestionForm[] = [
  {
    about: 'whose it is',
    words:
      /\b(?:who|whose|blame|(?:my|our|this) (?:fault|change|code|commit|pull request)|is it me|flaky|flakiness)\b/i,
    facts: ['Whose'],
    tools: [],
    otherwise: 'No other build is known that would say whose it is.',
  },
  {
    about: 'the cause',
    words: /\b(?:why|causes?|caused|reason|because|explain|(?:went|is) wrong|what is this|means?)\b/i,
    facts: ['Cause', 'Claim', 'Hypothesis'],
    tools: [],
    otherwise: '',
  },
  {
    about: 'the fix',
    words:
      /\b(?:fix|fixed|fixes|repair|solve|solution|mend|workaround|remedy|re-?run|to do|(?:should|can) (?:i|we) do)\b/i,
    facts: ['Fix', 'Rerun'],
    tools: ['search_knowledge'],
    otherwise: '',
  },
  {
    about: 'who and which file',
    words:
      /\b(?:who|whose|author|commits?|blame|suspects?|which (?:file|change)|introduced|pull request|broke it|(?:my|our) (?:change|commit))\b/i,
    facts: ['Suspect', 'Owner'],
    tools: ['read_commit_history', 'read_blame'],
    otherwise: 'No file or commit is suspected, and the repository offers no clue to one.',
  },
  {
    about: 'what is new since green',
    words: /\b(?:green|last (?:good|success\w*|pass\w*)|passed|why now|changed|new since|diff)\b/i,
    facts: ['New'],
    tools: ['diff_with_green', 'changed_since_green'],
    otherwise: 'No green build with a log to compare is known.',
  },
  {
    about: 'earlier failures',
    words:
      /\b(?:before|earlier|again|history|often|flaky|flakiness|first time|past|previous(?:ly)?|seen|how many times)\b/i,
    facts: ['Precedent'],
    tools: ['count_consecutive_failures', 'read_failure_history'],
    otherwise: NOTHING_EARLIER,
  },
  {
    about: 'similar failures',
    words: /\b(?:similar|same as|like this|other (?:builds?|repositor(?:y|ies))|elsewhere)\b/i,
    facts: ['Precedent'],
    tools: ['find_similar_failures', 'read_failure_history', 'search_error_library'],
    otherwise: NOTHING_EARLIER,
  },
  {
    about: 'the tests',
    words: /\b(?:tests?|specs?|assertions?|expected|expectation)\b/i,
    facts: ['FailingTest'],
    tools: [],
    otherwise: 'The logs name no failing test.',
  },
  {
    about: 'the lines that show it',
    words: /\b(?:lines?|logs?|show|evidence|output|printed|where|proof|proves?)\b/i,
    facts: [],
    tools: ['log'],
    otherwise: '',
  },
  {
    about: 'how sure it is',
    words: /\b(?:sure|certain|confiden(?:ce|t)|doubt|trust|reliable|right|wrong about|reviewe?r?)\b/i,
    facts: ['Standing', 'Reason', 'Against', 'Unknown', 'Record'],
    tools: [],
    otherwise: '',
  },
  {
    about: 'the category',
    words: /\b(?:category|classified|kind of|infra(?:structure)?|environment|(?:my|our) (?:fault|code))\b/i,
    facts: ['Category'],
    tools: [],
    otherwise: '',
  },
  {
    about: 'what the analysis cost',
    words: /\b(?:costs?|tokens?|dollars?|how long|took|which model)\b/i,
    facts: ['Usage'],
    tools: [],
    otherwise: '',
  },
  {
    about: 'the other causes',
    words: /\b(?:other (?:causes?|failures?)|else (?:failed|is wrong|broke)|anything else)\b/i,
    facts: ['Other'],
    tools: [],
    otherwise: 'No other cause of this build was analyzed.',
  },
];

/** The words that ask for the course of events, and those that ask for a comparison. */
const JOURNEY =
  /\b(?:how (?:did|does|come|was)|come to|came to|step by step|steps|timeline|sequence|journey|what happened|chain of|in what order|walk me|leads? to|led to|story)\b/i;
const COMPARISON =
  /\b(?:compared?|comparison|differ(?:s|ences?|ent)?|versus|vs|against|why now|same as|unlike|like (?:build|#)|since (?:the )?last|last green)\b/i;

/** The tools for the two sides of a comparison: the last passing build, and earlier failures. */
const GREEN = ['count_consecutive_failures', 'diff_with_green', 'changed_since_green', 'read_commit_history'];
const PAST = ['read_failure_history', 'find_similar_failures', 'search_error_library'];

/** Finds the forms that a question matches. Returns none if the rules know none of its words. */
export function findForms(question: string): QuestionForm[] {
  return QUESTION_FORMS.filter(({ words }) => words.test(question));
}

/** Determines the shape and subject of an answer from the words of the question. */
export function understandQuestion(question: string) {
  const about = findForms(question).map((form) => form.about);
  const shape = COMPARISON.test(question) ? 'comparison' : JOURNEY.test(question) ? 'journey' : 'explanation';
  return { shape, about: about.slice(0, 3).join(', ') || 'the failure' } as const;
}

/** Returns the two sides of a comparison, each with its tools. */
export function findSides(question: string): {
  readonly green: readonly string[];
  readonly past: readonly string[];
} {
  const names = findForms(question).map(({ about }) => about);
  const isGreen = names.includes('what is new since green');
  const isPast = names.includes('earlier failures') || names.includes('similar failures');
  return { green: isGreen || !isPast ? GREEN : [], past: isPast || !isGreen ? PAST : [] };
}
