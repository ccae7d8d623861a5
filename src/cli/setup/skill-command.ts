import { constants } from 'node:fs';
import { copyFile, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { TriageError } from '../../domain/errors.ts';
import { print, printResult } from '../terminal.ts';

export interface SkillOptions {
  /** The directory of skills to install into. */
  readonly dir?: string;
  readonly user?: boolean;
  readonly force?: boolean;
  readonly json?: boolean;
}

const NAME = 'ci-triage';
/** The skill, which has the same relative path in a checkout and in the package. */
const SOURCE = resolve(import.meta.dirname, '../../../skills', NAME, 'SKILL.md');
/** The directory that every agent with Agent Skills searches, in a project and in a home directory. */
const SKILLS = '.agents/skills';

/** Runs `faultline skill show`: prints the skill. */
export async function showSkill(): Promise<void> {
  await print(await readFile(SOURCE, 'utf8'));
}

/**
 * Runs `faultline skill install`: copies the skill into the project or the home directory. Throws `conflict`
 * if another text is there and `force` is not set, and `invalid-config` if both places were requested.
 */
export async function installSkill(options: SkillOptions): Promise<void> {
  const path = join(chooseDirectory(options), NAME, 'SKILL.md');
  const installed = await readInstalled(path);
  const isCurrent = installed === (await readFile(SOURCE, 'utf8'));
  if (!isCurrent) {
    if (installed !== null && options.force !== true)
      throw new TriageError('conflict', `${path} has another text. --force replaces it.`);
    await replaceFile(path);
  }
  const outcome = isCurrent ? 'unchanged' : 'installed';
  await printResult(
    options,
    { outcome, path },
    isCurrent
      ? `${path} is up to date.`
      : `Installed ${path}. Agents that read Agent Skills find it when they start.`,
  );
}

function chooseDirectory({ dir, user = false }: SkillOptions): string {
  if (dir !== undefined && user)
    throw new TriageError('invalid-config', '--dir and --user name two places. Use one of them.');
  return resolve(dir ?? join(user ? homedir() : '.', SKILLS));
}

async function readInstalled(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/** Replaces the file as a whole. A symbolic link is replaced itself, not its target. */
async function replaceFile(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const copy = `${path}.${process.pid}`;
  try {
    await copyFile(SOURCE, copy, constants.COPYFILE_EXCL);
    await rename(copy, path);
  } catch (error) {
    await rm(copy, { force: true });
    throw error;
  }
}
