import { diagnosticExtractor } from './diagnostics.ts';

/** Meson: `meson.build:3:0: ERROR: …`. */
export const meson = diagnosticExtractor(
  'meson',
  ['meson.build:', 'meson-log.txt'],
  [
    {
      pattern: /^(?<file>\S{0,200}meson\.build):(?<line>\d{1,7}):(?<column>\d{1,5}): (?<severity>ERROR|WARNING): (?<message>.{1,400})/,
      weight: 80,
    },
  ],
);
