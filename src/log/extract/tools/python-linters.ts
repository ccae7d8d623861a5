import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import { diagnosticExtractor } from './diagnostics.ts';

/** Most findings kept. */
const MAX_KEPT = 200;

/** ruff, flake8, pylint, mypy, pyright, black, isort. What several of them print alike is called `linter`. */
export const pythonLinters = diagnosticExtractor(
  'linter',
  ['.py:', '.pyi:', 'would reformat', 'error: cannot format', 'imports are incorrectly sorted'],
  [
    {
      tool: 'pylint',
      pattern:
        /^(?<file>[\w./@-]{1,250}\.pyi?):(?<line>\d{1,7}):(?<column>\d{1,5}): (?<code>[CRWEF]\d{4}): (?<message>.{1,400}?)(?: \([\w-]{1,60}\))?$/,
      weight: 76,
    },
    {
      pattern:
        /^(?:##\[error\])?(?<file>[\w./@-]{1,250}\.pyi?):(?<line>\d{1,7}):(?:(?<column>\d{1,5}):)? (?:\[?(?<code>[A-Z]{1,4}\d{2,5})\]?:?) (?:\[\*\] )?(?<message>.{1,400})/,
      weight: 76,
    },
    {
      tool: 'mypy',
      pattern:
        /^(?<file>[\w./@-]{1,250}\.pyi?):(?<line>\d{1,7}):(?:(?<column>\d{1,5}):)? (?<severity>error): (?<message>.{1,400}?)(?:\s{2}\[(?<code>[\w-]{1,60})\])?$/,
      weight: 78,
    },
    {
      tool: 'pyright',
      pattern:
        /^\s{1,8}(?<file>[^\s:]{1,250}\.pyi?):(?<line>\d{1,7}):(?<column>\d{1,5}) - (?<severity>error|warning): (?<message>.{1,400}?)(?: \((?<code>report\w{1,60})\))?$/,
      weight: 78,
      belongs: (line) => /^\s{5,40}\S/.test(line) && !/ - (?:error|warning): /.test(line),
    },
    { pattern: /^would reformat (?<file>.{1,300})(?<message>)/i, weight: 76 },
    { tool: 'black', pattern: /^error: cannot format (?<file>[^\s:]{1,250}): (?<message>.{1,300})/, weight: 76 },
    { tool: 'isort', pattern: /^ERROR: (?<file>.{1,250}?) (?<message>Imports are incorrectly sorted and\/or formatted\.)/, weight: 76 },
  ],
); // prettier-ignore

const RUFF_PLACE = /^\s{1,8}--> (?<file>[^\s:]{1,250}\.(?:pyi?|ipynb)):(?:cell \d{1,4}:)?(?<line>\d{1,7}):(?<column>\d{1,5})$/;
const RUFF_SAYS = /^(?:(?<code>[A-Z]{1,5}\d{1,5}|[a-z][\w-]{3,60}):? (?:\[[*-]\] )?|error: )(?<message>\S.{1,400})$/;

/** ruff's full format: the code and the message, and below it the place. */
export const ruff: Extractor = {
  name: 'ruff',
  literals: ['.py:', '.pyi:', '.ipynb:'],
  extract: (log, lines, found) => {
    let kept = 0;
    for (const line of lines) {
      const place = RUFF_PLACE.exec(log.line(line))?.groups;
      const said = place === undefined ? undefined : RUFF_SAYS.exec(log.line(line - 1))?.groups;
      if (place === undefined || said === undefined || kept++ >= MAX_KEPT) continue;
      const end = blockEnd(log, line, 12, (one) => /^\s{0,6}\d{0,6} ?\||^help: /.test(one));
      found.diagnostics.push({
        tool: 'ruff',
        severity: 'error',
        file: place.file ?? null,
        line: Number(place.line),
        column: Number(place.column),
        code: said.code ?? null,
        message: said.message ?? '',
        at: { source: log.name, line: line - 1 },
      });
      found.blocks.push({ start: line - 1, end, weight: 76 - Math.min(kept, 30) * 0.2, reason: 'ruff error' });
    }
  },
};

/** pre-commit: which hook failed, and what it printed below. */
export const preCommit = diagnosticExtractor(
  'pre-commit',
  ['.failed', '- hook id: '],
  [
    {
      pattern: /^(?<message>\S.{0,100}?)\.{3,100}Failed$/,
      weight: 66,
      belongs: (line) => !/\.{3,100}(?:Passed|Failed|Skipped|\(no files to check\)Skipped)$/.test(line),
      isMessage: true,
    },
  ],
); // prettier-ignore
