import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { z } from 'zod';

const PROGRAM = join(import.meta.dirname, '../../../node_modules/.cache/faultline-substitution');

const Step = z.object({
  name: z.string(),
  commands: z.array(z.string()),
  environment: z.record(z.string(), z.unknown()).nullable(),
});
export type Step = z.infer<typeof Step>;

const Pipeline = z.object({ steps: z.array(Step).default([]), refused: z.string().default('') });
export type Pipeline = z.infer<typeof Pipeline>;

/** Reads a pipeline as Woodpecker and Drone do: replaces these variables in its text, then parses it. `refused` says why that failed. */
export async function preparePipelines(
  pipeline: string,
  variables: readonly Readonly<Record<string, string>>[],
): Promise<Pipeline[]> {
  const answers = await ask(variables.map((variable) => ({ pipeline, variables: variable })));
  return answers.map((answer) => Pipeline.parse(answer));
}

/** Replaces the names of variables inside of their values, as a runner of GitLab does before it hands them to a job. */
export async function expandVariables(
  variables: readonly Readonly<Record<string, string>>[],
): Promise<Record<string, string>[]> {
  const answers = await ask(variables.map((variable) => ({ variables: variable })));
  return answers.map(
    (answer) => z.object({ variables: z.record(z.string(), z.string()) }).parse(answer).variables,
  );
}

let built: Promise<unknown> | undefined;

/** Needs Go. Throws with what the systems' own libraries say of what they refuse. */
async function ask(orders: readonly object[]): Promise<unknown[]> {
  const env = { ...process.env, GOFLAGS: '' };
  built ??= promisify(execFile)('go', ['build', '-o', PROGRAM, '.'], { cwd: import.meta.dirname, env });
  await built;
  const child = spawn(PROGRAM, { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(orders.map((order) => `${JSON.stringify(order)}\n`).join(''));
  const [said, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const answers = said.split('\n').filter((line) => line !== '');
  if (answers.length < orders.length) throw new Error(`the pipeline cannot be prepared: ${errors}`);
  return answers.map((line) => JSON.parse(line));
}
