import { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import { RIGHT_BUTTON, WRONG_BUTTON } from '../ports/chat-room.ts';

/** A button that decides, and who pressed it where. */
export interface SlackPress {
  /** Slack's id of the press, once for each. */
  readonly id: string;
  readonly type: 'accept' | 'reject';
  readonly analysisId: string;
  /** Slack's id of the person. */
  readonly user: string;
  /** The name that Slack shows for it; the person may change it. */
  readonly userName: string | null;
  readonly channel: string;
}

/** Slack's `block_actions`, of it the fields we use. */
const Payload = z.object({
  type: z.string(),
  trigger_id: z.string().min(1).max(200).optional(),
  user: z.object({ id: z.string().regex(/^[A-Z0-9]{1,40}$/), username: z.string().optional() }).optional(),
  container: z.object({ channel_id: z.string().min(1).max(100).optional() }).optional(),
  actions: z.array(z.object({ action_id: z.string(), value: z.string().max(2000).optional() })).default([]),
});

const TYPES: Readonly<Record<string, SlackPress['type']>> = { [RIGHT_BUTTON]: 'accept', [WRONG_BUTTON]: 'reject' };

/**
 * What a signed request of Slack says: null where there is nothing to decide, as for a button that only opens an address. Throws
 * `invalid-input` for what is no interaction of Slack.
 */
export function readSlackPress(body: Buffer): SlackPress | null {
  const { type, trigger_id: id, user, container, actions } = payloadOf(body);
  const [action] = actions;
  const decision = action === undefined ? undefined : TYPES[action.action_id];
  const channel = container?.channel_id;
  if (type !== 'block_actions' || decision === undefined || action?.value === undefined || !action.value) return null;
  if (id === undefined || user === undefined || channel === undefined)
    throw new TriageError('invalid-input', 'A button press needs its trigger_id, user and channel.');
  return { id, type: decision, analysisId: action.value, user: user.id, userName: nameOf(user.username), channel };
}

function payloadOf(body: Buffer): z.infer<typeof Payload> {
  const text = new URLSearchParams(body.toString('utf8')).get('payload');
  try {
    return Payload.parse(JSON.parse(text ?? ''));
  } catch (cause) {
    throw new TriageError('invalid-input', "The body is not a Slack interaction: send a form with Slack's JSON in `payload`.", { cause });
  }
}

function nameOf(name: string | undefined): string | null {
  return name !== undefined && /^[\w.-]{1,80}$/.test(name) ? name : null;
}
