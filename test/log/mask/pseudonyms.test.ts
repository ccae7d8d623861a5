import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPseudonyms } from '../../../src/log/mask/known.ts';
import { createMasker } from '../../../src/log/mask/mask.ts';

const BOTH = { emails: true, hosts: true };

describe('createPseudonyms', () => {
  it('gives each address and host one name, which can be reversed', () => {
    const names = createPseudonyms(BOTH);
    const text =
      'ada@example.com pushed from 10.1.2.3 to db-1.prod.internal; db-1.prod.internal refused ada@example.com';
    const hidden = names.hide(text);
    expect(hidden).toBe('<EMAIL_1> pushed from <HOST_1> to <HOST_2>; <HOST_2> refused <EMAIL_1>');
    expect(names.hide('bob@example.com at 10.1.2.3')).toBe('<EMAIL_2> at <HOST_1>');
    expect(names.reveal(hidden)).toBe(text);
    expect(names.reveal('The host <HOST_2> refused; <HOST_9> is unknown.')).toBe(
      'The host db-1.prod.internal refused; <HOST_9> is unknown.',
    );
  });

  it.each([
    'git@github.com:acme/app.git',
    'version 10.0.19041.1 and 1.10.0.0.1',
    'connecting to 127.0.0.1:5432 and 8.8.8.8',
    'at run (src/a.internal.ts:3:4) this.internal()',
    'npm install left-pad@1.3.0 @types/node@24.1.0',
    'https://packages.example.org/a/-/a-1.0.0.tgz',
    '12:30:45 fe',
  ])('does not change %s', (line) => {
    expect(createPseudonyms(BOTH).hide(line)).toBe(line);
  });

  it('recognizes the given suffixes, and IPv6', () => {
    const names = createPseudonyms({ ...BOTH, hostSuffixes: ['.corp.example.com'] });
    expect(names.hide('dial ci-7.corp.example.com [fd12:3456:789a::1]:443')).toBe(
      'dial <HOST_2> [<HOST_1>]:443',
    );
  });

  it('uses another number if a log contains <HOST_1> itself', () => {
    const names = createPseudonyms(BOTH);
    const hidden = names.hide('fake <HOST_1>\ntrue 192.168.0.7');
    expect(hidden).toBe('fake <HOST_1>\ntrue <HOST_2>');
    expect(names.reveal('see <HOST_1>')).toBe('see <HOST_1>');
  });

  it.each([
    ['an address before another', 'a@b.cd:10.0.0.1', '<EMAIL_1>:<HOST_1>'],
    ['an address before a path', 'ada@example.com:basket/pear', '<EMAIL_1>:basket/pear'],
    ['a host at the end of an address', 'fe80::1x.local', '<HOST_2><HOST_1>'],
    ['an address that runs into another', 'a@b.cd+e@f.gh', '<EMAIL_1><EMAIL_2>'],
  ])('replaces %s at once', (_, text, hidden) => {
    expect(createPseudonyms(BOTH).hide(text)).toBe(hidden);
  });

  it('reports what it replaced, once each, for any text', () => {
    const piece = fc.oneof(
      fc.constantFrom('10.0.0.1', 'a@b.cd', 'x.local', 'fe80::1', ' ', '\n', '<HOST_1>', '.', '@', ':'),
      fc.string({ maxLength: 5 }),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('');
        const names = createPseudonyms(BOTH);
        const hidden = names.hide(text);
        expect(names.hide(hidden)).toBe(hidden);
        expect(hidden.split('\n').length).toBe(text.split('\n').length);
        expect(names.reveal(hidden).toLowerCase()).toBe(text.toLowerCase());
      }),
    );
  });
});

describe('a masker that replaces names', () => {
  const masker = createMasker({ names: { emails: true, hosts: true } });

  it('has one name for one host in all texts of a run', async () => {
    const names = createPseudonyms(BOTH);
    const masked = await masker.maskAll(['to 10.0.0.5', 'from 10.0.0.4 to 10.0.0.5'], names);
    expect(masked.map(({ text }) => text)).toEqual(['to <HOST_1>', 'from <HOST_2> to <HOST_1>']);
    expect(names.reveal('<HOST_2>')).toBe('10.0.0.4');
  });

  it('uses no numbers in a single text, where they would have another meaning', async () => {
    expect((await masker.mask('to 10.0.0.5')).text).toBe('to <HOST>');
  });

  it('does not replace names unless configured', async () => {
    expect((await createMasker().mask('ada@example.com 10.0.0.5')).text).toBe('ada@example.com 10.0.0.5');
  });
});

describe('a masker with known secrets', () => {
  it('masks them wherever they occur, also in base64', async () => {
    const masker = createMasker({ known: ['not-random-at-all', 'postgres', 'short'] });
    const { text, count } = await masker.mask(
      `a not-random-at-all b\n${Buffer.from('x:not-random-at-all').toString('base64')}\npostgres short`,
    );
    expect(text).toMatch(/^a \*{3} b\n.{0,4}\*{3}=*\npostgres short$/);
    expect(count).toBe(2);
  });
});
