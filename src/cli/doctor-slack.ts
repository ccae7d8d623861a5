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
      mend: `make a new bot token with the scope chat:write and set FAULTLINE_SLACK_TOKEN; may this machine reach ${slack.baseUrl}?`,
      ask: async (signal) => [...(await found(slack, signal)), ...buttonFindings(slack)],
    },
  ];
}

async function found(slack: Config['slack'], signal: AbortSignal): Promise<Finding[]> {
  const who = await askSlack({ slack }, signal);
  if (slack.channel === null && Object.keys(slack.channels).length === 0)
    return [note(NAME, `we are ${who}, and speak in no channel`, 'set FAULTLINE_SLACK_CHANNEL to the id of a channel')];
  return [ok(NAME, `we are ${who}`)];
}

function buttonFindings({ signingSecrets, reviewers }: Config['slack']): Finding[] {
  const name = 'slack buttons';
  if (signingSecrets.length === 0)
    return [note(name, 'none: messages have no Right and Wrong', 'set FAULTLINE_SLACK_SIGNING_SECRET to decide in Slack')];
  if (reviewers.length === 0)
    return [note(name, 'nobody may decide with them', 'set FAULTLINE_SLACK_REVIEWERS to the ids of those who may')];
  return [ok(name, `${reviewers.length} ${reviewers.length === 1 ? 'member' : 'members'} may decide`)];
}
