import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import { linesBetween, openTestList } from './test-list.ts';

const TITLE = /^\s{2,4}\d{1,5}\) (?<name>(?:test|doctest|property) .{1,300}) \((?<suite>[\w.]{1,200})\)$/;

/** Elixir's ExUnit: a numbered item with its place below, what was asserted, and both sides. */
export const exunit: Extractor = {
  name: 'exunit',
  literals: [') test ', ') doctest ', ') property '],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'exunit');
    for (const line of lines) {
      const title = TITLE.exec(log.line(line).trimEnd())?.groups;
      if (title?.name === undefined) continue;
      const end = blockEnd(log, line, 60, (text) => !/^\S|^\s{2,4}\d{1,5}\) /.test(text));
      const body = linesBetween(log, line + 1, end).map((text) => text.trim());
      const place = /^(?<file>[^\s:]{1,300}\.exs?):(?<line>\d{1,7})$/.exec(body[0] ?? '')?.groups;
      const side = (label: string) =>
        body
          .find((text) => text.startsWith(label))
          ?.slice(label.length)
          .trim() ?? null;
      list.add(
        {
          name: title.name,
          suite: title.suite ?? null,
          file: place?.file ?? null,
          line: place?.line === undefined ? null : Number(place.line),
          message: (place === undefined ? body[0] : body[1]) || null,
          expected: side('right:'),
          actual: side('left:'),
        },
        line,
        end,
      );
    }
  },
};
