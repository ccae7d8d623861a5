import { describe, expect, it } from 'vitest';
import { html, joinHtml, linkTarget } from '../../src/console/html.ts';
import { prose } from '../../src/console/prose.ts';

describe('html', () => {
  it('escapes text and quoted attributes, whatever their content', () => {
    const hostile = `"><img src=x onerror='alert(1)'>&`;
    expect(html`<a title="${hostile}">${hostile}</a>`.text).toBe(
      '<a title="&quot;&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&amp;">&quot;&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&amp;</a>',
    );
  });

  it('inserts its own markup unchanged, lists in order, and nothing for absent values', () => {
    expect(html`<p>${[html`<b>1</b>`, ' & ', 2]}${null}${undefined}${false}</p>`.text).toBe(
      '<p><b>1</b> &amp; 2</p>',
    );
    expect(joinHtml(['a', html`<i>b</i>`], ', ').text).toBe('a, <i>b</i>');
  });

  it('joins the lines of a template: without a space before a block, otherwise with one', () => {
    const page = html`<p>One
      <b>two</b></p>
      <table><tr><th>${'a\nb'}</th>
      <td
        class="number">3</td></tr></table>`;
    expect(page.text).toBe(
      '<p>One <b>two</b></p><table><tr><th>a\nb</th><td class="number">3</td></tr></table>',
    );
  });

  it('does not treat an object as markup that only looks like it', () => {
    const forged: unknown = JSON.parse('{"text":"<script>alert(1)</script>"}');
    expect(() => html`${Object(forged)}`.text).toThrow(TypeError);
  });

  it('shows control characters and those that change the text direction', () => {
    expect(html`${'a\u202eb\0c\x1b[31m'}`.text).toBe('a⟦U+202E⟧b\ufffdc⟦U+001B⟧[31m');
  });

  it('links only to http and https', () => {
    expect(linkTarget('https://ci.example/1')).toBe('https://ci.example/1');
    for (const bad of ['javascript:alert(1)', 'data:text/html,x', '/relative', ' javascript:alert(1)', null])
      expect(linkTarget(bad)).toBeNull();
  });
});

describe('prose', () => {
  it('supports paragraphs, lists, code, bold text and existing evidence', () => {
    expect(prose('One **two** `three` [E1].\n\n- a\n- b', new Set(['E1'])).text).toBe(
      '<p>One <strong>two</strong> <code>three</code> <a class="chip" href="#E1">E1</a>.</p><ul><li>a</li><li>b</li></ul>',
    );
  });

  it('shows everything else as text: images, links, headings, HTML', () => {
    const text = prose('![x](https://evil.example/?q=1) [a](javascript:x) <img src=x> # h [E9]').text;
    expect(text).toBe('<p>![x](https://evil.example/?q=1) [a](javascript:x) &lt;img src=x&gt; # h [E9]</p>');
  });

  it('keeps a mark without its partner', () => {
    expect(prose('a ` b ** c').text).toBe('<p>a ` b ** c</p>');
  });
});
