import { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import { NoticeAbout } from '../domain/notice.ts';
import type { WorkHandler } from '../ports/work.ts';
import type { NoticeStore } from '../stores/notices.ts';
import type { PublicationStore } from '../stores/publications.ts';
import type { Stores } from '../stores/stores.ts';
import type { WorkStore } from '../stores/work.ts';
import type { AnswerPublisher, ChannelParts, MessageChannel, Messenger, NoticePublisher } from './channel.ts';
import { type SendLimits, sendHandler } from './deliver.ts';
import { TargetPayload } from './match-rules.ts';
import { readNews } from './news.ts';

interface AnswerDeps extends SendLimits {
  readonly stores: {
    readonly publications: Pick<PublicationStore, 'obsolete'>;
    readonly builds: Pick<Stores['builds'], 'find'>;
    readonly analyses: Pick<Stores['analyses'], 'find'>;
  };
}

const AnswerPayload = z.object({ analysisId: z.string() });

/**
 * Creates the handler that publishes answers, each once. An answer that a person or a passed build has
 * overtaken is not published.
 */
export function createAnswerHandler(
  channel: string,
  publisher: AnswerPublisher,
  { stores, ...limits }: AnswerDeps,
): WorkHandler {
  return sendHandler(
    `publish:${channel}`,
    async ({ buildId, payload }) => {
      if (buildId === null) return { outcome: 'failed', error: 'The build of this answer is not named.' };
      const { analysisId } = AnswerPayload.parse(payload);
      const why = await stores.publications.obsolete(analysisId);
      if (why !== null) return { outcome: 'superseded', error: why };
      const [build, analysis] = [await stores.builds.find(buildId), await stores.analyses.find(analysisId)];
      if (build === null || analysis === null)
        return { outcome: 'failed', error: 'The answer to publish is no longer stored.' };
      return { publisher, known: { build, analysis }, to: null };
    },
    limits,
  );
}

interface NoticeDeps extends SendLimits {
  readonly work: Pick<WorkStore, 'isCurrent' | 'release'>;
  readonly notices: Pick<NoticeStore, 'situation'>;
}

const NoticePayload = z.object({ repository: z.string(), about: NoticeAbout });

/** Creates the handler that keeps the published notices up to date. */
export function createNoticeHandler(
  channel: string,
  publisher: NoticePublisher,
  { work, notices, ...limits }: NoticeDeps,
): WorkHandler {
  return sendHandler(
    `notice:${channel}`,
    async (entry) => {
      const to = NoticePayload.parse(entry.payload);
      const known = await notices.situation(to.about);
      // A change may have been read before it is due. A decision that is undone within its delay must
      // never be shown.
      if (await work.isCurrent(entry)) return { publisher, known, to };
      await work.release(entry, null, 0);
      return null;
    },
    limits,
  );
}

interface MessageDeps extends SendLimits {
  readonly stores: Pick<Stores, 'notificationRules' | 'notices'>;
  readonly publicUrl: string | null;
}

/**
 * Creates the handler that sends the messages of rules. Without a messenger, each message fails with the name
 * of the missing setting.
 */
export function createMessageHandler(
  channel: string,
  { label }: Pick<MessageChannel, 'label'>,
  messenger: Messenger | null,
  { stores, publicUrl, ...limits }: MessageDeps,
): WorkHandler {
  const { notificationRules, notices } = stores;
  return sendHandler(
    `message:${channel}`,
    async ({ key, payload }) => {
      if (messenger === null) throw new TriageError('invalid-config', `${label} is not configured.`);
      const { ruleId, target } = TargetPayload.parse(payload);
      const [rule, owners, matches] = await Promise.all([
        notificationRules.find(ruleId),
        notificationRules.owners(),
        notificationRules.matches(key),
      ]);
      const known =
        rule === null
          ? null
          : await readNews({ rule, matches, owners, isTest: false }, { notices, publicUrl });
      if (known === null) return { outcome: 'skipped' };
      return { publisher: messenger, known, to: target.slice(channel.length + 1) };
    },
    limits,
  );
}

/**
 * Opens a channel for messages, which never sends to a refused destination. Returns null if it is not
 * configured.
 */
export async function openMessenger(
  { destinations, refusal, open }: MessageChannel,
  parts: ChannelParts,
): Promise<Messenger | null> {
  if (open === null) return null;
  const publisher = await open(parts);
  return {
    ...publisher,
    destinations,
    refusal,
    send: async (content, call) => {
      const wrong = refusal(call.to);
      if (wrong !== null) throw new TriageError('invalid-input', wrong);
      return await publisher.send(content, call);
    },
  };
}
