import type { Adapter } from './adapter.ts';

const LINES = 200;

/** Returns the end of the log, which people look at first. It gives no category. */
export const adapter: Adapter = {
  name: `the last ${LINES} lines`,
  answer({ texts }) {
    const lines = texts.flatMap(({ text }) => text.trimEnd().split('\n'));
    // Only 4,000 characters count, so the last ones are returned.
    return { text: lines.slice(-LINES).join('\n').slice(-4_000) };
  },
};
