import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';
import { diagnosticExtractor } from './diagnostics.ts';

const indented = (line: string) => /^\s{2,200}\S|^$/.test(line);

/** PHP's own fatal errors, Symfony consoles, Psalm. */
export const php = diagnosticExtractor(
  'php',
  ['fatal error: ', 'parse error: ', 'psalm.dev', '.php line '],
  [
    {
      pattern: /^(?:PHP )?(?<message>(?:Parse|Fatal) error: .{1,500}?) in (?<file>\S{1,300}?)(?: on line |:)(?<line>\d{1,7})$/,
      weight: 80,
      belongs: (line) => /^(?:PHP )?\s{0,8}(?:#?\d{1,4}\.? |Stack trace|thrown)/.test(line),
    },
    {
      tool: 'psalm',
      pattern:
        /^ERROR: (?<code>\w{1,60}) - (?<file>[^\s:]{1,250}):(?<line>\d{1,7}):(?<column>\d{1,5}) - (?<message>.{1,400}?)(?: \(see https:\/\/psalm\.dev.{0,60})?$/,
      weight: 76,
    },
    {
      tool: 'php-console',
      pattern: /^In (?<file>[\w-]{1,100}\.php) line (?<line>\d{1,7}):(?<message>)$/,
      weight: 78,
      belongs: indented,
      messageBelow: (line) => /^\s{2,8}(?<said>(?!\[)\S.{1,400})$/.exec(line)?.groups?.said ?? null,
      isMessage: true,
    },
  ],
); // prettier-ignore

/** Composer: requirements that cannot be met, each problem on lines of its own; platform requirements and authentication. */
export const composer = diagnosticExtractor(
  'composer',
  [
    'your requirements could not',
    'your lock file does not contain',
    'required package "',
    'could not authenticate against',
    'composer could not',
    'could not find package',
  ],
  [
    {
      pattern: /^(?<message>Your (?:requirements could not be resolved|lock file does not contain a compatible set).{0,200})/,
      weight: 80,
      belongs: indented,
      telling: /^\s{2,8}- \S/,
      messageBelow: (line) => /^\s{2,8}- (?<said>\S.{0,480})/.exec(line)?.groups?.said ?? null,
    },
    { pattern: /^- (?<message>Required package ".{1,100}" is not present in the lock file.{0,100})/, weight: 78 },
    {
      pattern: /^\s{0,4}(?<message>(?:Could not authenticate against|Composer could not|Could not find package).{1,300})/,
      weight: 74,
      isMessage: true,
    },
  ],
); // prettier-ignore

const ROW = /^\s{1,4}(?<line>\d{1,7})\s{2,12}(?<message>\S.{0,400})$/;
const SNIFF = /^\s{1,8}(?<line>\d{1,7}) \| (?<severity>ERROR|WARNING)\s{0,4}\| (?:\[.\] )?(?<message>.{1,400})$/;

/** PHPStan's and PHP_CodeSniffer's tables: the file stands above its findings. */
export const phpTables: Extractor = {
  name: 'phpstan',
  literals: ['  Line   ', 'FILE: '],
  extract: (log, lines, found) => {
    for (const line of lines.slice(0, 500)) {
      const text = log.line(line);
      const stan = /^\s{1,4}Line\s{2,8}(?<file>\S{1,250}\.\w{1,6})/.exec(text)?.groups?.file;
      const file = stan ?? /^FILE: (?<file>\S{1,300})$/.exec(text)?.groups?.file;
      if (file === undefined) continue;
      const tool = stan === undefined ? 'phpcs' : 'phpstan';
      const end = blockEnd(log, line, 60, (one) => /^[\s-]/.test(one) && one.trim() !== '' && !/^\s{1,4}Line\s/.test(one));
      for (let at = line + 1; at <= end; at++) {
        const groups = (stan === undefined ? SNIFF : ROW).exec(log.line(at))?.groups;
        if (groups === undefined) continue;
        const severity = groups.severity === 'WARNING' ? 'warning' : 'error';
        const place = { file, line: Number(groups.line), column: null, code: null };
        found.diagnostics.push({ tool, severity, ...place, message: groups.message ?? '', at: { source: log.name, line: at } });
      }
      found.blocks.push({ start: line, end, weight: 76, reason: `${tool} findings` });
    }
  },
};
