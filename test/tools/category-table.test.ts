import { describe, expect, it } from 'vitest';
import { CATEGORIES, type Category } from '../../src/domain/category.ts';
import { createTools } from '../../src/tools/all-tools.ts';
import { createToolbox } from '../../src/tools/toolbox.ts';
import { createContext, createEmptySources } from './sources.ts';

const toolbox = createToolbox(createTools(createEmptySources()), { mask: (text) => text });
const ask = createContext({});

const LOOK_UPS = ['count_consecutive_failures', 'search_error_library', 'search_knowledge'];
/** The code is no matter of what a machine did. */
const alwaysFor = (category: Category) =>
  category === 'INFRA_ERROR' ? LOOK_UPS : LOOK_UPS.toSpliced(1, 0, 'find_files');
const ANY = [
  'ask_reviewer',
  'diff_with_green',
  'find_similar_failures',
  'grep_log',
  'read_artifact',
  'read_failure_history',
  'search_web',
  'view_log',
];

/** The table "categories and tools" of the design, for the tools that exist. */
const TABLE: Readonly<Record<Category, { whenNeeded: readonly string[]; never: readonly string[] }>> = {
  CODE_ERROR: {
    whenNeeded: [
      'read_file',
      'read_blame',
      'search_code',
      'read_commit_history',
      'search_semantic',
      'read_commit_diff',
      'changed_since_green',
      'read_past_fixes',
      'read_repository_docs',
      'list_repositories',
    ],
    never: ['read_console_output', 'read_build_log', 'read_test_file'],
  },
  INFRA_ERROR: {
    // What changed is asked for pull requests only: a change that named the service is not excused.
    whenNeeded: ['read_build_log', 'read_console_output', 'changed_since_green'],
    never: [
      'read_file',
      'read_blame',
      'search_code',
      'read_commit_history',
      'read_test_file',
      'search_semantic',
      'read_commit_diff',
      'read_repository_docs',
      'list_repositories',
    ],
  },
  CONFIG_ERROR: {
    whenNeeded: [
      'read_console_output',
      'read_file',
      'search_code',
      'read_commit_diff',
      'changed_since_green',
    ],
    never: [
      'read_blame',
      'read_commit_history',
      'read_test_file',
      'read_build_log',
      'search_semantic',
      'read_repository_docs',
    ],
  },
  DEPENDENCY_ERROR: {
    whenNeeded: [
      'read_console_output',
      'read_file',
      'search_code',
      'read_commit_diff',
      'changed_since_green',
    ],
    never: [
      'read_blame',
      'read_commit_history',
      'read_test_file',
      'read_build_log',
      'search_semantic',
      'read_repository_docs',
    ],
  },
  TEST_FAILURE: {
    whenNeeded: ['read_test_file', 'read_commit_diff', 'changed_since_green', 'read_past_fixes'],
    never: [
      'search_semantic',
      'read_blame',
      'read_file',
      'search_code',
      'read_commit_history',
      'read_build_log',
      'read_console_output',
    ],
  },
};

/** The thirteen core tools: cost class and usual latency. */
const CORE: readonly (readonly [string, string, number])[] = [
  ['search_knowledge', 'low', 200],
  ['search_error_library', 'low', 200],
  ['read_file', 'medium', 500],
  ['read_blame', 'medium', 600],
  ['search_code', 'high', 1000],
  ['read_test_file', 'medium', 500],
  ['read_commit_history', 'high', 800],
  ['read_build_log', 'low', 100],
  ['read_console_output', 'low', 100],
  ['find_similar_failures', 'low', 150],
  ['read_failure_history', 'low', 100],
  ['count_consecutive_failures', 'low', 80],
  ['search_web', 'high', 2000],
];

describe.each(CATEGORIES)('tools for %s', (category) => {
  it('include those of the table, and none that it excludes', () => {
    const offered = toolbox.offered(category).map(({ name }) => name);

    expect(offered).toEqual(
      expect.arrayContaining([...alwaysFor(category), ...ANY, ...TABLE[category].whenNeeded]),
    );
    expect(offered.filter((name) => TABLE[category].never.includes(name))).toEqual([]);
  });

  it('always run the two searches, count consecutive failures, and look for named files', () => {
    const always = toolbox.offered(category).filter((tool) => tool.always);

    expect(always.map(({ name }) => name).toSorted()).toEqual(alwaysFor(category));
  });

  it('use the web search last', () => {
    const fallbacks = toolbox.offered(category).filter((tool) => tool.fallback);

    expect(fallbacks.map(({ name }) => name)).toEqual(['search_web']);
    expect(toolbox.offered(category).at(-1)?.name).toBe('search_web');
  });

  it.each(TABLE[category].never)('refuse %s without a reason', async (name) => {
    expect(await ask(category, name, { path: 'src/a.ts', line: 1, text: 'abc' }, '')).toMatchObject({
      status: 'refused',
      findings: [],
    });
  });
});

it('tools for a failure of the machine do not read what changed, except in a pull request', async () => {
  expect(await ask('INFRA_ERROR', 'changed_since_green', {}, 'a reason')).toMatchObject({
    status: 'refused',
    findings: [],
  });
});

describe('the core tools', () => {
  it.each(CORE)('have %s with the cost %s and a usual time of %i ms', (name, costClass, usualLatencyMs) => {
    expect(toolbox.describe(name)).toMatchObject({ costClass, usualLatencyMs });
  });

  it('describe their arguments by a closed JSON schema', () => {
    for (const category of CATEGORIES) {
      for (const tool of toolbox.offered(category)) {
        expect(tool.parameters).toMatchObject({ type: 'object', additionalProperties: false });
        expect(tool.question).toMatch(/\?$/);
      }
    }
  });

  it('report that no web search is configured', async () => {
    const outcome = await ask('CODE_ERROR', 'search_web', { query: 'anything' });

    expect(outcome).toMatchObject({ status: 'unavailable', summary: 'no web search configured' });
  });

  it('report that no clone is configured', async () => {
    const outcome = await ask('CODE_ERROR', 'read_file', { path: 'src/a.ts' });

    expect(outcome).toMatchObject({
      status: 'unavailable',
      summary: 'No clone of shop/api is configured, so its code cannot be read.',
    });
  });
});
