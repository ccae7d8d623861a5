import { randomUUID } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import { toVisibleLine } from '../../src/notifications/visible-text.ts';
import type { Environment } from './inputs.ts';

/** Formats one workflow command. The message is escaped, so that it cannot start another command. */
export function formatWorkflowCommand(name: 'warning' | 'notice' | 'error', message: string): string {
  return `::${name} title=Faultline::${toVisibleLine(message).replaceAll('%', '%25')}\n`;
}

/** Tells the runner to hide a value from here on. */
export function maskCommand(secret: string): string {
  const lines = secret.split(/\r?\n/).filter((line) => line !== '');
  return lines.map((line) => `::add-mask::${line.replaceAll('%', '%25')}\n`).join('');
}

/**
 * Sets outputs. Each value stands between delimiters that no one can guess, so that no value can end itself
 * and set another output.
 */
export async function writeOutputs(
  environment: Environment,
  outputs: Readonly<Record<string, string>>,
): Promise<void> {
  const path = environment.GITHUB_OUTPUT;
  if (path === undefined || path === '') return;
  const entries = Object.entries(outputs).map(([name, value]) => {
    const delimiter = `faultline_${randomUUID()}`;
    return `${name}<<${delimiter}\n${value}\n${delimiter}\n`;
  });
  await appendFile(path, entries.join(''));
}

/**
 * Checks whether the runner shows summaries. Gitea and Forgejo give a step the file for a summary but do not
 * show it.
 */
export function showsSummary(environment: Environment): boolean {
  return environment.GITEA_ACTIONS !== 'true' && environment.FORGEJO_ACTIONS !== 'true';
}

/** Adds Markdown to the job's summary. */
export async function writeSummary(environment: Environment, markdown: string): Promise<void> {
  const path = environment.GITHUB_STEP_SUMMARY;
  if (path !== undefined && path !== '') await appendFile(path, markdown);
}
