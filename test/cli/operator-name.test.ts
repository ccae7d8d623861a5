import { expect, it } from 'vitest';
import { operatorName } from '../../src/cli/settings.ts';

it('names whoever works here, also where a container gives them a number and no name', () => {
  expect(operatorName(() => ({ username: 'ann' }))).toBe('ann');
  const nameless = () => {
    throw new Error('A system error occurred: uv_os_get_passwd returned ENOENT (no such file or directory)');
  };
  expect(operatorName(nameless)).toMatch(/^uid \d+$/);
});
