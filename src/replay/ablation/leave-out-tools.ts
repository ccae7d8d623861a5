import type { AblationStage } from '../../domain/calibration.ts';
import type { Toolbox } from '../../ports/toolbox.ts';

/** What each source of evidence answers. */
const TOOLS: Partial<Record<AblationStage, readonly string[]>> = {
  library: ['search_error_library'],
  knowledge: ['search_knowledge'],
  'code-host': [
    'find_files',
    'read_file',
    'read_blame',
    'search_code',
    'read_test_file',
    'read_commit_history',
    'read_commit_diff',
    'changed_since_green',
    'read_past_fixes',
    'search_semantic',
    'read_repository_docs',
    'list_repositories',
  ],
  history: ['find_similar_failures', 'read_failure_history', 'count_consecutive_failures'],
  logs: ['read_build_log', 'read_console_output', 'grep_log', 'view_log', 'read_artifact', 'diff_with_green'],
  web: ['search_web'],
  green: ['diff_with_green'],
};

/** The same toolbox without the tools of these stages, as if they had never been there. */
export function leaveOutTools(toolbox: Toolbox, stages: readonly AblationStage[]): Toolbox {
  const out = new Set(stages.flatMap((stage) => TOOLS[stage] ?? []));
  const isKept = ({ name }: { readonly name: string }) => !stages.includes('tools') && !out.has(name);
  const { askable } = toolbox;
  return {
    ...toolbox,
    offered: (category) => toolbox.offered(category).filter(isKept),
    ...(askable === undefined ? {} : { askable: async (...asked) => (await askable(...asked)).filter(isKept) }),
    describe: (name) => (isKept({ name }) ? toolbox.describe(name) : null),
    run: async (call, ...asked) =>
      isKept({ name: call.tool })
        ? await toolbox.run(call, ...asked)
        : { call, status: 'unavailable', findings: [], summary: LEFT_OUT, milliseconds: 0, attempts: 0 },
  };
}

const LEFT_OUT = 'Excluded from this measurement.';
