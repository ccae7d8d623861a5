/** Whom a tool asks. */
export type ToolClass = 'code host' | 'knowledge' | 'history' | 'log' | 'web' | 'people' | 'other';

export const TOOL_CLASSES: readonly ToolClass[] = ['code host', 'knowledge', 'history', 'log', 'web', 'people', 'other'];

const CLASSES: Readonly<Record<string, ToolClass>> = {
  find_files: 'code host',
  read_file: 'code host',
  read_blame: 'code host',
  search_code: 'code host',
  read_test_file: 'code host',
  read_commit_history: 'code host',
  read_commit_diff: 'code host',
  changed_since_green: 'code host',
  read_past_fixes: 'code host',
  search_semantic: 'code host',
  read_repository_docs: 'code host',
  list_repositories: 'code host',
  search_knowledge: 'knowledge',
  search_error_library: 'knowledge',
  find_similar_failures: 'history',
  read_failure_history: 'history',
  count_consecutive_failures: 'history',
  read_build_log: 'log',
  read_console_output: 'log',
  grep_log: 'log',
  view_log: 'log',
  read_artifact: 'log',
  diff_with_green: 'log',
  search_web: 'web',
  ask_reviewer: 'people',
};

/** `other` for a tool that is not known here. */
export function toolClassOf(tool: string): ToolClass {
  return Object.hasOwn(CLASSES, tool) ? (CLASSES[tool] ?? 'other') : 'other';
}

/** The tools that are known here. */
export const KNOWN_TOOLS: readonly string[] = Object.keys(CLASSES);
