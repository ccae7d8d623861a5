import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import { acceptDelivery } from './accept-delivery.ts';
import { WebhookAnswer } from './answers.ts';
import type { IntakeDeps } from './intake-deps.ts';
import { GenericEvent, NotificationEvent, readJenkinsEvent } from './jenkins-events.ts';
import { parseJson, sha256, storable } from './read-input.ts';
import type { Delivery } from './record-build.ts';
import { checkSigned, checkToken } from './signature.ts';
import { headerOf, keepRawBodies, rawBody } from './webhook-body.ts';

const JenkinsHeaders = z.object({
  'x-faultline-id': z.string().optional().describe('Delivery ID; each ID is accepted once.'),
  'x-faultline-timestamp': z.string().optional().describe("Unix time in seconds; at most 5 minutes from the server's time."),
});
const JenkinsQuery = z.object({ token: z.string().optional() });

/** Characters kept of a log that comes with an event: it lies in the database until the build is recorded. */
const MAX_LOG = 256 * 1024;

/** `POST /webhooks/jenkins`: the Notification plugin's shape or the generic one, signed or with a token. */
export function registerJenkinsWebhook(app: FastifyInstance, deps: IntakeDeps): void {
  keepRawBodies(app);
  app.post(
    '/webhooks/jenkins',
    {
      config: { access: { signature: 'jenkins' }, rateLimit: false },
      validatorCompiler: () => (value) => ({ value }),
      schema: {
        tags: ['Intake'],
        operationId: 'receiveJenkinsWebhook',
        summary: 'Jenkins and generic webhook',
        description:
          'Accepts events of the Notification plugin (acting once a build is COMPLETED or FINALIZED) and generic build events. Sign the request (X-Faultline-Signature) or, because the plugin cannot sign, send the secret in X-Faultline-Token or `?token=`.',
        headers: JenkinsHeaders,
        body: z.union([NotificationEvent, GenericEvent]),
        response: { 202: WebhookAnswer },
      },
    },
    async (request, reply) => {
      const body = rawBody(request);
      const signedId = authenticate(request, body, deps);
      const reading = readJenkinsEvent(parseJson('The body', body.toString('utf8')));
      reply.status(202);
      if ('ignored' in reading) {
        deps.logger.info({ source: 'jenkins', deliveryId: signedId, reason: reading.ignored }, 'delivery ignored');
        return reading;
      }
      const bodySha256 = sha256(body);
      const delivery: Delivery = { source: 'jenkins', deliveryId: signedId ?? bodySha256, event: reading.event, bodySha256 };
      const { build, testResults } = reading;
      const { answer, repeated } = await acceptDelivery(deps, delivery, { build, testResults, log: await endOfLog(reading.log, deps) });
      if (repeated && signedId !== null) throw replayed(signedId, answer.links.delivery);
      return answer;
    },
  );
}

/** Masked before it is cut, so that no half of a secret is left. */
async function endOfLog(log: string | null | undefined, { masker }: Pick<IntakeDeps, 'masker'>): Promise<string | null> {
  if (log == null || log.trim() === '') return null;
  return storable((await masker.mask(log)).text.slice(-MAX_LOG));
}

/** The id under which the sender signed, or null where it showed a token. Throws `unauthenticated`. */
function authenticate(request: FastifyRequest, body: Buffer, deps: IntakeDeps): string | null {
  const secrets = deps.settings.webhooks.jenkinsSecrets;
  const token = headerOf(request, 'x-faultline-token') ?? queryToken(request);
  const signature = headerOf(request, 'x-faultline-signature');
  if (signature === undefined && token !== undefined) {
    checkToken(token, secrets);
    return null;
  }
  const headers = { id: headerOf(request, 'x-faultline-id'), timestamp: headerOf(request, 'x-faultline-timestamp'), signature };
  return checkSigned(body, headers, secrets, deps.clock.now()).id;
}

function queryToken(request: FastifyRequest): string | undefined {
  const query = JenkinsQuery.safeParse(request.query);
  return query.success ? query.data.token : undefined;
}

function replayed(id: string, link: string): TriageError {
  return new TriageError('conflict', `The delivery ${id} was already accepted (${link}). A new event needs a new X-Faultline-Id.`);
}
