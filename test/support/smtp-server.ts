import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

/** A received e-mail. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** The headers and the body. Lines are joined with `\n`. */
  readonly text: string;
}

export interface SmtpServer {
  readonly port: number;
  readonly mails: ReceivedMail[];
  /** The users and passwords of all sign-ins. */
  readonly signIns: string[];
  /** Returns the reply to a command, or null for the usual reply. */
  intercept: ((command: string) => string | null) | null;
  close(): Promise<void>;
}

/** Starts a server that speaks SMTP (RFC 5321) over TCP, with AUTH PLAIN and without TLS. */
export async function startSmtp(): Promise<SmtpServer> {
  const sockets = new Set<Socket>();
  const smtp = {
    mails: [] as ReceivedMail[],
    signIns: [] as string[],
    intercept: null as SmtpServer['intercept'],
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    void converse(socket, smtp);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return Object.assign(smtp, { port, close });
}

async function converse(socket: Socket, smtp: Omit<SmtpServer, 'port' | 'close'>): Promise<void> {
  const say = (reply: string) => void socket.write(`${reply}\r\n`);
  let mail = { from: '', to: [] as string[], lines: null as string[] | null };
  say('220 smtp.test ESMTP');
  for await (const line of createInterface({ input: socket, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (mail.lines !== null) {
      if (line !== '.') {
        mail.lines.push(line.replace(/^\./, ''));
        continue;
      }
      smtp.mails.push({ from: mail.from, to: mail.to, text: mail.lines.join('\n') });
      mail = { from: '', to: [], lines: null };
      say('250 accepted');
      continue;
    }
    const other = smtp.intercept?.(line) ?? null;
    if (other !== null) say(other);
    else if (/^EHLO/i.test(line)) say('250-smtp.test\r\n250-SIZE 1000000\r\n250-AUTH PLAIN\r\n250 8BITMIME');
    else if (/^AUTH PLAIN /i.test(line)) {
      smtp.signIns.push(Buffer.from(line.slice(11), 'base64').toString().split('\0').slice(1).join(' '));
      say('235 welcome');
    } else if (/^MAIL FROM:/i.test(line)) {
      mail.from = line.replace(/^MAIL FROM:<([^>]*)>.*/i, '$1');
      say('250 ok');
    } else if (/^RCPT TO:/i.test(line)) {
      mail.to.push(line.replace(/^RCPT TO:<([^>]*)>.*/i, '$1'));
      say('250 ok');
    } else if (/^DATA/i.test(line)) {
      mail.lines = [];
      say('354 go on');
    } else if (/^QUIT/i.test(line)) {
      say('221 bye');
      socket.end();
    } else say('250 ok');
  }
}
