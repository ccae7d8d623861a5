import { networkInterfaces } from 'node:os';

/**
 * An address of this machine at which nothing listens. Not the loopback one, if there is another: what a job
 * reaches there is the job's own.
 */
export const AWAY = `${findOutsideAddress()}:9`;

function findOutsideAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}
