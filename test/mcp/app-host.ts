import { resolve } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import type { Browser, Frame, Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { type LoopbackServer, startLoopback } from '../support/loopback-server.ts';

/** A page that shows an MCP App as hosts do: in a sandboxed frame, over the extension's own bridge. */
export interface AppHost {
  readonly page: Page;
  /** The frame of the App. */
  readonly frame: Frame;
  /** The addresses that the App asked to open. */
  readonly opened: string[];
  /** Errors of scripts, and requests to anything but the host's own page. */
  readonly complaints: string[];
  close(): Promise<void>;
}

/** Calls a tool and shows its result on the page that the tool names. */
export async function showInHost(
  browser: Browser,
  client: Client,
  call: { readonly name: string; readonly arguments: Record<string, unknown> },
  theme: 'light' | 'dark' = 'light',
): Promise<AppHost> {
  const { tools } = await client.listTools();
  const tool = tools.find(({ name }) => name === call.name);
  const uri = (tool?._meta?.ui as { resourceUri: string } | undefined)?.resourceUri ?? 'none';
  const { contents } = await client.readResource({ uri });
  const [app] = contents;
  const script = await bundleHost();
  const server: LoopbackServer = await startLoopback((request, response) => {
    const isScript = request.url === '/host.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
    response.end(isScript ? script : HOST_PAGE);
  });
  const page = await browser.newPage({ viewport: { width: 760, height: 900 }, colorScheme: theme });
  const opened: string[] = [];
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => void complaints.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(server.url)) complaints.push(`request: ${request.url()}`);
  });
  await page.exposeFunction('callTool', async (params: typeof call) => await client.callTool(params));
  await page.exposeFunction('openLink', (url: string) => void opened.push(url));
  await page.goto(server.url);
  const result = await client.callTool(call);
  const shown = { html: app !== undefined && 'text' in app ? app.text : '', theme, call, result };
  await page.evaluate(`showApp(${JSON.stringify(shown)})`);
  const frame = page.frames().find((candidate) => candidate !== page.mainFrame());
  if (frame === undefined) throw new Error('The host shows no frame.');
  await frame.waitForSelector('article, main > p:not(:has-text("Waiting"))');
  const close = async () => {
    await page.close();
    await server.close();
  };
  return { page, frame, opened, complaints, close };
}

const HOST_PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Host</title>
<body style="margin:0"><script type="module" src="/host.js"></script></body></html>`;

/** The host, as the extension's documentation shows it: AppBridge over messages between the windows. */
const HOST = `
import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';
globalThis.showApp = async ({ html, theme, call, result }) => {
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.title = 'App';
  frame.style = 'width: 100%; height: 880px; border: 0';
  const capabilities = { openLinks: {}, serverTools: {} };
  const bridge = new AppBridge(null, { name: 'host', version: '1.0.0' }, capabilities, { hostContext: { theme } });
  bridge.oncalltool = async (params) => await globalThis.callTool(params);
  bridge.onopenlink = async ({ url }) => { await globalThis.openLink(url); return {}; };
  const ready = new Promise((resolve) => { bridge.oninitialized = resolve; });
  document.body.append(frame);
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.srcdoc = html;
  await ready;
  await bridge.sendToolInput({ arguments: call.arguments });
  await bridge.sendToolResult(result);
};
`;

async function bundleHost(): Promise<string> {
  const bundle = await rolldown({
    input: 'host',
    platform: 'browser',
    cwd: resolve(import.meta.dirname, '../..'),
    logLevel: 'silent',
    plugins: [
      {
        name: 'host',
        resolveId: (id) => (id === 'host' ? resolve(import.meta.dirname, 'host.js') : null),
        load: (id) => (id.endsWith('/host.js') ? HOST : null),
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'esm' });
  await bundle.close();
  return output[0].code;
}
