import { readdirSync, readFileSync } from 'node:fs';

/**
 * Checks that only `src/cli` reads the environment and the arguments. All other code gets its configuration
 * passed.
 */
const FOLDERS = ['src', 'graphs', 'prompts'] as const;
const FORBIDDEN = /process\s*\.\s*(?:env|argv)\b|process\s*\[|from 'node:process'/;

const offenders = FOLDERS.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`),
)
  .filter((file) => !file.startsWith('src/cli/'))
  .flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, index) => (FORBIDDEN.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
  );
for (const offender of offenders) console.error(offender);
process.exit(offenders.length > 0 ? 1 : 0);
