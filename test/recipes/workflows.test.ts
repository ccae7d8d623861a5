import { globSync } from 'node:fs';
import { NoOperationTraceWriter, parseWorkflow } from '@actions/workflow-parser';
import { expect, test } from 'vitest';
import { readAction } from '../action/runner.ts';
import { DOCS, listBlocks } from './read-docs.ts';

const workflows = listBlocks('start/github-action.md', 'yaml');

test.each(workflows.map((workflow, at) => [at + 1, workflow] as const))(
  "workflow %i of docs/start/github-action.md is valid for GitHub's own parser",
  (at, content) => {
    const { context } = parseWorkflow({ name: `workflow-${at}.yml`, content }, new NoOperationTraceWriter());

    expect(context.errors.getErrors().map(({ message }) => message)).toEqual([]);
  },
);

test('the workflows use existing inputs and outputs, pin the action, and request no write permission', async () => {
  const { inputs, outputs } = await readAction();
  const names = inputs?.map(({ id }) => id) ?? [];
  expect(workflows.length).toBe(3);
  for (const workflow of workflows) {
    const given =
      /\n( +)- (?:id: \w+|if: .+)\n +uses: acme\/faultline\/action@[0-9a-f]{40}\n +with:\n((?: {10}[\w-]+: .*\n)+)/.exec(
        workflow,
      )?.[2];
    const used = [...(given ?? '').matchAll(/^ +([\w-]+):/gm)].map(([, name]) => name);
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((name) => !names.includes(name ?? ''))).toEqual([]);
    expect(workflow).not.toContain(': write');
    for (const [, name] of workflow.matchAll(/steps\.faultline\.outputs\.(\w+)/g))
      expect(outputs?.map(({ id }) => id)).toContain(name);
  }
});

/** Pages with blocks that a CI system runs, each of which `systems.ts`, `jenkins-step.ts` or a test here knows. */
const KNOWN_PAGES = [
  'how-to/bisect.md',
  'how-to/compare.md',
  'start/any-ci.md',
  'start/github-action.md',
  'start/gitlab.md',
  'start/jenkins.md',
];
const RUN_BY_A_CI =
  /^\s*(?:- )?(?:steps|script|commands|after_script|run|uses|jobs):|addStep|^\s*post \{|^\s*sh ['"]/m;

test('every recipe in the documentation is tested with hostile values', () => {
  const pages = globSync('**/*.md', { cwd: DOCS }).toSorted();
  const withRecipes = pages.filter((page) =>
    ['yaml', 'python', 'groovy'].some((language) =>
      listBlocks(page, language).some((block) => RUN_BY_A_CI.test(block)),
    ),
  );

  expect(withRecipes).toEqual(KNOWN_PAGES);
});

test.each(KNOWN_PAGES)(
  '%s inserts no expression of GitHub, GitLab or CircleCI and no Groovy string into a script',
  (page) => {
    const scripts = ['yaml', 'groovy'].flatMap((language) => listBlocks(page, language));

    for (const line of scripts.join('\n').split('\n')) {
      expect(line).not.toMatch(/^\s*(?:- )?run:.*\$\{\{|\$\[\[|<<\s*(?:pipeline|parameters)\b/);
      expect(line).not.toMatch(/\bsh\s*(?:\(|script:)?\s*"/);
    }
  },
);
