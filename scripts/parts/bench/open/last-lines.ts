import type { Adapter } from './adapter.ts';

const LINES = 200;

/** Shows the end of the log, as people do first. It names no category. */
export const adapter: Adapter = {
  name: `the last ${LINES} lines`,
  answer({ texts }) {
    const lines = texts.flatMap(({ text }) => text.trimEnd().split('\n'));
    // Only so many characters count: those nearest to the end.
    return { text: lines.slice(-LINES).join('\n').slice(-4_000) };
  },
};
