import { createChannels } from '../channels/registry.ts';
import { createProviders } from '../providers/registry.ts';
import type { Config } from './schema.ts';
import { extractPassword } from './variable.ts';

/**
 * Creates the masking options: the secrets of the process, and the names to hide in addition to them. Accepts
 * a partial configuration, because the terminal has no server and no database.
 */
export function createMaskingOptions(config: Partial<Config>) {
  const secrets = listOwnSecrets(config).map(({ secret }) => secret);
  const known = [
    ...secrets,
    ...(config.providers === undefined
      ? []
      : createProviders(config.providers).flatMap(({ secrets }) => secrets)),
    config.analyst?.llm.apiKey,
    config.analyst?.llm.azure.apiKey,
    config.embedder?.openai.apiKey,
    config.webSearch?.apiKey,
    ...(config.channels === undefined
      ? []
      : createChannels(config.channels).flatMap(({ secrets }) => secrets)),
    ...(config.tracing?.headers?.split(/[=,]/) ?? []),
    ...(config.database?.driver === 'postgres'
      ? [config.database.url, config.database.readerUrl, config.database.ownerUrl].map(extractPassword)
      : []),
    config.jobQueue?.driver === 'bullmq' ? extractPassword(config.jobQueue.url) : null,
    config.buildArchive?.driver === 'mongodb' ? extractPassword(config.buildArchive.url) : null,
    config.vectorIndex?.driver === 'pinecone' ? config.vectorIndex.apiKey : null,
  ];
  return {
    known: [
      ...new Set(known.flatMap((secret) => (typeof secret === 'string' && secret !== '' ? [secret] : []))),
    ],
    own: secrets,
    names: toNames(config.mask ?? []),
  };
}

/**
 * Converts the setting to the masker's options. A suffix of private host names also enables the masking of
 * host names.
 */
function toNames(mask: Config['mask']) {
  const hostSuffixes = mask.filter((name) => name.startsWith('.'));
  return {
    emails: mask.includes('emails'),
    hosts: mask.includes('hosts') || hostSuffixes.length > 0,
    hostSuffixes,
  };
}

/** Lists the secrets that senders show to us, with the variable of each: tokens and webhook secrets. */
export function listOwnSecrets({
  auth,
  providers,
}: Partial<Config>): readonly { readonly setting: string; readonly secret: string }[] {
  const tokens = auth?.tokens.map(({ token }) => ({ setting: 'FAULTLINE_TOKENS', secret: token })) ?? [];
  const webhooks = providers === undefined ? [] : createProviders(providers);
  return [
    ...tokens,
    ...webhooks.flatMap(({ name, webhook }) =>
      webhook.secrets.map((secret) => ({
        setting: `FAULTLINE_${name.toUpperCase()}_WEBHOOK_SECRET`,
        secret,
      })),
    ),
  ];
}
