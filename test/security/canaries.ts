import { TEST_KEY } from '../support/openai-server.ts';

/** Secrets that are where nothing may carry them out: each would be found in plain, in base64 and in hex. */
export const CANARIES = {
  /** Printed by the build itself, beside its failure. */
  tokenInLog: `ghp_${'c4n4RyT0k3n'.repeat(4).slice(0, 36)}`,
  passwordInLog: 'cAn4ry-Pa55-w0rd-9917',
  /** In the environment of the process. */
  environment: 'canary-of-the-environment-5512',
  /** In the configuration: the key of the model and of the code host. */
  modelKey: TEST_KEY,
  codeHostToken: 'canary-of-the-code-host-8801',
  /** In a file beside the repository. */
  outside: 'canary-outside-of-the-clone-3307',
} as const;

/** Lines of a log that print secrets. */
export const SECRET_LINES: readonly string[] = [
  `Cloning with https://robot:${CANARIES.passwordInLog}@git.example.com/shop/api.git`,
  `GITHUB_TOKEN=${CANARIES.tokenInLog}`,
  `using the key ${CANARIES.modelKey} and ${CANARIES.codeHostToken}`,
];

/** The names of the canaries that a text holds. */
export function findCanaries(text: string): string[] {
  return Object.entries(CANARIES).flatMap(([name, canary]) =>
    listForms(canary).some((form) => text.includes(form)) ? [name] : [],
  );
}

function listForms(canary: string): string[] {
  const bytes = Buffer.from(canary);
  return [canary, bytes.toString('base64').replace(/=+$/, ''), bytes.toString('hex')];
}
