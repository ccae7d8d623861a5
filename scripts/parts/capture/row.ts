import type { Quote, Recipe } from './truth.ts';

/** One failure of one tool: the project, the step that fails and the lines that say why. Rows of `tools/*.ts` are these. */
export interface ToolRow {
  /** The fixture's folder, which starts with the tool's name. */
  readonly slug: string;
  readonly tool: string;
  /** True when the tool has no reader of its own in `src/log/extract` and never shall, or no rule may be written for the failure. */
  readonly heldOut: boolean;
  /** What failed. Decided by reading the log, never by asking Faultline. */
  readonly category: Recipe['category'];
  /** Other categories that a reader could defend. */
  readonly alsoOk?: readonly Recipe['category'][];
  /** Commands that run before the job and never show in the log. */
  readonly setup?: string;
  /** Prints the tool's version. Runs after the job and never shows in the log. */
  readonly version?: string;
  /** Debian packages that the row needs; those that the machine lacks are installed. */
  readonly debian?: readonly string[];
  /** The project: the text of each file by its path. */
  readonly files: Readonly<Record<string, string>>;
  /** What makes the same job pass: a file's whole text, or words of it and what to write instead. Without it there is no green log. */
  readonly green?: Readonly<Record<string, string | readonly [words: string, instead: string]>>;
  /** Shown environment of all steps. */
  readonly env?: Readonly<Record<string, string>>;
  /** The commands of an earlier step, shown in the log, which passes. */
  readonly before?: string;
  /** The commands of the step that fails. */
  readonly run: string;
  /** Seconds after which the CI system cancels the failing step, without saying why. */
  readonly cancelAfter?: number;
  readonly exitCode: number;
  /** `none`: no network. Otherwise what packages.example.test does with every request: a name of `upstream.ts`. */
  readonly network?:
    | 'none'
    | 'unavailable'
    | 'not-found'
    | 'rate-limited'
    | 'unauthorized'
    | 'resetting'
    | 'crawling';
  /** The fewest lines of the failing step that a person would quote as the reason, never how it ends. */
  readonly telling: readonly Quote[];
}

/** Installs npm packages into the project, and tells the version of the first. */
export function npm(...packages: readonly string[]): Pick<ToolRow, 'setup' | 'version'> {
  const first = (packages[0] ?? '').replace(/(?<=.)@.*/, '');
  return {
    setup: `npm install --no-audit --no-fund --no-save --prefer-offline ${packages.join(' ')}`,
    version: `node -p "require('./node_modules/${first}/package.json').version"`,
  };
}

/** Installs Python packages for the user, as an earlier step of a job does, and tells the version of the first. */
export function pip(...packages: readonly string[]): Pick<ToolRow, 'setup' | 'version'> {
  const first = (packages[0] ?? '').replace(/[[=<>~!].*/, '');
  return {
    setup: `python3 -m pip install --user --no-warn-script-location ${packages.map((name) => `'${name}'`).join(' ')}`,
    version: `python3 -m pip show ${first} | sed -n 's/^Version: //p'`,
  };
}

/** A tool of Debian's; tells the version of the first package. */
export function debian(...packages: readonly string[]): Pick<ToolRow, 'debian' | 'version'> {
  return { debian: packages, version: `dpkg -s ${packages[0] ?? ''} | sed -n 's/^Version: //p'` };
}

/** A command that is a Go module, which is built for the job where the machine lacks it; tells the module's version. */
export function goTool(source: string): Pick<ToolRow, 'setup' | 'version'> {
  const name = source.replace(/(?:\/v\d+)?@.*/, '').replace(/^.*\//, '');
  return {
    setup: `command -v ${name} || GOBIN="$HOME/.local/bin" go install ${source}`,
    version: `go version -m "$(command -v ${name})" | grep -w mod`,
  };
}
