import type { Action, TerminationReason } from '../domain/analysis.ts';
import { Category, Kind } from '../domain/category.ts';
import { CATEGORY_WORDS, nameKind } from '../domain/category-words.ts';
import { formatCount } from '../lib/text.ts';

/** The words for each node of the graph on the page of a run. */
export const NODE_WORDS: Readonly<Record<string, string>> = {
  classify: 'Chose a category',
  reason: 'Weighed what is known',
  select_tool: 'Chose what to look up',
  execute_tool: 'Looked it up',
  observe: 'Kept what matters',
  investigate: 'Investigated one question',
  consolidate: 'Put the findings together',
  await_reviewer: 'Asked a reviewer',
  hand_over: 'Handed it to a person',
  generate_answer: 'Wrote the answer',
  verify: 'Checked the answer',
};

/** The words for what each tool looks up. */
export const TOOL_WORDS: Readonly<Record<string, string>> = {
  ask_reviewer: 'a reviewer',
  changed_since_green: 'changes since the last green build',
  count_consecutive_failures: 'failures in a row',
  describe_stack: 'languages and tools of the project',
  diff_with_green: 'differences from the last green log',
  find_definition: 'a definition',
  find_files: 'files by name',
  find_similar_failures: 'similar failures',
  find_uses: 'uses of a name',
  grep_log: 'lines of the log',
  list_files: 'a list of files',
  list_repositories: 'a list of repositories',
  outline_file: 'the outline of a file',
  summarize_text: 'a summary of a text',
  read_artifact: 'an artifact',
  read_blame: 'who changed the lines last',
  read_build_log: 'the build log',
  read_commit_diff: 'the diff of a commit',
  read_commit_history: 'the history of a file',
  read_console_output: 'the end of the log',
  read_document: 'a document',
  read_failure_history: 'earlier failures like this one',
  read_file: 'a file',
  read_past_fixes: 'earlier fixes',
  read_repository_docs: 'the documents of the repository',
  read_test_file: 'the failing test',
  scan_documents: 'all documents',
  search_code: 'the code',
  search_documents: 'the documents',
  search_error_library: 'decisions of people',
  search_knowledge: 'the knowledge base',
  search_semantic: 'code with a similar meaning',
  search_web: 'the web',
  view_log: 'a part of the log',
};

/** Names a tool in words; a tool without words by its name without underscores. */
export function nameTool(tool: string): string {
  return TOOL_WORDS[tool] ?? tool.replaceAll('_', ' ');
}

/** Names what a node did. */
export function nameNode(node: string): string {
  return NODE_WORDS[node] ?? node.replaceAll('_', ' ');
}

const ACTION_WORDS: Readonly<Record<Action, string>> = {
  auto_notify: 'published',
  human_review: 'sent to a reviewer',
  self_correct: 'tried again',
  web_search: 'searched the web',
};

/** Says what became of an answer. */
export function nameAction(action: Action): string {
  return ACTION_WORDS[action];
}

const END_WORDS: Readonly<Record<TerminationReason, string>> = {
  enough_information: 'enough was known',
  confident: 'the cause was clear',
  max_iterations: 'all rounds were used',
  no_relevant_tool: 'nothing was left to look up',
  no_progress: 'nothing new was found',
  known_failure: 'a person had decided it before',
  budget_exhausted: 'the budget was used up',
  linear: 'one pass without a loop',
  failed: 'the analysis failed',
};

/** Says why a run ended. */
export function nameEnd(reason: TerminationReason): string {
  return END_WORDS[reason];
}

const CODES: ReadonlyMap<string, string> = new Map([
  ...Category.options.map((category) => [category, CATEGORY_WORDS[category]] as const),
  ...Kind.options.filter((kind) => kind.includes('_')).map((kind) => [kind, nameKind(kind)] as const),
  ...Object.entries(TOOL_WORDS),
  ...Object.entries(ACTION_WORDS),
  ...Object.entries(END_WORDS),
]);

/** The name of the rule before the line that it matched. */
const RULE = /\brule [a-z0-9]+(?:-[a-z0-9]+){0,12}: /g;

/** A kind after the category that was chosen, or in the thought of a plan. */
const KIND =
  /(?<=^[A-Z_]{5,30} \(\d{1,3} %\) )[a-z_]{1,40}(?=: )|(?<=This looks like )[a-z ]{1,40}(?= around | \()/;

function nameKnownKind(words: string): string {
  const { data } = Kind.safeParse(words.replaceAll(' ', '_'));
  return data === undefined ? words : nameKind(data);
}

/** Puts a step's summary in words: without codes of categories and kinds, names of tools and rules. */
export function describeInWords(summary: string): string {
  return summary
    .replace(RULE, '')
    .replace(KIND, (words) => nameKnownKind(words))
    .replace(/\b(\d{1,5}) new: E\d{1,5}(?:, E\d{1,5}){0,200}/, (_, count: string) =>
      formatCount(Number(count), 'new finding'),
    )
    .replace(
      /\b(?:[A-Z]+|[a-z]+)(?:_[A-Za-z]+)+\b|(?<=\()confident(?=\)$)/g,
      (word) => CODES.get(word) ?? word,
    );
}
