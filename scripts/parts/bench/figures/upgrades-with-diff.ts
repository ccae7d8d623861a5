import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { type ReplayedFigures, replaySet } from './replayed.ts';

const Row = z.looseObject({
  id: z.string(),
  log_path: z.string(),
  upgrade: z.object({ group: z.string(), artifact: z.string(), from: z.string(), to: z.string() }),
});
type Row = z.infer<typeof Row>;
/** One in this many rows gets a repository. */
const EVERY = 5;

/**
 * Replays logs of upgrades with a repository whose last commit is the upgrade, which is one line of pom.xml.
 */
export async function replayWithDiff(path: string): Promise<ReplayedFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-upgrades-'));
  try {
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    const rows = lines.filter((_, at) => at % EVERY === 0).map((line) => Row.parse(JSON.parse(line)));
    const withRepository = rows.map((row, at) => {
      const repository = join(folder, `${at}`);
      const log = resolve(dirname(path), row.log_path);
      return { ...row, log_path: log, repo_path: repository, commit: commitUpgrade(repository, row) };
    });
    const set = join(folder, 'upgrades.jsonl');
    writeFileSync(set, withRepository.map((row) => `${JSON.stringify(row)}\n`).join(''));
    return await replaySet(set);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Creates a repository with two commits. Returns the second one, which changes the version. */
function commitUpgrade(repository: string, { upgrade }: Row): string {
  mkdirSync(repository);
  const git = (...args: string[]) =>
    execFileSync(
      'git',
      ['-C', repository, '-c', 'user.name=ci', '-c', 'user.email=ci@example.org', ...args],
      {
        encoding: 'utf8',
      },
    ).trim();
  git('init', '--quiet', '--initial-branch', 'main');
  for (const version of [upgrade.from, upgrade.to]) {
    writeFileSync(join(repository, 'pom.xml'), writePom(upgrade, version));
    git('add', 'pom.xml');
    git('commit', '--quiet', '--message', 'Change pom.xml');
  }
  return git('rev-parse', 'HEAD');
}

function writePom({ group, artifact }: Row['upgrade'], version: string): string {
  const dependency = [
    '    <dependency>',
    `      <groupId>${group}</groupId>`,
    `      <artifactId>${artifact}</artifactId>`,
    `      <version>${version}</version>`,
    '    </dependency>',
  ];
  return ['<project>', '  <dependencies>', ...dependency, '  </dependencies>', '</project>', ''].join('\n');
}
