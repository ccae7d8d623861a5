import { createTransport, type SentMessageInfo, type Transporter } from 'nodemailer';
import { z } from 'zod';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import { settleOrAbort } from '../lib/time.ts';

/** An SMTP server. It may be in a private network, because it is configured. */
export interface SmtpServer {
  readonly url: string;
  /** The time limit of one response, in milliseconds. */
  readonly timeLimitMs: number;
}

/**
 * Opens a connection to the server, uses it, and closes it. Throws TriageError, and the reason of the signal.
 */
export async function withTransport<Result>(
  { url, timeLimitMs }: SmtpServer,
  signal: AbortSignal,
  use: (transport: Transporter<SentMessageInfo>) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  const { protocol, hostname, port, username, password } = new URL(url);
  const isSecure = protocol === 'smtps:';
  const user = decodeURIComponent(username);
  const limits = {
    connectionTimeout: timeLimitMs,
    greetingTimeout: timeLimitMs,
    socketTimeout: timeLimitMs,
    dnsTimeout: timeLimitMs,
  };
  const transport = createTransport({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (isSecure ? 465 : 587) : Number(port),
    secure: isSecure,
    ...(user !== '' && { auth: { user, pass: decodeURIComponent(password) } }),
    // A password is sent over a network only if the connection is encrypted.
    requireTLS: !isSecure && user !== '' && !/^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname),
    ...limits,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    return await settleOrAbort(use(transport), signal);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw toTriageError(error);
  } finally {
    transport.close();
  }
}

const Thrown = z.object({ code: z.string().optional(), responseCode: z.int().optional() });

/**
 * Converts an error of SMTP: 4xx is temporary, 5xx is not. Its own message may contain addresses, so only the
 * code is repeated.
 */
function toTriageError(error: unknown): TriageError {
  const { code, responseCode } = Thrown.safeParse(error).data ?? {};
  if (code === 'EAUTH')
    return new TriageError(
      'upstream-auth',
      'The SMTP server does not accept the user or password in FAULTLINE_SMTP_URL.',
      {
        cause: error,
      },
    );
  if (responseCode !== undefined)
    return new TriageError('upstream-failed', `The SMTP server returned ${responseCode}.`, {
      retryable: responseCode < 500,
      cause: error,
    });
  if (code === 'ETLS')
    return new TriageError(
      'upstream-failed',
      'The SMTP server offers no encryption, so the password was not sent.',
      { cause: error },
    );
  if (code === undefined)
    return new TriageError('internal', `The e-mail could not be written: ${getErrorMessage(error)}`, {
      cause: error,
    });
  return new TriageError('upstream-failed', `The SMTP server could not be reached (${code}).`, {
    retryable: true,
    cause: error,
  });
}
