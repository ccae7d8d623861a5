import { diagnosticExtractor } from './diagnostics.ts';

/** configure scripts and what makes them: autoconf, automake, aclocal. */
export const autotools = diagnosticExtractor(
  'configure',
  [
    'configure: error',
    'configure.ac:',
    'configure.in:',
    'makefile.am:',
    'autoreconf: error',
    'automake: error',
    'aclocal: error',
    'config.log',
  ],
  [
    {
      pattern: /^(?:\S{0,100}\/)?configure: error: in [`'].{1,200}':(?<message>)$/,
      weight: 80,
      belongs: (line) => /^(?:\S{0,100}\/)?configure: error|^See\b/.test(line),
      messageBelow: (line) => /^(?:\S{0,100}\/)?configure: error: (?<said>.{1,400})/.exec(line)?.groups?.said ?? null,
    },
    {
      pattern: /^(?:\S{0,100}\/)?configure: error: (?<message>.{1,400})/,
      weight: 80,
      belongs: (line) => /^(?:See|Try)\b|^\s{2,20}\S|^(?:\S{0,100}\/)?configure: error/.test(line),
    },
    {
      pattern:
        /^(?<file>(?:\S{0,200}\/)?(?:configure\.(?:ac|in)|Makefile\.am)):(?<line>\d{1,7}): (?:error|required file): (?<message>.{1,400})/,
      weight: 78,
      belongs: (line) => /^\s{2,20}\S/.test(line),
    },
    { pattern: /^(?:autoreconf|automake|aclocal|autoconf)(?:-[\d.]{1,8})?: error: (?<message>.{1,400})/, weight: 66 },
  ],
); // prettier-ignore
