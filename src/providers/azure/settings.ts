import { z } from 'zod';
import { setting } from '../../config/variable.ts';

/** Azure Pipelines: what it sends, and where logs are read. */
export const AzureSettings = z.object({
  webhookSecrets: setting(
    'FAULTLINE_AZURE_WEBHOOK_SECRET',
    z.array(z.string().min(8)).default([]),
    'Password of the Azure DevOps service hook, or the value of its header X-Faultline-Token. Two, separated by a comma, during rotation.',
    { secret: true },
  ),
  /** Null: nothing is asked. */
  baseUrl: setting(
    'FAULTLINE_AZURE_URL',
    z
      .url({ protocol: /^https?$/ })
      .transform((text) => text.replace(/\/$/, ''))
      .nullable()
      .default(null),
    'URL of the Azure DevOps organization, such as https://dev.azure.com/acme, or of a collection of Azure DevOps Server.',
  ),
  token: setting('FAULTLINE_AZURE_TOKEN', z.string().nullable().default(null), 'Personal access token with the scope Build (Read).', {
    secret: true,
  }),
});
export type AzureSettings = z.infer<typeof AzureSettings>;

/** A personal access token is a password without a user. */
export function basicOf(token: string): string {
  return `Basic ${Buffer.from(`:${token}`).toString('base64')}`;
}
