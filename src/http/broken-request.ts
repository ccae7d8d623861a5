import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorAnswer } from '../intake/answers.ts';
import type { Logger } from '../ports/telemetry.ts';

/** What a server's parser reports. It also holds the raw bytes, tokens and all, so only the code is ever read. */
interface ParserError {
  readonly code?: string | undefined;
}

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** Answers what is no HTTP request before any route can: in the same shape as every other refusal, and in the log. */
export function refuseBroken(error: ParserError, socket: Socket, logger: Logger): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const { status, code, message } = refusalOf(error);
  logger.warn({ status, code, reason: error.code, address: socket.remoteAddress }, 'request refused');
  const answer: ErrorAnswer = { error: { code, message } };
  const body = JSON.stringify(answer);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  if (socket.writable) socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  else socket.destroy();
}

function refusalOf({ code }: ParserError): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW')
    return { status: 431, code: 'too-large', message: 'The URL and headers exceed 16 kB. Send a shorter query.' };
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return { status: 408, code: 'timeout', message: 'The request did not arrive in time. Send it again.' };
  return { status: 400, code: 'invalid-input', message: 'This is not a valid HTTP request.' };
}
