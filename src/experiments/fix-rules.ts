import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The kinds of changes that a project's own tools make. `snapshot` rewrites the expected values of tests. */
export const FIX_RULES = ['format', 'lint', 'lock', 'snapshot'] as const;
export type FixRule = (typeof FIX_RULES)[number];

interface Tool {
  readonly rule: FixRule;
  /** Checks whether the project in this folder uses the tool and its program is in a folder of `path`. */
  readonly isUsed: (folder: string, path: string) => boolean;
  readonly argv: readonly string[];
}

/**
 * The only commands that are run, each only if the project's files show that it uses the tool. No part of
 * them comes from a log or a model.
 */
const TOOLS: readonly Tool[] = [
  {
    rule: 'format',
    isUsed: isInstalled('prettier'),
    argv: ['node_modules/.bin/prettier', '--write', '--log-level=warn', '.'],
  },
  {
    rule: 'format',
    isUsed: isInstalled('biome'),
    argv: ['node_modules/.bin/biome', 'format', '--write', '.'],
  },
  {
    rule: 'format',
    isUsed: createFileCheck(['ruff.toml', '.ruff.toml', 'pyproject.toml'], 'ruff'),
    argv: ['ruff', 'format', '.'],
  },
  { rule: 'format', isUsed: createFileCheck(['pyproject.toml'], 'black'), argv: ['black', '--quiet', '.'] },
  { rule: 'format', isUsed: has('go.mod', 'gofmt'), argv: ['gofmt', '-w', '.'] },
  { rule: 'format', isUsed: has('Cargo.toml', 'cargo'), argv: ['cargo', 'fmt'] },
  { rule: 'lint', isUsed: isInstalled('eslint'), argv: ['node_modules/.bin/eslint', '--fix', '.'] },
  { rule: 'lint', isUsed: isInstalled('biome'), argv: ['node_modules/.bin/biome', 'check', '--write', '.'] },
  {
    rule: 'lint',
    isUsed: createFileCheck(['ruff.toml', '.ruff.toml', 'pyproject.toml'], 'ruff'),
    argv: ['ruff', 'check', '--fix', '.'],
  },
  { rule: 'lint', isUsed: has('go.mod', 'goimports'), argv: ['goimports', '-w', '.'] },
  {
    rule: 'lock',
    isUsed: has('package-lock.json', 'npm'),
    argv: ['npm', 'install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund'],
  },
  {
    rule: 'lock',
    isUsed: has('pnpm-lock.yaml', 'pnpm'),
    argv: ['pnpm', 'install', '--lockfile-only', '--ignore-scripts'],
  },
  { rule: 'lock', isUsed: has('uv.lock', 'uv'), argv: ['uv', 'lock'] },
  { rule: 'lock', isUsed: has('poetry.lock', 'poetry'), argv: ['poetry', 'lock'] },
  { rule: 'lock', isUsed: has('go.sum', 'go'), argv: ['go', 'mod', 'tidy'] },
  { rule: 'lock', isUsed: has('Cargo.lock', 'cargo'), argv: ['cargo', 'update', '--workspace'] },
];

export interface RuleCommand {
  readonly rule: FixRule;
  readonly argv: readonly string[];
}

/**
 * Lists the commands of these rules that the tools of the project in `folder` offer. Programs are searched in
 * the folders of `path`, which has the format of PATH. `updating` is the failing command with options that
 * also write its snapshots.
 */
export function listRuleCommands(
  folder: string,
  path: string,
  rules: readonly FixRule[],
  updating: readonly string[] | null,
): RuleCommand[] {
  return rules.flatMap((rule): RuleCommand[] => {
    if (rule === 'snapshot') return updating === null ? [] : [{ rule, argv: updating }];
    return TOOLS.filter((tool) => tool.rule === rule && tool.isUsed(folder, path)).map(({ argv }) => ({
      rule,
      argv,
    }));
  });
}

function isInstalled(tool: string): Tool['isUsed'] {
  return (folder) => existsSync(join(folder, 'node_modules/.bin', tool));
}

function has(file: string, program: string): Tool['isUsed'] {
  return (folder, path) => existsSync(join(folder, file)) && isOnPath(program, path);
}

/** Creates a check whether one of the files belongs to the tool or has a section for it. */
function createFileCheck(files: readonly string[], tool: string): Tool['isUsed'] {
  const isAbout = (file: string) =>
    existsSync(file) &&
    (file.endsWith(`${tool}.toml`) || readFileSync(file, 'utf8').includes(`[tool.${tool}`));
  return (folder, path) => isOnPath(tool, path) && files.some((file) => isAbout(join(folder, file)));
}

function isOnPath(program: string, path: string): boolean {
  return path.split(delimiter).some((folder) => existsSync(join(folder, program)));
}
