import { z } from 'zod';
import { setting } from '../../config/variable.ts';

/** Buildkite: what it sends, and where logs are read. */
export const BuildkiteSettings = z.object({
  webhookSecrets: setting(
    'FAULTLINE_BUILDKITE_WEBHOOK_SECRET',
    z.array(z.string().min(8)).default([]),
    'Token of the Buildkite webhook, sent as it is or used to sign. Two, separated by a comma, during rotation.',
    { secret: true },
  ),
  baseUrl: setting(
    'FAULTLINE_BUILDKITE_URL',
    z
      .url({ protocol: /^https?$/ })
      .transform((text) => text.replace(/\/$/, ''))
      .default('https://api.buildkite.com/v2'),
    "URL of Buildkite's API.",
  ),
  token: setting(
    'FAULTLINE_BUILDKITE_TOKEN',
    z.string().nullable().default(null),
    'API access token with the scopes read_builds, read_build_logs and, for artifacts, read_artifacts.',
    { secret: true },
  ),
});
export type BuildkiteSettings = z.infer<typeof BuildkiteSettings>;
