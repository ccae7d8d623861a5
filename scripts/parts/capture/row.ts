import type { Quote, Recipe } from './truth.ts';

/**
 * A failure of a tool: the project, the failing step, and the lines that state why. The rows of `tools/*.ts`
 * have this type.
 */
export interface ToolRow {
  /** The folder of the fixture. It begins with the name of the tool. */
  readonly slug: string;
  readonly tool: string;
  /** True if no reader in `src/log/extract` and no rule may be written for the failure. */
  readonly heldOut: boolean;
  /** The category. It was decided by reading the log, never by asking Faultline. */
  readonly category: Recipe['category'];
  /** Other acceptable categories. */
  readonly alsoOk?: readonly Recipe['category'][];
  /** Commands that run before the job. They are not in the log. */
  readonly setup?: string;
  /** The command that prints the tool's version. It runs after the job and is not in the log. */
  readonly version?: string;
  /** Debian packages that the row needs. Missing ones are installed. */
  readonly debian?: readonly string[];
  /** The project: the text of each file by its path. */
  readonly files: Readonly<Record<string, string>>;
  /**
   * The changes with which the same job passes: the whole text of a file, or words and their replacement. If
   * absent, there is no passing log.
   */
  readonly green?: Readonly<Record<string, string | readonly [words: string, instead: string]>>;
  /** The variables of all steps, which the log shows. */
  readonly env?: Readonly<Record<string, string>>;
  /** The commands of an earlier step, which passes and is in the log. */
  readonly before?: string;
  /** The commands of the failing step. */
  readonly run: string;
  /** The number of seconds after which the CI system cancels the failing step without stating a reason. */
  readonly cancelAfter?: number;
  readonly exitCode: number;
  /**
   * `none` means no network. Otherwise, the behavior of packages.example.test for every request: a name in
   * `upstream.ts`.
   */
  readonly network?:
    | 'none'
    | 'unavailable'
    | 'not-found'
    | 'rate-limited'
    | 'unauthorized'
    | 'resetting'
    | 'crawling';
  /**
   * The smallest number of lines of the failing step that a person would quote as the reason, without those
   * that only say how it ended.
   */
  readonly telling: readonly Quote[];
}

/** Installs npm packages into the project, and prints the version of the first. */
export function createNpmTool(...packages: readonly string[]): Pick<ToolRow, 'setup' | 'version'> {
  const first = (packages[0] ?? '').replace(/(?<=.)@.*/, '');
  return {
    setup: `npm install --no-audit --no-fund --no-save --prefer-offline ${packages.join(' ')}`,
    version: `node -p "require('./node_modules/${first}/package.json').version"`,
  };
}

/**
 * Installs Python packages for the user, like an earlier step of a job, and prints the version of the first.
 */
export function createPipTool(...packages: readonly string[]): Pick<ToolRow, 'setup' | 'version'> {
  const first = (packages[0] ?? '').replace(/[[=<>~!].*/, '');
  return {
    setup: `python3 -m pip install --user --no-warn-script-location ${packages.map((name) => `'${name}'`).join(' ')}`,
    version: `python3 -m pip show ${first} | sed -n 's/^Version: //p'`,
  };
}

/** Installs Debian packages, and prints the version of the first. */
export function createDebianTool(...packages: readonly string[]): Pick<ToolRow, 'debian' | 'version'> {
  return { debian: packages, version: `dpkg -s ${packages[0] ?? ''} | sed -n 's/^Version: //p'` };
}

/** Builds a command from a Go module if it is missing, and prints the version of the module. */
export function createGoTool(source: string): Pick<ToolRow, 'setup' | 'version'> {
  const name = source.replace(/(?:\/v\d+)?@.*/, '').replace(/^.*\//, '');
  return {
    setup: `command -v ${name} || GOBIN="$HOME/.local/bin" go install ${source}`,
    version: `go version -m "$(command -v ${name})" | grep -w mod`,
  };
}
