import { describe, expect, it } from 'vitest';
import { listNamedFiles } from '../../../graphs/linear/graph.ts';
import { sampleSubject } from '../../support/subject.ts';

const excerpt = (text: string, weight = 5) => ({
  source: 'log',
  lineStart: 1,
  lineEnd: text.split('\n').length,
  text,
  reason: 'x',
  weight,
});
const frame = (file: string, own: boolean) => ({ file, line: 7, function: null, own });

describe('files that the log names', () => {
  it('are own stack frames, then diagnostics, then paths of the excerpts, each once', () => {
    const thrown = {
      type: 'E',
      message: 'm',
      chain: [],
      frames: [frame('node_modules/x/y.js', false), frame('src/a.ts', true)],
      at: null,
    };
    const diagnostic = {
      tool: 'tsc',
      severity: 'error' as const,
      file: 'src/b.ts',
      line: 3,
      column: null,
      code: null,
      message: 'm',
      at: null,
    };
    const subject = sampleSubject({
      exceptions: [thrown],
      diagnostics: [diagnostic, { ...diagnostic, severity: 'warning', file: 'src/warned.ts' }],
      excerpts: [excerpt('at f (src/a.ts:9:1)\nat g (src/c.py:12)', 9)],
    });
    expect(listNamedFiles(subject)).toEqual([
      { path: 'src/a.ts', line: 7 },
      { path: 'src/b.ts', line: 3 },
      { path: 'src/c.py', line: 12 },
    ]);
  });

  it('exclude addresses, versions and sentences', () => {
    const text =
      'see https://example.org/a.html for v1.2.3 of example.com. Done.\n.ts and a/.js are no names';
    expect(listNamedFiles(sampleSubject({ excerpts: [excerpt(text)] }))).toEqual([]);
  });

  it('are at most ten, those of the most informative excerpts first', () => {
    const many = Array.from({ length: 20 }, (_, at) => `m${at}.go`).join(' ');
    const files = listNamedFiles(sampleSubject({ excerpts: [excerpt(many, 1), excerpt('first.rs', 2)] }));
    expect(files).toHaveLength(10);
    expect(files[0]).toEqual({ path: 'first.rs', line: null });
  });
});
