import type { Section } from '../../domain/failure.ts';
import type { CiSystem } from './system.ts';
import { failedSection } from './system.ts';

const STAMP = /^\[Container\] \d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d(?:\.\d{1,9})? /;

/** AWS CodeBuild: the container tells each command, each phase, and how they ended. */
export const codebuild: CiSystem = {
  name: 'codebuild',
  literals: ['entering phase ', 'running command ', 'command did not exit successfully', 'phase complete: '],
  failures: (_log, marks) => {
    const failed: Section[] = [];
    let phase = '';
    let command = { name: '', line: 1 };
    for (const { line, text } of marks) {
      const said = text.replace(STAMP, '');
      const entered = /^Entering phase (\w{1,40})/.exec(said)?.[1];
      if (entered !== undefined) {
        phase = entered;
        command = { name: '', line };
      }
      const run = /^Running command (.{1,200})/.exec(said)?.[1];
      if (run !== undefined) command = { name: run, line };
      if (!/^Command did not exit successfully /.test(said)) continue;
      const section = failedSection(_log, [phase, command.name], command.line, line);
      // POST_BUILD runs after a failed BUILD too, and then fails for what is missing.
      failed.push(failed.length > 0 && phase === 'POST_BUILD' ? { ...section, consequence: true } : section);
    }
    return failed;
  },
};
