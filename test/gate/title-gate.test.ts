import { describe, expect, it } from 'vitest';
import { shortenTitle, withoutMachinePaths } from '../../src/log/title.ts';
import { countBadTitles } from '../support/title-gates.ts';

const LOGS = [{ name: 'one', text: 'it failed' }];
const count = async (title: string) =>
  (await countBadTitles(async () => [{ title, rootCause: 'It failed.' }], LOGS)).map(
    ({ broken }) => broken.length,
  );

describe('the gate of titles', () => {
  it('fails if a title is empty, too long, or contains a path of a machine', async () => {
    expect(await count('src/cart.ts:4 rounds twice')).toEqual([0, 0]);
    expect(await count('')).toEqual([1, 0]);
    expect(await count('a'.repeat(81))).toEqual([1, 0]);
    expect(await count('/home/ada/shop/src/cart.ts rounds twice')).toEqual([0, 1]);
  });
});

describe('a title', () => {
  it.each([
    ['cannot read /home/runner/work/shop/shop/src/tax.ts:4', 'cannot read src/tax.ts:4'],
    ['[ERROR:/home/runner/work/harbor/harbor/tide.thrift:7] last token', '[ERROR:tide.thrift:7] last token'],
    ['open /Users/ada/secret/notes.txt: not found', 'open notes.txt: not found'],
    ['C:\\Users\\ada\\shop\\cart.cs(4) fails', 'cart.cs(4) fails'],
    ['GET /builds answers 500', 'GET /builds answers 500'],
    ['/etc/hosts cannot be read', '/etc/hosts cannot be read'],
  ])('contains no path of a machine: %s', (text, title) => expect(withoutMachinePaths(text)).toBe(title));

  it('is one line of at most 80 characters', () => {
    const title = shortenTitle(`The cart\n  rounds ${'twice '.repeat(30)}`);
    expect(title).toMatch(/^The cart rounds twice/);
    expect(title.length).toBeLessThanOrEqual(80);
  });
});
