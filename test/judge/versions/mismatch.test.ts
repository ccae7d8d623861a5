import { describe, expect, it } from 'vitest';
import type { ShownRuntime } from '../../../src/domain/environment.ts';
import { findMismatch } from '../../../src/judge/versions/mismatch.ts';

function findAt(text: string, tool: ShownRuntime['tool'], version: string | null) {
  const runtimes = version === null ? [] : [{ tool, version, at: { source: 'log', line: 9 } }];
  return findMismatch(text, { environment: { runtimes, artifacts: [], boms: [], changes: [] } });
}

describe('a version mismatch', () => {
  it.each([
    ['TypeError: baskets.toReversed is not a function', 'node', '18.20.4', '`toReversed`', '20.0.0'],
    ['TypeError: Object.groupBy is not a function', 'node', '20.11.0', '`Object.groupBy`', '21.0.0'],
    ['TypeError: (0 , node_util_1.styleText) is not a function', 'node', '18.19.0', '`styleText`', '20.12.0'],
    [
      'TypeError: webidl.util.markAsUncloneable is not a function',
      'node',
      '18.20.4',
      '`markAsUncloneable`',
      '22.10.0',
    ],
    [
      "SyntaxError: The requested module 'node:util' does not provide an export named 'styleText'",
      'node',
      '18',
      '`styleText`',
      '20.12.0',
    ],
    ['ReferenceError: structuredClone is not defined', 'node', '16.20.2', '`structuredClone`', '17.0.0'],
    [
      "ImportError: cannot import name 'StrEnum' from 'enum' (/usr/lib/python3.10/enum.py)",
      'python',
      '3.10',
      '`enum.StrEnum`',
      '3.11',
    ],
    [
      "AttributeError: module 'asyncio' has no attribute 'TaskGroup'",
      'python',
      '3.9.18',
      '`asyncio.TaskGroup`',
      '3.11',
    ],
    ["ModuleNotFoundError: No module named 'tomllib'", 'python', '3.8', '`tomllib`', '3.11'],
    [
      "AttributeError: 'str' object has no attribute 'removeprefix'",
      'python',
      '3.8.10',
      '`str.removeprefix`',
      '3.9',
    ],
    ['./weigh.go:9:2: undefined: slices.Sorted', 'go', '1.22.1', '`slices.Sorted`', '1.23'],
    [
      'weigh.go:4:2: package log/slog is not in GOROOT (/usr/local/go/src/log/slog)',
      'go',
      '1.20',
      '`log/slog`',
      '1.21',
    ],
  ] as const)('is found: %s on %s %s', (text, tool, version, subject, needed) => {
    expect(findAt(text, tool, version)).toMatchObject({
      subject,
      version: needed,
      running: version,
      isGone: false,
    });
  });

  it.each([
    ["DistutilsError: No module named 'distutils'", '3.12.1', '`distutils`', '3.12'],
    [
      "AttributeError: module 'pkgutil' has no attribute 'ImpImporter'",
      '3.12',
      '`pkgutil.ImpImporter`',
      '3.12',
    ],
  ] as const)('is found if a newer version removed something: %s', (text, version, subject, removed) => {
    expect(findAt(text, 'python', version)).toMatchObject({ subject, version: removed, isGone: true });
  });

  it.each([
    ['TypeError: baskets.toReversed is not a function', 'node', null],
    ['TypeError: baskets.toReversed is not a function', 'node', '20.1.0'],
    // "20" may be 20.12.
    [
      "SyntaxError: The requested module 'node:util' does not provide an export named 'styleText'",
      'node',
      '20',
    ],
    ['TypeError: baskets.weigh is not a function', 'node', '16.0.0'],
    ['TypeError: baskets.take is not a function', 'node', '18.0.0'],
    ["AttributeError: module 'pear' has no attribute 'TaskGroup'", 'python', '3.8'],
    ["ModuleNotFoundError: No module named 'distutils'", 'python', '3.11.2'],
  ] as const)('is not claimed for %s on %s %s', (text, tool, version) => {
    expect(findAt(text, tool, version)).toBeNull();
  });

  it.each([
    ['class file has wrong version 61.0, should be 55.0', 'Java', '17', '11'],
    [
      'org/fruit/Pear has been compiled by a more recent version of the Java Runtime (class file version 65.0), this version of the Java Runtime only recognizes class file versions up to 61.0',
      'Java',
      '21',
      '17',
    ],
    [
      "npm warn EBADENGINE Unsupported engine { package: 'pear@2.0.0', required: { node: '>=20' }, current: { node: 'v18.20.4', npm: '10.7.0' } }",
      'Node',
      '20',
      '18.20.4',
    ],
    [
      'error pear@2.0.0: The engine "node" is incompatible with this module. Expected version ">=20.9.0". Got "18.20.4"',
      'Node',
      '20.9.0',
      '18.20.4',
    ],
    ["ERROR: Package 'pear' requires a different Python: 3.8.18 not in '>=3.9'", 'Python', '3.9', '3.8.18'],
    [
      'go: example.org/pear@v1.2.0 requires go >= 1.23.0 (running go 1.21.5; GOTOOLCHAIN=local)',
      'Go',
      '1.23.0',
      '1.21.5',
    ],
    [
      "./scales: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by ./scales)",
      'glibc',
      '2.38',
      null,
    ],
  ] as const)("is read from the tool's own statement: %s", (text, tool, version, running) => {
    expect(findAt(text, 'node', null)).toMatchObject({ tool, version, running, isFromTable: false });
  });
});
