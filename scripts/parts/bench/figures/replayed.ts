import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';

const ROOT = join(import.meta.dirname, '../../../..');
const Replayed = z.object({
  figures: z.array(
    z.object({
      section: z.string(),
      name: z.string(),
      value: z.number(),
      cases: z.number(),
      against: z.array(z.string()).default([]),
    }),
  ),
});
export type ReplayedFigures = z.infer<typeof Replayed>['figures'];

const run = promisify(execFile);
const known = new Map<string, Promise<ReplayedFigures>>();

/**
 * Replays a data set with the shipped models and returns its figures. The same arguments are replayed only
 * once.
 */
export function replaySet(path: string, ...options: string[]): Promise<ReplayedFigures> {
  const args = ['replay', '--dataset', path, '--analyst', 'rules', '--json', ...options];
  const key = args.join(' ');
  const figures = known.get(key) ?? replayOnce(args);
  known.set(key, figures);
  return figures;
}

async function replayOnce(args: readonly string[]): Promise<ReplayedFigures> {
  console.error(`faultline ${args.join(' ')}`);
  const { stdout } = await run(process.execPath, [join(ROOT, 'src/cli/main.ts'), ...args], {
    maxBuffer: 256 * 1024 * 1024,
  });
  return Replayed.parse(JSON.parse(stdout)).figures;
}

/** Runs a script of this project. Returns its output, also if the script reports that a target was missed. */
export async function runScript(path: string): Promise<string> {
  console.error(`node ${path}`);
  return await run(process.execPath, [join(ROOT, path)]).then(
    ({ stdout }) => stdout,
    (error: { readonly stdout?: string }) => error.stdout ?? '',
  );
}
