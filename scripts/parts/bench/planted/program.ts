/** A replacement in a file. If the file does not exist, it is created with `to`. */
export interface Edit {
  readonly path: string;
  readonly from: string;
  readonly to: string;
}

export interface PlannedCommit {
  readonly author: string;
  readonly message: string;
  readonly edits: readonly Edit[];
}

export const PLANTS = ['removed check', 'changed default', 'renamed key', 'off-by-one'] as const;
export type Plant = (typeof PLANTS)[number];

/**
 * A small program with its tests, harmless commits after its passing build, and faults to plant among them.
 */
export interface Program {
  readonly name: string;
  readonly language: 'JavaScript' | 'Python' | 'Go' | 'Ruby' | 'PHP';
  /** The command that runs the tests in the folder of the repository. */
  readonly test: readonly string[];
  /** The history up to the passing build. */
  readonly founding: readonly PlannedCommit[];
  /** Changes after the passing build that break nothing. */
  readonly harmless: readonly PlannedCommit[];
  readonly plants: Readonly<Record<Plant, PlannedCommit>>;
}

export function create(path: string, ...lines: readonly string[]): Edit {
  return createFile(path, lines);
}

export function createFile(path: string, lines: readonly string[]): Edit {
  return { path, from: '', to: `${lines.join('\n')}\n` };
}

export function replace(path: string, from: string, to: string): Edit {
  return { path, from, to };
}
