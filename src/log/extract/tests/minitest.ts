import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import { lookBack, openTestList } from './test-list.ts';

const HEAD = /^\s{0,4}(?:\d{1,5}\) )?(?:Failure|Error):$/;
const TITLE =
  /^(?:(?<suite>\w[^#\n]{0,200})#(?<name>test_.{1,300}?)|(?<old>test\w{0,200})\((?<class>[\w:]{1,200})\))(?: \[(?<file>[^\s:]{1,300}):(?<line>\d{1,7})\])?:$/;
const PLACE = /^\s{2,8}(?<file>[^\s:]{1,300}\.rb):(?<line>\d{1,7}):in /;

/** Minitest, its numbered list and Rails' inline form: `Failure:` and below it `CartTest#test_adds [test/cart_test.rb:7]:`. */
export const minitest: Extractor = {
  name: 'minitest',
  literals: ['#test_', ') Failure:', ') Error:'],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'minitest');
    for (const line of lines) {
      const start = HEAD.test(log.line(line)) ? line + 1 : line;
      const title = TITLE.exec(log.line(start).trim())?.groups;
      if (title === undefined || !HEAD.test(log.line(start - 1))) continue;
      const end = blockEnd(log, start, 40, (text, at) => !isOver(text, log.line(at + 1)));
      const frame = lookBack(log, end + 1, end - start, (text) => PLACE.exec(text)?.groups)?.value;
      const place = title.file === undefined ? frame : title;
      list.add(
        {
          name: title.name ?? title.old ?? '',
          suite: title.suite ?? title.class ?? null,
          file: place?.file ?? null,
          line: place?.line === undefined ? null : Number(place.line),
        },
        start,
        end,
      );
    }
  },
};

/** A blank line ends an item, unless what follows is still indented: the code that raised, and its frames. */
function isOver(text: string, next: string): boolean {
  return (text.trim() === '' && !/^\s{2,8}(?!\d{1,5}\) )\S/.test(next)) || HEAD.test(text) || /^\d{1,7} (?:runs|tests), /.test(text);
}
