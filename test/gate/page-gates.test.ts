import { describe, expect, it } from 'vitest';
import { type Ask, askAbout, measurePages, type Requests } from '../support/page-gates.ts';
import { readCapturedFailures } from '../support/reading-gates.ts';

/** Each gate of what a model sees, with requests that show less in just the way that it is there for. */
const failures = readCapturedFailures().filter((_, i) => i % 24 === 0);

const without =
  (judgment: keyof Requests, change: (page: string) => string): Ask =>
  async (failure) => {
    const requests = await askAbout(failure);
    return { ...requests, [judgment]: change(requests[judgment]) };
  };
const blank = (page: string) => page.replace(/^\d+\| .*$/gm, '');
const noisy = (page: string) =>
  `${page}\n${Array.from({ length: 80 }, (_, i) => `${9_000 + i}| Downloading part ${i}`).join('\n')}`;

describe('the gates for the input of a model', () => {
  it.each([
    ['telling lines are hidden from whoever classifies', 0, without('classify', blank)],
    ['telling lines are hidden from whoever answers', 1, without('answer', blank)],
    ['what was asked for is not shown', 2, without('reason', blank)],
    ['what is cited is hidden from the verifier', 3, without('verify', blank)],
    ['a page is full of noise', 4, without('classify', noisy)],
  ])('fail if %s', async (_when, index, ask) => {
    const [whole, less] = [(await measurePages(failures))[index], (await measurePages(failures, ask))[index]];
    // `scripts/gate` holds the bar on all failures; one missed line weighs too much in this sample.
    expect(whole?.value).toBeGreaterThan(less?.value ?? 1);
    expect(less?.value).toBeLessThan(less?.bar ?? 0);
  });
});
