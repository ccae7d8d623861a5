import { askSlack } from '../app/open-slack.ts';
import type { Config } from '../config/schema.ts';
import { type Examination, type Finding, note, ok } from './doctor-finding.ts';

const NAME = 'slack';

/** Whether Slack takes the token, and whether somebody may press the buttons. Nothing where Slack is not used. */
export function slackExaminations({ slack }: Pick<Config, 'slack'>): Examination[] {
  if (slack.token === null) return [];
  return [
    {
      name: NAME,
      mend: `create a new bot token with the scope chat:write and set FAULTLINE_SLACK_TOKEN; can this machine reach ${slack.baseUrl}?`,
      ask: async (signal) => [...(await found(slack, signal)), ...buttonFindings(slack)],
    },
  ];
}

async function found(slack: Config['slack'], signal: AbortSignal): Promise<Finding[]> {
  const who = await askSlack({ slack }, signal);
  if (slack.channel === null && Object.keys(slack.channels).length === 0)
    return [note(NAME, `signed in as ${who}, but no channel is set`, 'set FAULTLINE_SLACK_CHANNEL to a channel ID')];
  return [ok(NAME, `signed in as ${who}`)];
}

function buttonFindings({ signingSecrets, reviewers }: Config['slack']): Finding[] {
  const name = 'slack buttons';
  if (signingSecrets.length === 0)
    return [note(name, 'off: messages have no Right and Wrong buttons', 'set FAULTLINE_SLACK_SIGNING_SECRET to decide in Slack')];
  if (reviewers.length === 0)
    return [note(name, 'nobody may use them', 'set FAULTLINE_SLACK_REVIEWERS to the member IDs of your reviewers')];
  return [ok(name, `${reviewers.length} ${reviewers.length === 1 ? 'member' : 'members'} may decide`)];
}
