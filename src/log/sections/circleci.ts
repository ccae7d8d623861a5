import type { CiSystem } from './system.ts';
import { failedSection, withConsequences } from './system.ts';

const ENDED =
  /^Exited with code (?:exit status )?[1-9]|^CircleCI received exit code [1-9]|^Too long with no output \(exceeded|^Error: Exited with code (?:exit status )?[1-9]/;

/** CircleCI: the output of each step begins with its shell and script and ends with its code; its own command line adds headers. */
export const circleci: CiSystem = {
  name: 'circleci',
  literals: ['exited with code', 'circleci received exit code', 'too long with no output', '====>> ', 'bash -eo pipefail'],
  failures: (log, marks) => {
    const ended = marks.filter(({ text }) => ENDED.test(text));
    const starts = marks.filter(({ text }) => /^(?:====>> |#!\/bin\/(?:ba)?sh -eo pipefail)/.test(text));
    const failed = ended.flatMap(({ line }, i) => {
      const start = starts.findLast((one) => one.line < line);
      // The last lines may say the same end twice.
      if ((ended[i - 1]?.line ?? 0) > (start?.line ?? 0)) return [];
      const head = start?.text.startsWith('#!') === true ? log.line(start.line + 1) : start?.text.slice('====>> '.length);
      return [failedSection(log, [head ?? 'log'], start?.line ?? 1, line)];
    });
    return withConsequences(failed);
  },
};
