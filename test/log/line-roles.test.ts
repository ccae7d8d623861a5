import { expect, it } from 'vitest';
import { isUninformative } from '../../src/log/line-roles.ts';

it.each([
  "##[error]Bash exited with code '1'.",
  "##[error]PowerShell exited with code '1'.",
  "##[error]Cmd.exe exited with code '3'.",
  'Exited with code exit status 1',
  '##[error]Process completed with exit code 1.',
])('%s says only how the step ended', (line) => {
  expect(isUninformative(line)).toBe(true);
});

it('a program that ends with a status of the system says why', () => {
  expect(isUninformative('vstest.exe exited with code -1073741819')).toBe(false);
});
