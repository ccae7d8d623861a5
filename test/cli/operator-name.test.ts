import { expect, it } from 'vitest';
import { getOperatorName } from '../../src/cli/settings.ts';

it('the operator is named even in a container with a user number and no user name', () => {
  expect(getOperatorName(() => ({ username: 'ann' }))).toBe('ann');
  const nameless = () => {
    throw new Error('A system error occurred: uv_os_get_passwd returned ENOENT (no such file or directory)');
  };
  expect(getOperatorName(nameless)).toMatch(/^uid \d+$/);
});
