import { expect, it } from 'vitest';
import { html } from '../../src/console/html.ts';
import { whosePart } from '../../src/console/whose.ts';
import type { Whose } from '../../src/domain/whose.ts';
import { createMainBuild } from '../notifications/sample-situation.ts';

const RED: Whose = {
  verdict: 'main',
  isDefault: false,
  probability: null,
  proof: [{ what: 'fails-on', branch: '<main>', since: createMainBuild({ author: '<b>Max</b>' }), times: 2 }],
  act: { what: 'rebase', branch: '<main>', on: null },
};

it('the build that proves a verdict is linked, and no name becomes markup', () => {
  const page = html`${whosePart(RED)}`.text;
  expect(page).toContain('data-whose="main"');
  expect(page).toContain('<strong>Is it me?</strong>');
  expect(page).toContain('<a href="/builds/bld_main">ci #790</a>');
  expect(page).toContain('<code>&lt;main&gt;</code>');
  expect(page).toContain('by &lt;b&gt;Max&lt;/b&gt;), 2 builds in a row.');
  expect(page.replace(/\s+/g, ' ')).toContain('Rebase when <code>&lt;main&gt;</code> is green.');
});

it('nothing is shown without any information', () => {
  expect(html`${whosePart(null)}`.text).toBe('');
});
