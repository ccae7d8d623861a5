import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CANARIES } from './canaries.ts';
import { ALL, joinLines } from './injections.ts';

/** A clone in which every text is in a file of its own and in a commit message of its own. */
export interface HostileRepository {
  readonly folder: string;
  /** The file that holds the text with this name, on line 3. */
  findFile(name: string): string;
  /** The newest commit whose message is the text with this name. */
  findCommit(name: string): string;
  /** The file that this commit changed. */
  changedBy(name: string): string;
  remove(): void;
}

/** Creates the clone. Next to it is a file with a secret, to which a link in the clone leads. */
export function createHostileRepository(): HostileRepository {
  const home = mkdtempSync(join(tmpdir(), 'faultline-hostile-'));
  const folder = join(home, 'clone');
  writeFileSync(join(home, 'outside.txt'), `${CANARIES.outside}\n`);
  const env = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
  const git = (args: readonly string[], input?: string) =>
    execFileSync('git', ['-C', folder, ...args], {
      env,
      encoding: 'utf8',
      ...(input === undefined ? {} : { input }),
    }).trim();
  execFileSync('git', ['init', '--quiet', '--initial-branch=main', folder], { env });
  git(['fast-import', '--quiet', '--date-format=raw'], stream());
  // Newest first; the first commit holds the files.
  const commits = git(['log', '--format=%H', 'main']).split('\n').reverse().slice(1);
  const findPosition = (name: string) => ALL.findIndex((injection) => injection.name === name);
  return {
    folder,
    findFile: (name) => `src/parse/part-${findPosition(name)}.ts`,
    findCommit: (name) => commits[findPosition(name)] ?? '',
    changedBy: (name) => `src/money/item-${findPosition(name)}.ts`,
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** What `git fast-import` reads: one process instead of two for every commit. */
function stream(): string {
  const who = (at: number) => `Ada <ada@example.test> ${1_767_225_600 + at * 3_600} +0000`;
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const commit = (at: number, message: string) =>
    `commit refs/heads/main\nauthor ${who(at)}\ncommitter ${who(at)}\n${data(message)}`;
  const file = (path: string, text: string, mode = '100644') => `M ${mode} inline ${path}\n${data(text)}`;
  const files = ALL.map(({ text }, index) =>
    file(
      `src/parse/part-${index}.ts`,
      `export function parse(text: string): number {\n  // part ${index}\n  // ${joinLines(text)}\n  return text;\n}\n`,
    ),
  );
  const items = ALL.map((_one, index) =>
    file(`src/money/item-${index}.ts`, 'export const rate = 1;\nexport const other = 2;\n'),
  );
  const link = file('docs/outside.txt', '../../outside.txt', '120000');
  const changes = ALL.map(({ text }, index) =>
    [
      commit(index + 1, text),
      file(`src/money/item-${index}.ts`, "export const rate = 1;\nexport const other: number = 'two';\n"),
    ].join(''),
  );
  return [commit(0, 'A shop'), ...files, ...items, link, ...changes].join('');
}
