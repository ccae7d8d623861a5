import fc from 'fast-check';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';

/** The texts that Markdown, GitHub, CI runners or terminals would interpret. */
const NASTY = [
  '`',
  '```',
  '````',
  '~~~',
  '@everyone',
  '@octo/cat',
  '#12',
  'GH-7',
  'a/b#3',
  '<!--',
  '-->',
  '<!-- faultline:v1 -->',
  '<img src=x onerror=y>',
  '![x](https://evil.example/?q=1)',
  '[x](https://evil.example)',
  '[x]: https://evil.example',
  'https://evil.example/a',
  'www.evil.example',
  'me@evil.example',
  'mailto:me@evil.example',
  '<https://evil.example>',
  '&lt;',
  '&#64;',
  '</summary>',
  '</details>',
  '<b>',
  '\n',
  '\n\n',
  '\r',
  '\t',
  '    ',
  '# ',
  '- ',
  '1. ',
  '> ',
  '---',
  '===',
  '|a|b|\n|-|-|',
  '*',
  '**',
  '_',
  '~~',
  '\\',
  '$x$',
  ':smile:',
  '/close',
  '::error::x',
  '##[group]x',
  '##vso[task.setvariable]',
  '\u001b[31m',
  '\u001b]8;;https://evil.example\u0007',
  '\u009b',
  '\u0000',
  '\u202e',
  '\u200b',
  '\u2066',
  '\u2028',
  '\ud800',
  '%0A',
  '%',
  'x',
  ' ',
  ':',
  ',',
  '$&',
]; // prettier-ignore

/** Texts that contain them. */
export const hostile = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...NASTY) },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
    ),
    {
      maxLength: 12,
    },
  )
  .map((parts) => parts.join(''));

/** Renders Markdown like GitHub, including dangerous HTML. */
export function renderMarkdownText(markdown: string): string {
  return micromark(markdown, { extensions: [gfm()], htmlExtensions: [gfmHtml()], allowDangerousHtml: true });
}

/** Removes code from a page, because GitHub reads neither mentions nor issue numbers in it. */
export function removeCode(page: string): string {
  return page.replace(/<pre><code[^>]*>[^<]*<\/code><\/pre>/g, '').replace(/<code>[^<]*<\/code>/g, '');
}
