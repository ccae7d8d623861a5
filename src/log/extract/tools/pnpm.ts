import { diagnosticExtractor } from './diagnostics.ts';

/** pnpm: `ERR_PNPM_…`, with its explanation below. A failing script only points up. */
export const pnpm = diagnosticExtractor(
  'pnpm',
  ['err_pnpm', 'elifecycle'],
  [
    { pattern: /^\s?(?:\[)?(?<code>ERR_PNPM_RECURSIVE_\w{1,40})\]?\s{1,4}(?<message>.{1,400})/, weight: 46, pointer: true },
    {
      pattern: /^\s?\[?(?<code>ERR_PNPM_\w{1,60})\]?\s{1,4}(?<message>.{1,400})/,
      weight: 80,
      belongs: (line) => /^\s{2,200}\S|^$|^This error happened/.test(line) && line.length < 400,
    },
    { pattern: /^\s?(?<message>ELIFECYCLE\s{1,4}Command failed.{0,100})/, weight: 40, pointer: true },
  ],
); // prettier-ignore
