import { vi } from 'vitest';
import { runProgram } from '../../src/cli/run-program.ts';
import type { Ended } from './faultline.ts';

/** Runs the command line in this very process, which spares its start. One at a time: what it prints is taken from the process's own streams. */
export async function faultlineHere(args: readonly string[]): Promise<Omit<Ended, 'signal'>> {
  const [stdout, stderr] = [taken(process.stdout), taken(process.stderr)];
  const before = process.exitCode;
  process.exitCode = undefined;
  try {
    await runProgram([process.execPath, 'faultline', ...args]);
    return { code: Number(process.exitCode ?? 0), stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    process.exitCode = before;
    stdout.giveBack();
    stderr.giveBack();
  }
}

function taken(stream: NodeJS.WriteStream): { text(): string; giveBack(): void } {
  const pieces: string[] = [];
  const spy = vi.spyOn(stream, 'write').mockImplementation((piece, ...rest) => {
    pieces.push(String(piece));
    for (const done of rest) if (typeof done === 'function') done();
    return true;
  });
  return { text: () => pieces.join(''), giveBack: () => spy.mockRestore() };
}
