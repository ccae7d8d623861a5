/** The names, which no tool has. */
const NAMES = [
  'blorp',
  'zzqx',
  'frimble',
  'quonset-vark',
  'plimtorp',
  'gwazzle',
  'snorvik',
  'threnk',
  'ombrulax',
  'yindle',
] as const;

/** The ways in which tools describe a failure, with two invented names and a number to fill in. */
const SHAPES: readonly ((one: string, other: string, number: number) => string)[] = [
  (one, other, number) => `${one} ${other} ${number}`,
  (left, right) => `Error: ${left} ${right}`,
  (one, other, number) => `ERROR [${one}] ${other} is ${number}`,
  (left, right) => `fatal: ${left} could not ${right}`,
  (one, other, number) => `${one}: ${other} failed (${number})`,
  (one, other, number) => `E-${number} ${one} lost its ${other}`,
  (left, right) => `${left} wants a ${right}, and there is none`,
  (one, other, number) => `[${one}] !! ${other} @ 0x${number}f`,
  (left, right) => `The ${left} was ${right}ed by nobody.`,
  (one, other, number) => `${one}/${other}.${number}: unexpected ${other}`,
  (left, right) => `{"level":"error","msg":"${left} ${right}"}`,
  (one, other, number) => `${one}[${number}]: aborted by ${other}`,
  (left, right) => `❌ ${left} ${right}`,
];

/** The lines around the message, as systems print them. `%` is the message. */
const FRAMES = [
  'starting job\n%\n##[error]Process completed with exit code 1.\n',
  '##[group]Run ./ci/pack.sh\n./ci/pack.sh\nshell: /usr/bin/bash -e {0}\n##[endgroup]\n%\n##[error]Process completed with exit code 3.\n',
  "+ ./ci/pack.sh\n%\nBuild step 'Execute shell' marked build as failure\nFinished: FAILURE\n",
  '$ ./ci/pack.sh\n%\nERROR: Job failed: exit code 1\n',
  "##[section]Starting: Pack\n%\n##[error]Bash exited with code '1'.\n##[section]Finishing: Pack\n",
] as const;

/** The messages of tools that do not exist: each name in each form. */
export const INVENTED_MESSAGES: readonly string[] = NAMES.flatMap((one, at) =>
  SHAPES.map((shape, number) =>
    shape(one, NAMES[(at + (number % 9) + 1) % NAMES.length] ?? one, 17 + 10 * at + number),
  ),
);

/** Returns the log of a step that ended with a message; `frame` chooses among the CI systems. */
export function logOfMessage(message: string, frame: number): string {
  return (FRAMES[frame % FRAMES.length] ?? '%').replace('%', () => message);
}
