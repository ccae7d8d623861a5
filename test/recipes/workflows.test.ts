import { NoOperationTraceWriter, parseWorkflow } from '@actions/workflow-parser';
import { expect, test } from 'vitest';
import { readAction } from '../action/runner.ts';
import { blocksOf } from './read-docs.ts';

const workflows = blocksOf('start/github-action.md', 'yaml');

test.each(workflows.map((workflow, at) => [at + 1, workflow] as const))(
  "workflow %i of docs/start/github-action.md is one by GitHub's own parser",
  (at, content) => {
    const { context } = parseWorkflow({ name: `workflow-${at}.yml`, content }, new NoOperationTraceWriter());

    expect(context.errors.getErrors().map(({ message }) => message)).toEqual([]);
  },
);

test('they name inputs and outputs that the action has, pin it, and ask for no right to write', async () => {
  const { inputs, outputs } = await readAction();
  const names = inputs?.map(({ id }) => id) ?? [];
  expect(workflows.length).toBe(3);
  for (const workflow of workflows) {
    const given = /\n( +)- (?:id: \w+|if: .+)\n +uses: acme\/faultline\/action@[0-9a-f]{40}\n +with:\n((?: {10}[\w-]+: .*\n)+)/.exec(
      workflow,
    )?.[2];
    const used = [...(given ?? '').matchAll(/^ +([\w-]+):/gm)].map(([, name]) => name);
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((name) => !names.includes(name ?? ''))).toEqual([]);
    expect(workflow).not.toContain(': write');
    for (const [, name] of workflow.matchAll(/steps\.faultline\.outputs\.(\w+)/g)) expect(outputs?.map(({ id }) => id)).toContain(name);
  }
});
