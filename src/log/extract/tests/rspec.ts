import type { LogText } from '../../lines/lines.ts';
import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import type { TestList } from './test-list.ts';
import { linesBetween, lookBack, openTestList } from './test-list.ts';

const ITEM = /^\s{1,6}\d{1,5}\) (?<name>\S.{0,500})$/;
const RERUN = /^rspec '?(?<file>[^\s:'[]{1,300}\.rb)(?::(?<line>\d{1,7})|\[[\d:]{1,40}\])'? # (?<name>.{1,500})$/;
const PLACE = /^\s{2,12}(?:#|%%) (?<file>[^\s:]{1,300}\.(?:rb|erl)):(?<line>\d{1,7})(?::in |$)/;
const EUNIT = /^(?<suite>\w{1,100}):(?<name>\w{1,200})(?:\/\d{1,2}(?:_\d{1,5})?)?: module '/;

/** RSpec's list of failures and of examples to run again; Rebar's EUnit report has the same form. Pending examples are none. */
export const rspec: Extractor = {
  name: 'rspec',
  literals: ['Failure/Error:', 'rspec ./', "rspec './", 'rspec spec/', "rspec 'spec/"],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'rspec');
    const eunit = openTestList(log, found, 'eunit');
    let end = 0;
    for (const line of lines) {
      const text = log.line(line);
      const rerun = RERUN.exec(text.trimEnd())?.groups;
      if (rerun?.name !== undefined) list.add({ name: rerun.name, file: rerun.file ?? null, line: numberOf(rerun.line) }, line, line);
      else if (line > end && text.includes('Failure/Error:')) end = readFailure(log, line, list, eunit);
    }
  },
};

function readFailure(log: LogText, line: number, list: TestList, eunit: TestList): number {
  const above = lookBack(log, line, 5, (text) => ITEM.exec(text)?.groups?.name);
  if (above === null) return line;
  const end = blockEnd(log, line, 60, (text) => !ITEM.test(text) && (text.trim() === '' || /^\s{3}/.test(text)));
  // A pending example that failed as it was expected to gives its reason first.
  if (/^\s{4,10}# /.test(log.line(above.line + 1))) return end;
  const place = linesBetween(log, line, end)
    .map((text) => PLACE.exec(text)?.groups)
    .find((one) => one !== undefined);
  const known = { message: messageOf(linesBetween(log, line + 1, end)), file: place?.file ?? null, line: numberOf(place?.line) };
  const module = EUNIT.exec(above.value)?.groups;
  if (module?.name === undefined) list.add({ name: above.value.trim(), ...known }, above.line, end);
  else eunit.add({ name: module.name, suite: module.suite ?? null, ...known }, above.line, end);
  return end;
}

/** The first paragraph below the line of code. */
function messageOf(body: readonly string[]): string | null {
  const start = body.findIndex((text) => text.trim() !== '' && !/^\s{0,40}(?:#|%%) /.test(text));
  const end = body.findIndex((text, i) => i > start && text.trim() === '');
  const said = body.slice(Math.max(0, start), end === -1 ? start + 3 : Math.min(end, start + 4)).map((text) => text.trim());
  return said.join(' ').trim().slice(0, 1_000) || null;
}

function numberOf(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}
