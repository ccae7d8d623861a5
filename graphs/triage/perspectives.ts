import type { ToolDescription } from '../../src/ports/toolbox.ts';
import { Investigator } from './state.ts';

/** In the order in which their findings are numbered. */
export const INVESTIGATORS: readonly Investigator[] = Investigator.options;

/** Which investigator may ask which tool. Tools of no list are asked outside a fan-out only. */
const TOOLS: Readonly<Record<Investigator, readonly string[]>> = {
  code: [
    'find_files',
    'read_file',
    'read_test_file',
    'read_blame',
    'read_commit_history',
    'read_commit_diff',
    'changed_since_green',
    'read_past_fixes',
    'search_code',
    'search_semantic',
    'list_repositories',
  ],
  history: [
    'find_similar_failures',
    'read_failure_history',
    'count_consecutive_failures',
    'diff_with_green',
    'read_build_log',
    'read_console_output',
    'grep_log',
    'view_log',
    'read_artifact',
  ],
  documents: ['search_knowledge', 'search_error_library', 'search_team_knowledge', 'read_repository_docs', 'search_web'],
};

/**
 * The offered tools that this investigator may ask. Fallback tools (the web) only where `fallback` says that what is at hand
 * brought nothing.
 */
export function toolsOf(investigator: Investigator, offered: readonly ToolDescription[], fallback: boolean): ToolDescription[] {
  return offered.filter((tool) => TOOLS[investigator].includes(tool.name) && (fallback || !tool.fallback));
}
