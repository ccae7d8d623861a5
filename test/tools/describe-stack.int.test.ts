import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLocalGitHost } from '../../src/providers/git/clone.ts';
import { describeStack } from '../../src/tools/describe-stack.ts';
import { createToolbox } from '../../src/tools/toolbox.ts';
import { createGitRepository, type GitRepository } from '../support/git-repository.ts';
import { sampleBuild, sampleSubject } from '../support/subject.ts';

let repository: GitRepository;
beforeAll(() => {
  repository = createGitRepository();
});
afterAll(() => repository.remove());

async function describe(files: Readonly<Record<string, string | null>>) {
  const commit = repository.commit(files, 'Change the stack');
  const codeHost = createLocalGitHost({ clones: { 'shop/api': repository.folder } });
  const toolbox = createToolbox([describeStack(codeHost)], {
    mask: (text) => text,
    resilience: { firstDelayMs: 1 },
  });
  const call = { tool: 'describe_stack', args: {}, why: 'test' };
  const subject = sampleSubject({ build: sampleBuild({ commit }) });
  return (await toolbox.run(call, subject, 'CODE_ERROR', new AbortController().signal)).findings;
}

it('describe_stack shows the manifest of a package whose folder is called workflows, and counts a single file correctly', async () => {
  const [summary, ...manifests] = await describe({
    'packages/workflows/package.json': '{ "name": "flows" }',
  });
  expect(summary?.title).toMatch(/^1 file: languages and build tools/);
  expect(manifests.map(({ source }) => source)).toEqual(['packages/workflows/package.json']);
});

it('describe_stack names the Dockerfile, the Makefile and the workflows, without showing them', async () => {
  const [summary, ...manifests] = await describe({
    'packages/workflows/package.json': null,
    Dockerfile: 'FROM scratch',
    Makefile: 'all:',
    '.github/workflows/ci.yml': 'on: push',
  });
  expect(summary?.text).toContain(
    'Make: Makefile\nDocker: Dockerfile\nGitHub Actions: .github/workflows/ci.yml',
  );
  expect(manifests.map(({ source }) => source)).toEqual([]);
});
