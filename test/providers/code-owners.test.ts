import { describe, expect, it } from 'vitest';
import {
  type CodeOwnersForm,
  detectCodeOwnersForm,
  listPlacesOfCodeOwners,
  parseCodeOwners,
} from '../../src/providers/code-owners.ts';

function listOwners(text: string, path: string, form: CodeOwnersForm = 'github') {
  return parseCodeOwners(text.split('\n'), form).findOwners(path)?.names ?? null;
}

describe('CODEOWNERS', () => {
  it.each([
    ['*', 'a/b/c.ts', true],
    ['*.js', 'src/a/b.js', true],
    ['*.js', 'src/a/b.jsx', false],
    ['/build/logs/', 'build/logs/today/1.txt', true],
    ['/build/logs/', 'src/build/logs/1.txt', false],
    ['docs/*', 'docs/getting-started.md', true],
    ['docs/*', 'docs/build-app/troubleshooting.md', false],
    ['docs/*', 'src/docs/a.md', false],
    ['apps/', 'src/apps/web/index.ts', true],
    ['apps/', 'apps', false],
    ['/docs/', 'docs/a/b.md', true],
    ['**/logs', 'build/logs/x.txt', true],
    ['**/logs', 'scripts/catalogs/x.txt', false],
    ['/scripts', 'scripts/run/now', true],
    ['/cmd/**/test', 'cmd/test', true],
    ['/cmd/**/test', 'cmd/a/b/test', true],
    ['src/**', 'src/a/b.ts', true],
    ['src/te?t.ts', 'src/test.ts', true],
    ['src/te?t.ts', 'src/te/t.ts', false],
    ['my\\ folder/', 'my folder/a.ts', true],
  ])('patterns on GitHub: %s and %s match: %s', (pattern, path, expected) => {
    expect(listOwners(`${pattern} @ada`, path)).toEqual(expected ? ['@ada'] : null);
  });

  it('63: uses the last matching line on GitHub, even if it names nobody', () => {
    const text = '* @all # everything\n/apps/ @octo @shop/web\n/apps/github\n';
    expect(listOwners(text, 'README.md')).toEqual(['@all']);
    expect(listOwners(text, 'apps/web/a.ts')).toEqual(['@octo', '@shop/web']);
    expect(listOwners(text, 'apps/github/a.ts')).toBeNull();
  });

  it('skips and reports invalid lines, and shows no domain of an e-mail address', () => {
    const read = parseCodeOwners(
      ['* ada@example.test', '!a @x', 'src/ nobody', 'x/[ab] @x', `${'y'.repeat(1_100)} @x`],
      'github',
    );
    expect(read.findOwners('src/a.ts')).toEqual({ names: ['ada'], line: 1 });
    expect(read.problems.map(({ line }) => line)).toEqual([2, 3, 4, 5]);
    expect(read.problems[1]?.why).toBe('“nobody” is neither @name, @team nor an e-mail address');
  });

  it('has sections, their default owners and exclusions on GitLab', () => {
    const text =
      '* @all\n[Documentation] @docs\n/docs/\nREADME.md @readers\n^[Data][2] @data\n*.sql\n!generated/\n[DOCUMENTATION]\n/docs/api.md @api';
    expect(listOwners(text, 'docs/a.md', 'gitlab')).toEqual(['@all', '@docs']);
    expect(listOwners(text, 'docs/api.md', 'gitlab')).toEqual(['@all', '@api']);
    expect(listOwners(text, 'src/internal/README.md', 'gitlab')).toEqual(['@all', '@readers']);
    expect(listOwners(text, 'db/a.sql', 'gitlab')).toEqual(['@all', '@data']);
    expect(listOwners(text, 'db/generated/a.sql', 'gitlab')).toEqual(['@all']);
    expect(listOwners('internal/a.ts @x @@maintainer', 'src/internal/a.ts', 'gitlab')).toEqual([
      '@x',
      '@@maintainer',
    ]);
  });

  it('has regular expressions on Gitea, of which all matching ones count', () => {
    const text = '.*\\\\.go @a @b # comment\nsrc/.* @org/team\n!docs/.* @c\n(a+)+(?=x) @d';
    expect(listOwners(text, 'src/main.go', 'gitea')).toEqual(['@a', '@b', '@org/team', '@c']);
    expect(listOwners(text, 'docs/a.md', 'gitea')).toBeNull();
    expect(parseCodeOwners(text.split('\n'), 'gitea').problems.map(({ line }) => line)).toEqual([4]);
  });

  it('is found in the places, and read in the syntax, of each host', () => {
    expect(listPlacesOfCodeOwners('github')).toEqual(['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS']);
    expect(detectCodeOwnersForm('jenkins', '.gitlab/CODEOWNERS', [])).toBe('gitlab');
    expect(detectCodeOwnersForm('jenkins', 'CODEOWNERS', ['[Docs]'])).toBe('gitlab');
    expect(detectCodeOwnersForm('upload', 'CODEOWNERS', ['* @a'])).toBe('github');
  });

  it('is matched in linear time, also for patterns that would backtrack', () => {
    const lines = Array.from({ length: 6_000 }, () => `${'*a'.repeat(30)}*b @x`);
    const read = parseCodeOwners(lines.slice(0, 20), 'github');
    expect(read.findOwners('a'.repeat(900))).toBeNull();
    expect(parseCodeOwners(lines, 'github').problems).toEqual([
      { line: 5_001, why: 'only the first 5000 lines are read' },
    ]);
  });
});
