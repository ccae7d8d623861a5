import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';

export interface TlsProxy {
  readonly port: number;
  /** The file of the certificate, which is its own authority. It is for the name `localhost`. */
  readonly caFile: string;
  /** The number of connections with and without TLS. */
  readonly seen: { encrypted: number; plain: number };
  close(): Promise<void>;
}

/**
 * Opens a TLS proxy before a PostgreSQL server without TLS. It answers the request for TLS as the protocol
 * defines, then passes everything on.
 */
export async function openTlsProxy(address: string): Promise<TlsProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-tls-'));
  const [keyFile, caFile] = [join(folder, 'key.pem'), join(folder, 'ca.pem')];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const about = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2',
    ...names,
  ];
  execFileSync('openssl', ['req', '-x509', ...about, '-keyout', keyFile, '-out', caFile], {
    stdio: 'ignore',
  });
  const { hostname, port } = new URL(address);
  const [key, cert] = [readFileSync(keyFile), readFileSync(caFile)];
  const seen = { encrypted: 0, plain: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.once('data', (first) => {
      if (first.length !== 8 || first.readInt32BE(4) !== SSL_REQUEST) {
        seen.plain += 1;
        socket.destroy();
        return;
      }
      seen.encrypted += 1;
      socket.write('S');
      const inside = new TLSSocket(socket, { isServer: true, key, cert });
      const target = connect(Number(port), hostname);
      for (const one of [inside, target]) one.on('error', () => socket.destroy());
      target.on('close', () => socket.destroy());
      inside.on('close', () => target.destroy());
      inside.pipe(target).pipe(inside);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const own = server.address();
  return {
    port: typeof own === 'object' && own !== null ? own.port : 0,
    caFile,
    seen,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((settle) => server.close(() => settle()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The code of the message with which a client requests TLS. */
const SSL_REQUEST = 80_877_103;
