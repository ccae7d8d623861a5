import type { Extractor } from '../extraction.ts';
import { openTestList } from './test-list.ts';

const FAILED = /^\{\d{1,4}\} (?<path>[A-Za-z_][\w.]{2,300})(?<id>\[.{1,200}\]|\(.{1,200}\))? \[[\d.]{1,16}s\] \.\.\. FAILED$/;

/** stestr and its kin: `{0} package.module.Class.test [0.1s] ... FAILED`. */
export const stestr: Extractor = {
  name: 'stestr',
  literals: ['] ... FAILED'],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'stestr');
    for (const line of lines) {
      const test = FAILED.exec(log.line(line).trimEnd())?.groups;
      if (test?.path === undefined) continue;
      const dot = test.path.lastIndexOf('.');
      list.add({ name: `${test.path.slice(dot + 1)}${test.id ?? ''}`, suite: test.path.slice(0, dot) || null }, line, line);
    }
  },
};
