import type { Extractor } from '../extraction.ts';

/** A command line as CI systems echo it: `$ npm ci`, `+ mvn verify`, `##[group]Run go test ./...`, npm's `> jest`. */
const ECHO =
  /^(?:\$ |\+{1,2} |##\[(?:group\]Run|command\])\s?|> |\[command\]|Run )(?:(?:sudo|time|env|exec|npx|pnpm exec|yarn|poetry run|uv run|bundle exec|python3? -m|\S{0,100}\/python3? -m|timeout \S{1,20}|[A-Z_]{1,40}=\S{0,100}) ){0,4}(?:\S{0,100}\/)?(?<tool>[\w.+-]{1,30})/;

/** Tools by the name of their program. */
const TOOLS: Readonly<Record<string, string>> = {
  npm: 'npm',
  yarn: 'yarn',
  pnpm: 'pnpm',
  node: 'node',
  jest: 'jest',
  vitest: 'vitest',
  mocha: 'mocha',
  tsc: 'tsc',
  eslint: 'eslint',
  prettier: 'prettier',
  mvn: 'maven',
  mvnw: 'maven',
  gradle: 'gradle',
  gradlew: 'gradle',
  pip: 'pip',
  pip3: 'pip',
  pytest: 'pytest',
  tox: 'tox',
  poetry: 'poetry',
  uv: 'uv',
  cargo: 'cargo',
  go: 'go',
  make: 'make',
  cmake: 'cmake',
  ctest: 'ctest',
  gcc: 'gcc',
  'g++': 'gcc',
  docker: 'docker',
  bundle: 'bundler',
  rspec: 'rspec',
  composer: 'composer',
  phpunit: 'phpunit',
  dotnet: 'dotnet',
  terraform: 'terraform',
}; // prettier-ignore

const LOOKED_AT = 5_000;

/** The tools that ran, whether or not they complained: the commands that the log echoes. */
export const commands: Extractor = {
  name: 'commands',
  literals: Object.keys(TOOLS).map((tool) => `${tool} `),
  extract: (log, lines, found) => {
    for (const line of lines.slice(0, LOOKED_AT)) {
      const tool = TOOLS[ECHO.exec(log.line(line).slice(0, 400))?.groups?.tool ?? ''];
      if (tool !== undefined) found.toolchains.add(tool);
    }
  },
};
