import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A gate in front of a TCP server, which can be closed, frozen and opened again. Its port stays the same. */
export interface Gate {
  readonly port: number;
  /** Breaks every connection and refuses new ones. */
  close(): Promise<void>;
  /** Keeps connections and accepts new ones, but forwards nothing. */
  freeze(): void;
  open(): Promise<void>;
}

export async function startGate(target: { readonly host: string; readonly port: number }): Promise<Gate> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let frozen = false;
  const pass = (from: Socket) => {
    const to = connect(target);
    const pair = [from, to] as const;
    pairs.add(pair);
    for (const [left, right] of [pair, pair.toReversed()] as const) {
      left?.on('data', (bytes) => void right?.write(bytes));
      left?.on('error', () => undefined);
      left?.on('close', () => {
        right?.destroy();
        pairs.delete(pair);
      });
      if (frozen) left?.pause();
    }
  };
  const port = await freePort();
  let server: Server | null = await listen(port, pass);
  return {
    port,
    close: async () => {
      for (const socket of [...pairs].flat()) socket.destroy();
      const closing = server;
      server = null;
      if (closing !== null) await new Promise<void>((settle) => closing.close(() => settle()));
    },
    freeze: () => {
      frozen = true;
      for (const socket of [...pairs].flat()) socket.pause();
    },
    open: async () => {
      frozen = false;
      server ??= await listen(port, pass);
      for (const socket of [...pairs].flat()) socket.resume();
    },
  };
}

/** Returns a port on which nothing listens at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function listen(port: number, pass: (socket: Socket) => void): Promise<Server> {
  const server = createServer(pass).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
