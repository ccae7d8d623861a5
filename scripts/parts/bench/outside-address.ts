import { networkInterfaces } from 'node:os';

/**
 * An address of this machine at which nothing listens. It is not the loopback address if there is another,
 * because services on the loopback address count as the job's own.
 */
export const AWAY = `${findOutsideAddress()}:9`;

function findOutsideAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}
