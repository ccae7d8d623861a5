import { expect, it } from 'vitest';
import { readCauses } from '../../src/log/causes/read-causes.ts';
import { classifyRole, isUninformative } from '../../src/log/line-roles.ts';

it.each([
  "##[error]Bash exited with code '1'.",
  "##[error]PowerShell exited with code '1'.",
  "##[error]Cmd.exe exited with code '3'.",
  'Exited with code exit status 1',
  '##[error]Process completed with exit code 1.',
])('%s states only how the step ended', (line) => {
  expect(isUninformative(line)).toBe(true);
});

it('a program that ends with a status of the system states the reason', () => {
  expect(isUninformative('vstest.exe exited with code -1073741819')).toBe(false);
});

it.each([
  ['an address alone', 'https://docs.example.org/en/errors/middleware/', 'ending'],
  ['the head of a table', 'Name                Stmts   Miss  Cover   Missing', 'wrapper'],
  ['the end of nested output', '      [end of output]', 'wrapper'],
  ['what a resolver did not consider', 'ERROR: Ignored the following yanked versions: 2.6, 2.6.1', 'notice'],
])('%s is not a cause', (_what, line, role) => {
  expect(classifyRole(line)).toBe(role);
});

it('an error that only reports another one is not the failure', () => {
  const text = [
    'vite v8.0.1 building for production...',
    'Build failed with 1 error:',
    "[UNRESOLVED_IMPORT] Error: Could not resolve '../hooks/useLogs' in src/LogsTab.jsx",
    '##[error]Process completed with exit code 1.',
  ].join('\n');
  const [cause] = readCauses([{ name: 'log', kind: 'log', text, notes: [] }], { budgetTokens: 500 }).causes;
  expect(cause?.failures[0]?.message).toContain('Could not resolve');
});

it("the runner's output about its machine and token is not the failure", () => {
  const text = [
    "Current runner version: '2.331.0'",
    '##[group]GITHUB_TOKEN Permissions',
    'Contents: read',
    '##[endgroup]',
    'Complete job name: build',
    '##[group]Run ./deploy',
    'shell: /usr/bin/bash -e {0}',
    '##[endgroup]',
    '##[error]Process completed with exit code 1.',
  ].join('\n');
  const { reading } = readCauses([{ name: 'log', kind: 'log', text, notes: [] }], { budgetTokens: 500 });
  expect(reading.messages.map((message) => message.text)).not.toContain('Contents: read');
});

it('an object file or a table heading is not a failing test', () => {
  const text = 'FAILED: build/Release/hashmap_cpu.obj\n  x Name   Stmts   Miss   Cover\n1 failed, 2 passed\n';
  const { reading } = readCauses([{ name: 'log', kind: 'log', text, notes: [] }], { budgetTokens: 500 });
  expect(reading.failingTests).toEqual([]);
});
