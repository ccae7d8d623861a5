import type { Extractor } from '../extraction.ts';
import { openTestList } from './test-list.ts';

const RESULT =
  /^(?<target>(?:@{0,2}[\w.~+-]{0,100})?\/\/[^\s:]{0,300}:\S{1,200})\s{2,200}(?:\(cached\) )?(?<outcome>FAILED|TIMEOUT|FLAKY|PASSED)(?: in (?<how>.{1,60})|, failed in .{1,60})?$/;
const FAIL =
  /^(?:FAIL|TIMEOUT): (?<target>(?:@{0,2}[\w.~+-]{0,100})?\/\/[^\s:]{0,300}:[^\s()]{1,200}) \((?:shard|see|Exit|Summary|run|attempt)/;

/** Bazel: the table of targets at the end; the lines in between only where there is none, since a flaky target fails there too. */
export const bazel: Extractor = {
  name: 'bazel',
  literals: ['  FAILED in ', '  TIMEOUT in ', ' FLAKY, failed in ', 'FAIL: //', 'FAIL: @', 'TIMEOUT: //'],
  extract: (log, lines, found) => {
    const list = openTestList(log, found, 'bazel');
    const results = lines
      .flatMap((line) => ({ line, groups: RESULT.exec(log.line(line).trimEnd())?.groups }))
      .filter(({ groups }) => groups !== undefined);
    for (const { line, groups } of results) {
      if (groups?.target === undefined || (groups.outcome !== 'FAILED' && groups.outcome !== 'TIMEOUT')) continue;
      list.add({ name: groups.target, message: groups.outcome === 'TIMEOUT' ? `TIMEOUT in ${groups.how}` : null }, line, line);
    }
    for (const line of lines) {
      const target = FAIL.exec(log.line(line))?.groups?.target;
      if (target === undefined) continue;
      found.blocks.push({ start: line, end: line, weight: 68, reason: 'failing bazel target' });
      if (results.length === 0) list.add({ name: target }, line, line);
    }
  },
};
