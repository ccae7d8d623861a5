import { describe, expect, it } from 'vitest';
import type { WebSearch } from '../../src/ports/toolbox.ts';

/** What every web search promises, configured or not. */
export function testWebSearchContract(name: string, open: () => WebSearch): void {
  describe(`web search: ${name}`, () => {
    const signal = new AbortController().signal;

    it('returns its name and whether it is configured', () => {
      expect(open().driver).toBe(name);
      expect(typeof open().configured).toBe('boolean');
    });

    it('returns at most the limit, each with title, text and an http address', async () => {
      const results = await open().search('connection refused', 2, signal);
      expect(results.length).toBeLessThanOrEqual(2);
      for (const result of results) {
        expect(result.url).toMatch(/^https?:\/\//);
        expect([typeof result.title, typeof result.text]).toEqual(['string', 'string']);
        expect(result.title).not.toMatch(/[<>\n]/);
      }
      if (open().configured) expect(results).toHaveLength(2);
    });

    it('finds nothing if it is not configured', async () => {
      const search = open();
      if (!search.configured) expect(await search.search('anything', 5, signal)).toEqual([]);
    });

    it('returns no address of a private network', async () => {
      const urls = (await open().search('private', 10, signal)).map(({ url }) => url);

      expect(
        urls.filter((url) => /localhost|127\.|10\.|169\.254|\[::1\]|\.internal|ftp:|javascript:/.test(url)),
      ).toEqual([]);
    });
  });
}
