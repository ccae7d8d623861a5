import type { Extractor } from '../extraction.ts';
import { blockEnd } from '../extraction.ts';

const FAILED = /^(?:fatal|failed): \[(?<host>[^\]]{1,120})\](?: \(item=.{0,300}?\))?: (?<how>FAILED|UNREACHABLE)! => (?<result>.{0,1900})/;
const FAILED_ITEM = /^failed: \[(?<host>[^\]]{1,120})\] \(item=.{0,300}?\) => (?<result>.{0,1900})/;
const MAX_KEPT = 100;

/** Ansible: the task, the host, and the message inside the result; failures that a play ignores weigh little. */
export const ansible: Extractor = {
  name: 'ansible',
  literals: ['fatal: [', 'failed: [', 'error! ', '[error]: '],
  extract: (log, lines, found) => {
    for (const line of lines.slice(0, MAX_KEPT)) {
      const text = log.line(line);
      const groups = (FAILED.exec(text) ?? FAILED_ITEM.exec(text))?.groups;
      const own = /^(?:ERROR! |\[ERROR\]: )(?<said>.{1,400})/.exec(text)?.groups?.said;
      if (groups === undefined && own === undefined) continue;
      const end = blockEnd(log, line, 12, (one) => /^\s{1,20}\S|^\}|^The error appears|^$/.test(one) && one !== '');
      const isIgnored = /^\.{3}ignoring/.test(log.line(end + 1));
      const message = own ?? messageOf(groups?.result ?? '') ?? text.slice(0, 500);
      const empty = { file: null, line: null, column: null, code: null };
      const severity = isIgnored ? 'warning' : 'error';
      found.diagnostics.push({ tool: 'ansible', severity, ...empty, message, at: { source: log.name, line } });
      found.blocks.push({ start: line, end, weight: isIgnored ? 12 : 80, reason: 'ansible failure' });
      const task = isIgnored ? 0 : taskAbove((at) => log.line(at), line);
      if (task !== 0) found.blocks.push({ start: task, end: task, weight: 70, reason: 'ansible task' });
    }
  },
};

/** The first line of the message in a result, which is JSON or cut short of it. */
function messageOf(result: string): string | null {
  const said = /"(?:msg|stderr)": "((?:[^"\\]|\\.){1,480})/.exec(result)?.[1];
  return said?.split('\\n')[0]?.replace(/\\"/g, '"') ?? null;
}

function taskAbove(text: (line: number) => string, line: number): number {
  for (let at = line - 1; at >= Math.max(1, line - 60); at--) if (/^(?:TASK|RUNNING HANDLER) \[/.test(text(at))) return at;
  return 0;
}
