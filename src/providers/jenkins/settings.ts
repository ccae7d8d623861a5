import { z } from 'zod';
import type { Variable } from '../../config/variable.ts';

/** Jenkins: what it sends, where consoles are read, and whether builds are described there. */
export const JenkinsSettings = z.object({
  webhookSecrets: z.array(z.string().min(8)).default([]),
  /** Builds elsewhere are never fetched and never spoken of. Null: none are. */
  baseUrl: z.url().nullable().default(null),
  user: z.string().nullable().default(null),
  /** An API token of that user; it needs no crumb. */
  token: z.string().nullable().default(null),
  /** Written with that token, whose user then needs the right Run/Update. */
  description: z.enum(['off', 'html', 'text']).default('off'),
});
export type JenkinsSettings = z.infer<typeof JenkinsSettings>;

export const JENKINS_VARIABLES: readonly Variable[] = [
  {
    name: 'FAULTLINE_JENKINS_WEBHOOK_SECRET',
    path: 'providers.jenkins.webhookSecrets',
    type: 'list',
    secret: true,
    meaning: 'Jenkins webhook secret or token. Two, separated by a comma, during rotation.',
  },
  {
    name: 'FAULTLINE_JENKINS_URL',
    path: 'providers.jenkins.baseUrl',
    type: 'text',
    meaning: 'Base URL of Jenkins. Builds elsewhere are not fetched.',
  },
  { name: 'FAULTLINE_JENKINS_USER', path: 'providers.jenkins.user', type: 'text', meaning: 'User of the Jenkins API token.' },
  { name: 'FAULTLINE_JENKINS_TOKEN', path: 'providers.jenkins.token', type: 'text', secret: true, meaning: 'Jenkins API token.' },
  {
    name: 'FAULTLINE_JENKINS_DESCRIPTION',
    path: 'providers.jenkins.description',
    type: 'text',
    meaning:
      "Whether to write answers to the description of Jenkins builds: off, html (if the Jenkins markup formatter is Safe HTML) or text. The API token's user needs the permission Run/Update.",
  },
];
