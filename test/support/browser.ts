import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** A page with its complaints: errors of scripts, and violations of the Content-Security-Policy. */
export interface WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Empty if nothing went wrong. */
  readonly complaints: string[];
  /** The addresses of the requests that the page made since this list was last emptied. */
  readonly requests: string[];
}

export interface WatchOptions {
  readonly javaScript?: boolean;
  readonly theme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
  /** The value of the session's cookie. */
  readonly session?: string;
  /** The address of the installation, for which the cookie is set. */
  readonly address: string;
}

/** Starts the machine's Chromium, or the one that FAULTLINE_TEST_CHROMIUM names. Fails if there is none. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = process.env.FAULTLINE_TEST_CHROMIUM ?? findChromium();
  if (executablePath === undefined)
    throw new Error('No Chromium: install one, or name it in FAULTLINE_TEST_CHROMIUM.');
  return await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

/** Opens a page in a new browser context, signed in if a session is given. */
export async function openPage(browser: Browser, options: WatchOptions): Promise<WatchedPage> {
  const { javaScript = true, theme = 'light', width = 1280, height = 800, session, address } = options;
  const context = await browser.newContext({
    javaScriptEnabled: javaScript,
    colorScheme: theme,
    viewport: { width, height },
    baseURL: address,
  });
  if (session !== undefined) {
    await context.addCookies([
      {
        name: '__Host-fl',
        value: session,
        url: address.replace('http:', 'https:'),
        secure: true,
        httpOnly: true,
        sameSite: 'Lax',
      },
    ]);
  }
  const page = await context.newPage();
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => void complaints.push(String(error)));
  page.on('request', (request) => void requests.push(request.url()));
  return { page, context, complaints, requests };
}

/**
 * Returns what axe finds against WCAG 2.2 A and AA and its best practices, as `rule: targets`. The list is
 * empty if nothing is wrong. `colours` checks only what a theme can change.
 */
export async function listAxeFindings(page: Page, what: 'all' | 'colours' = 'all'): Promise<string[]> {
  const source = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
  const { readFile } = await import('node:fs/promises');
  // The debugger bypasses the page's own policy, which refuses foreign scripts.
  const session = await page.context().newCDPSession(page);
  const evaluate = async (expression: string): Promise<unknown> => {
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined)
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  await evaluate(`${await readFile(source, 'utf8')}; true`);
  // A toast that is still fading in has another contrast than the one that people see.
  await evaluate(
    'Promise.all(document.getAnimations()' +
      '.filter(({ effect }) => Number.isFinite(effect.getComputedTiming().endTime))' +
      '.map(({ finished }) => finished.catch(() => null))).then(() => true)',
  );
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  const found = await evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(what === 'all' ? { type: 'tag', values: tags } : { type: 'rule', values: ['color-contrast', 'link-in-text-block'] })} }).then(({ violations }) =>
      violations.map(({ id, help, nodes }) => id + ' (' + help + '): ' + nodes.map(({ target }) => target.join(' ')).slice(0, 5).join(' | ')))`,
  );
  await session.detach();
  return Array.isArray(found) ? found.map(String) : [];
}

function findChromium(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
