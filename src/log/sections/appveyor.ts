import type { CiSystem } from './system.ts';
import { failedSection, lineAbove } from './system.ts';

/** AppVeyor: names the scripts of each phase before they run, and says how the command ended that failed. */
export const appveyor: CiSystem = {
  name: 'appveyor',
  literals: ['command exited with code', 'command executed with exception', 'build execution time has reached'],
  failures: (log, marks) => {
    const ended = marks.find(({ text }) =>
      /^(?:Command (?:exited with code -?\d|executed with exception)|Build execution time has reached)/.test(text),
    );
    if (ended === undefined) return [];
    const start = lineAbove(log, ended.line, 5_000, (text) => /^Running .{1,40} scripts?$/.test(text));
    const name =
      start === null
        ? ''
        : log
            .line(start)
            .replace(/^Running (.{1,40}?) scripts?$/, '$1')
            .replace(/"/g, '');
    return [failedSection(log, [name === '' ? 'build' : name], start ?? 1, ended.line)];
  },
};
