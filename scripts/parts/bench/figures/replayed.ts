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

/** Replays a data set with the shipped models, once for the same arguments. Returns its figures. */
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

/** Runs a script of this project. Returns what it prints, also where it says that a bar was missed. */
export async function runScript(path: string): Promise<string> {
  console.error(`node ${path}`);
  return await run(process.execPath, [join(ROOT, path)]).then(
    ({ stdout }) => stdout,
    (error: { readonly stdout?: string }) => error.stdout ?? '',
  );
}
