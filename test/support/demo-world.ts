import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { runDemo } from '../../src/cli/demo/demo.ts';
import { createDemoClock, makeDemoCode } from '../../src/cli/demo/demo-week.ts';
import { openReviewWorld, type ReviewWorld } from './review-world.ts';
import { READERS } from './stocked-console.ts';

export const PHONE = { width: 390, height: 844 };
export const DESK = { width: 1440, height: 900 };

/**
 * Opens a console with the demo, as `serve --demo` runs it: confident answers are published without a person.
 */
export async function openDemoWorld(): Promise<ReviewWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-demo-code-'));
  const clock = createDemoClock();
  const code = await makeDemoCode(folder);
  const change: NonNullable<Parameters<typeof openReviewWorld>[0]>['change'] = (config) => ({
    ...config,
    codeHost: { ...config.codeHost, clones: code.clones },
    triage: { ...config.triage, thresholds: { ...config.triage.thresholds, autoNotify: 0.85 } },
  });
  const world = await openReviewWorld({ clock, change });
  const { address, app } = world.console;
  await runDemo({ address, token: READERS.admin, shownToken: '$TOKEN', app, clock, code });
  return {
    ...world,
    close: async () => {
      await world.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Returns the text of the main part of a page. */
export const mainText = async (page: Page) => String(await page.locator('main').textContent());
