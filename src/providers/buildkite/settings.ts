import { z } from 'zod';
import { apiAddress, credential, setting, webhookSecrets } from '../../config/variable.ts';

/** Buildkite: what it sends, and where logs are read. */
export const BuildkiteSettings = z.object({
  webhookSecrets: webhookSecrets(
    'FAULTLINE_BUILDKITE_WEBHOOK_SECRET',
    'Token of the Buildkite webhook, sent as it is or used to sign. Two, separated by a comma, during rotation.',
  ),
  baseUrl: setting(
    'FAULTLINE_BUILDKITE_URL',
    apiAddress((text) => text.replace(/\/$/, '')).default('https://api.buildkite.com/v2'),
    "URL of Buildkite's API.",
  ),
  token: credential(
    'FAULTLINE_BUILDKITE_TOKEN',
    'API access token with the scopes read_builds, read_build_logs and, for artifacts, read_artifacts.',
  ),
});
export type BuildkiteSettings = z.infer<typeof BuildkiteSettings>;
