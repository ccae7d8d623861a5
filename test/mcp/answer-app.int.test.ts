import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Client } from '@modelcontextprotocol/client';
import type { FastifyInstance } from 'fastify';
import type { Browser, Frame } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildHttp } from '../../src/api/server.ts';
import { openBrowser } from '../support/browser.ts';
import { createFakeTokens } from '../support/fake-tokens.ts';
import { createEmptyHttpDeps, TEST_CONFIG, TOKENS } from '../support/http-deps.ts';
import { sampleAnalysis, sampleAnswers } from '../support/sample-analysis.ts';
import { connectAgentOverHttp, connectAgentOverStdio, PROTOCOLS } from './agent.ts';
import { type AppHost, showInHost } from './app-host.ts';
import { addTokens, createInstallation } from './world.ts';

const PUBLIC_URL = 'https://faultline.shop.example';
const EVIL = '<img src="https://evil.example/x" onerror="alert(1)"><b>§bold§</b>';

let app: FastifyInstance;
let address: string;
let browser: Browser;
beforeAll(async () => {
  const other = sampleAnalysis({
    id: 'ana_other',
    answer: { ...sampleAnalysis().answer, title: EVIL, rootCause: EVIL },
  });
  const known = new Map([sampleAnalysis(), other].map((analysis) => [analysis.id, analysis]));
  const { stores, archive } = createInstallation({
    analyses: {
      find: async (id) => known.get(id) ?? null,
      listByBuild: async () => [...known.values()],
    },
  });
  const tokens = createFakeTokens();
  const all = addTokens(stores, tokens);
  const deps = createEmptyHttpDeps({
    stores: all,
    explainLog: async () => sampleAnswers([sampleAnalysis()]),
  });
  app = await buildHttp({
    ...deps,
    config: { ...TEST_CONFIG, http: { ...TEST_CONFIG.http, publicUrl: PUBLIC_URL } },
    archive: { ...deps.archive, ...archive },
  });
  address = await app.listen({ host: '127.0.0.1', port: 0 });
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  await app.close();
});

/** Returns what axe finds in a frame, as `rule: targets`. */
async function readAxeFindings(frame: Frame): Promise<unknown> {
  const source = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
  await frame.evaluate(`${await readFile(source, 'utf8')}; true`);
  return await frame.evaluate(
    'axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map(({ target }) => target.join(" ")).join(" | ")))',
  );
}

async function withHost(host: AppHost, look: (host: AppHost) => Promise<void>): Promise<void> {
  try {
    await look(host);
  } finally {
    await host.close();
  }
}

describe.each(PROTOCOLS)('the answer in a host of MCP Apps, in the protocol of %s', (version) => {
  let client: Client;
  beforeAll(async () => {
    client = await connectAgentOverHttp(address, TOKENS.read, '', version);
  });
  afterAll(() => client.close());

  it('is declared by the tools that return an answer, and by no other', async () => {
    const { tools } = await client.listTools();
    const shown = tools.filter(({ _meta }) => _meta?.ui !== undefined).map(({ name }) => name);
    expect(shown).toEqual(['get_failure', 'explain_log']);
    const { contents } = await client.readResource({ uri: 'ui://faultline/answer.html' });
    expect(contents).toMatchObject([
      {
        mimeType: 'text/html;profile=mcp-app',
        _meta: { ui: { csp: { connectDomains: [], resourceDomains: [] } } },
      },
    ]);
  });

  it('shows cause, fix, proof and suspects, reads evidence through the host, and opens the console', async () => {
    const call = { name: 'get_failure', arguments: { id: 'ana_9f2c' } };
    await withHost(await showInHost(browser, client, call), async ({ frame, opened, complaints }) => {
      const text = await frame.textContent('main');
      for (const words of [
        'The cart total is rounded twice',
        '91 % sure',
        'Round once',
        'src/cart/tax.ts:41',
      ])
        expect(text).toContain(words);
      expect(await frame.textContent('ol.lines')).toContain('expected 10.20, got 10.21');

      await frame.click('summary');
      await frame.waitForSelector('details ol.lines');
      expect(await frame.textContent('details ol.lines')).toContain('FAIL cart total');
      await frame.click('text=Open in Faultline');
      await frame.click('text=Open the build');
      await expect
        .poll(() => opened)
        .toEqual([`${PUBLIC_URL}/analyses/ana_9f2c`, 'https://ci.example/shop/api/812']);
      expect(complaints).toEqual([]);
    });
  });
});

describe('the page of an answer', () => {
  let client: Client;
  beforeAll(async () => {
    client = await connectAgentOverHttp(address, TOKENS.read);
  });
  afterAll(() => client.close());

  it.each(['light', 'dark'] as const)('has no fault that axe finds, in %s', async (theme) => {
    const call = { name: 'get_failure', arguments: { id: 'bld_1' } };
    await withHost(await showInHost(browser, client, call, theme), async ({ frame }) => {
      await frame.click('summary');
      await frame.waitForSelector('details ol.lines');
      expect(await readAxeFindings(frame)).toEqual([]);
    });
  });

  it('shows another cause of the build when it is chosen, and hostile words as words', async () => {
    const call = { name: 'get_failure', arguments: { id: 'bld_1' } };
    await withHost(await showInHost(browser, client, call), async ({ frame, complaints }) => {
      await frame.click('button.plain');
      await frame.waitForSelector('h1:has-text("§bold§")');
      expect(await frame.locator('img, main b:not(.cat)').count()).toBe(0);
      expect(complaints).toEqual([]);
    });
  });

  it('shows the answer to a pasted log, and what a tool said instead of one', async () => {
    const pasted = { name: 'explain_log', arguments: { log: 'Error: boom' } };
    await withHost(await showInHost(browser, client, pasted), async ({ frame }) => {
      expect(await frame.textContent('h1')).toBe('The cart total is rounded twice');
      expect(await frame.locator('button').count()).toBe(0);
    });
    const unknown = { name: 'get_failure', arguments: { id: 'ana_none' } };
    await withHost(await showInHost(browser, client, unknown), async ({ frame }) => {
      expect(await frame.textContent('main')).toContain('There is no failure ana_none.');
    });
  });

  it('is served over standard input and output too', async () => {
    const agent = await connectAgentOverStdio(['--url', address, '--token', TOKENS.read]);
    const { contents } = await agent.readResource({ uri: 'ui://faultline/answer.html' });
    expect(contents).toMatchObject([{ mimeType: 'text/html;profile=mcp-app' }]);
    await agent.close();
  });
});
