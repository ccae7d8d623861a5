import { describe, expect, it } from 'vitest';
import { classifyEnding } from '../../../src/log/fingerprint/failures.ts';

describe('the ending of a failure', () => {
  it.each([
    ['timed out', 'timeout'],
    ['Test timed out in 5000ms.', 'timeout'],
    ['exit code 124', 'timeout'],
    ['crashed with exit code -11', 'SIGSEGV'],
    ['exited with code 139', 'SIGSEGV'],
    ['crashed with exit code 3221225477', 'SIGSEGV'],
    ['exit code 0xC0000005', 'SIGSEGV'],
    ['ended with exit code -1073741819', 'SIGSEGV'],
    ['ended with exit code 3221226505', 'SIGABRT'],
    ['Segmentation fault (core dumped)', 'SIGSEGV'],
    ['signal: killed', 'SIGKILL'],
    ['process died with signal SIGBUS', 'SIGBUS'],
    ['terminated by signal SIGTERM', 'SIGTERM'],
    ['exit status 127', 'exit 127'],
    ['ended with exit code 7', 'failed'],
    ['exit code 1', 'failed'],
  ])('of %j is %j', (text, ending) => {
    expect(classifyEnding(text)).toBe(ending);
  });

  it.each([
    'connect timed out while loading rates',
    'worker of the depot died with exit code 137',
    'Killed the wrong row',
    'SIGSEGV in Pool::take',
    'expected 1 to be 2',
    '',
    `timed out ${'x'.repeat(500)}`,
  ])('is not the whole of %j', (text) => {
    expect(classifyEnding(text)).toBeNull();
  });
});
