import { type Connection, greetingId } from '../connection.ts';
import { hmacOf } from '../webhook.ts';

export function buildkiteConnection(): Connection {
  return {
    label: 'Buildkite',
    page: 'docs/start/buildkite.md',
    events: ['build.finished'],
    secretSetting: 'FAULTLINE_BUILDKITE_WEBHOOK_SECRET',
    tokenSetting: 'FAULTLINE_BUILDKITE_TOKEN',
    rights: [
      { right: 'read_builds, read_build_logs', why: 'jobs and their logs' },
      { right: 'read_artifacts', why: 'artifacts, such as test reports' },
    ],
    clicks: [
      'In the organization, open Settings → Notification Services → Webhook → Add.',
      'Enter the address as Webhook URL and the secret as Token, sent as X-Buildkite-Signature.',
      'Choose the event build.finished, and the pipelines.',
    ],
    greet: (secret, nowMs) => {
      const body = JSON.stringify({ event: 'ping' });
      const timestamp = Math.floor(nowMs / 1000);
      const signature = `timestamp=${timestamp},signature=${hmacOf(secret, `${timestamp}.`, body)}`;
      return { body, headers: { 'x-buildkite-event': 'ping', 'x-buildkite-request': greetingId(), 'x-buildkite-signature': signature } };
    },
    hooks: { because: 'the REST API of Buildkite does not offer webhooks' },
  };
}
