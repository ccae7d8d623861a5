import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import { linesBetween, openTestList } from './test-list.ts';

const HEAD = /^(?:Failure|Error) (?:->|→) (?<file>[^\s@]{1,300}\.lua) @ (?<line>\d{1,7})$/;
const ANY_HEAD = /^(?:Failure|Error|Pending) (?:->|→) /;

/** Lua's busted: `Failure → spec/cart_spec.lua @ 2`, the name below it, then what was passed and expected. */
export const busted: Extractor = {
  name: 'busted',
  literals: ['.lua @ '],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'busted');
    for (const line of lines) {
      const place = HEAD.exec(log.line(line).trimEnd())?.groups;
      const name = log.line(line + 1).trim();
      if (place === undefined || name === '') continue;
      const end = blockEnd(log, line, 60, (text) => text.trim() !== '' && !ANY_HEAD.test(text));
      const body = linesBetween(log, line + 2, end).map((text) => text.trim());
      const below = (label: string) =>
        body.includes(label) ? (body[body.indexOf(label) + 1]?.replace(/^\(\w{1,20}\) /, '') ?? null) : null;
      const message = body[0]?.replace(/^\S{1,300}\.lua:\d{1,7}: /, '') || null;
      const values = { expected: below('Expected:'), actual: below('Passed in:') };
      list.add({ name, file: place.file ?? null, line: Number(place.line), message, ...values }, line, end);
    }
  },
};
