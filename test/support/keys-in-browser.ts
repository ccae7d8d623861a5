import type { Page } from 'playwright-core';
import type { KeyBinding } from '../../src/console/controls.ts';

/**
 * A script that notes whether a page handled a key, and stops every click, so that many keys can be tried on
 * one page.
 */
export const WATCH_KEYS = `
  addEventListener('keydown', (event) => { globalThis.acted = event.defaultPrevented; });
  addEventListener('click', (event) => { event.preventDefault(); event.stopImmediatePropagation(); }, true);`;

/** The keys that a page lists, compared with what it does. */
export interface KeysOfPage {
  readonly listed: readonly string[];
  /** The keys that are listed but do nothing. */
  readonly deaf: readonly string[];
  /** The keys that are not listed but do something. */
  readonly strangers: readonly string[];
  /** The badges of keys that are not listed, or that are listed for something else. */
  readonly badges: readonly string[];
}

/**
 * Presses every key that a place lists, in each of its states until one acts, and many keys that it does not
 * list.
 */
export async function readKeys(
  page: Page,
  addresses: readonly string[],
  bindings: readonly KeyBinding[],
): Promise<KeysOfPage> {
  const [listed, badges] = [new Set<string>(), new Set<string>()];
  const wanted = bindings.flatMap(({ keys }) => keys.split('|'));
  const heard = new Set<string>();
  for (const address of addresses) {
    await openAnew(page, address);
    for (const keys of await readStrings(page, LISTED)) listed.add(keys);
    for (const badge of await readStrings(page, BADGES)) badges.add(badge);
    for (const key of wanted.filter((one) => !heard.has(one)))
      for (const one of await listHandledKeys(page, address, key)) heard.add(one);
  }
  const strangers: string[] = [];
  for (const key of OTHERS.filter((one) => !wanted.includes(one)))
    if (await presses(page, key)) strangers.push(key);
  return {
    listed: [...listed],
    deaf: wanted.filter((key) => !heard.has(key)),
    strangers,
    badges: [...badges],
  };
}

const OTHERS = [
  ...'abcdefhijklmnopqrstuvwxyz0123456789',
  'Enter',
  'Space',
  'Backspace',
  'Delete',
  'ArrowUp',
  'ArrowDown',
];

const LISTED = `[...document.querySelectorAll('#keys [data-binding]')].map(({ dataset }) => dataset.keys)`;

/** A script that returns the badges without an entry in the list: of another key, or of another action. */
const BADGES = `[...document.querySelectorAll('kbd')].filter((one) => one.closest('#keys') === null).flatMap((one) => {
  const key = one.textContent === 'Esc' ? 'Escape' : one.textContent;
  const row = [...document.querySelectorAll('#keys [data-binding]')].find(({ dataset }) => dataset.keys.split('|').includes(key));
  const control = one.closest('[data-action]');
  return row !== undefined && (control === null || control.dataset.action === row.dataset.binding) ? [] : [key + ' in ' + one.parentElement.outerHTML];
})`;

/**
 * Returns the effects of a key. If the key led to a field, Escape is pressed to leave it, so that the page is
 * as before.
 */
async function listHandledKeys(page: Page, address: string, key: string): Promise<string[]> {
  if (!(await presses(page, key))) return [];
  if (['c', 'x', 'f', 'Ctrl+k', '?', 'Escape'].includes(key)) await openAnew(page, address);
  const isField =
    key === '/' &&
    (await page.evaluate(`['INPUT', 'TEXTAREA'].includes(document.activeElement.tagName)`)) === true;
  return isField && (await presses(page, 'Escape')) ? [key, 'Escape'] : [key];
}

/** Opens a page again, also where only the part after `#` would change. */
async function openAnew(page: Page, address: string): Promise<void> {
  if (address.includes('#')) await page.goto('about:blank');
  await page.goto(address);
}

async function presses(page: Page, key: string): Promise<boolean> {
  for (const one of key.split(' ')) await page.keyboard.press(one.replace('Ctrl+', 'Control+'));
  return (await page.evaluate('acted')) === true;
}

async function readStrings(page: Page, expression: string): Promise<string[]> {
  const found = await page.evaluate(expression);
  return Array.isArray(found) ? found.map(String) : [];
}
