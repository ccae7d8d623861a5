import { lookup as lookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { TriageError } from '../../domain/errors.ts';

/** Decides to which hosts we may connect if their addresses come from others. */
export interface AddressGuard {
  /** Throws `forbidden` for a host of a private network, or one that is named like such a host. */
  check(url: URL): void;
  /** Resolves names like the system. Fails with `forbidden` if any of the addresses is not public. */
  readonly lookup: LookupFunction;
}

interface GuardOptions {
  /** Resolves a name. Tests replace it; the default is the system's resolver. */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
  readonly isPublic?: (address: string) => boolean;
}

/**
 * The address ranges that are not globally reachable, and multicast, from IANA's special-purpose registries.
 */
const IPV4_SPECIAL: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
];
/**
 * The special ranges inside of 2000::/3, the only globally reachable range of IPv6: protocol assignments,
 * documentation, and tunnels that contain an IPv4 address.
 */
const IPV6_SPECIAL: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];
const PRIVATE_ENDING =
  /(?:^|\.)(?:localhost|local|internal|intranet|lan|home|corp|private|home\.arpa|test|invalid|onion)$/i;

const special = new BlockList();
for (const [address, prefix] of IPV4_SPECIAL) special.addSubnet(address, prefix, 'ipv4');
for (const [address, prefix] of IPV6_SPECIAL) special.addSubnet(address, prefix, 'ipv6');
const globalIpv6 = new BlockList();
globalIpv6.addSubnet('2000::', 3, 'ipv6');

/** Checks whether an IPv4 or IPv6 address belongs to the public internet. */
export function isPublicAddress(address: string): boolean {
  const plain = address.replace(/%.{0,100}$/, '');
  const version = isIP(plain);
  if (version === 4) return !special.check(plain, 'ipv4');
  return version === 6 && globalIpv6.check(plain, 'ipv6') && !special.check(plain, 'ipv6');
}

/** Checks whether a URL has a public host. Host names are not resolved. */
export function isPublicUrl(url: URL, isPublic: (address: string) => boolean = isPublicAddress): boolean {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return false;
  if (url.username !== '' || url.password !== '') return false;
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (isIP(host) !== 0) return isPublic(host);
  return host.includes('.') && !PRIVATE_ENDING.test(host);
}

/**
 * Creates a guard that uses the system's resolver. The connection goes to the addresses that were checked, so
 * a second DNS answer cannot replace them (DNS rebinding).
 */
export function createAddressGuard({
  resolve = resolveAll,
  isPublic = isPublicAddress,
}: GuardOptions = {}): AddressGuard {
  return {
    check: (url) => {
      if (!isPublicUrl(url, isPublic)) throw createRefusedError(url.hostname);
    },
    lookup: (hostname, options, callback) => {
      resolve(hostname).then(
        (addresses) => {
          const [first] = addresses;
          if (first === undefined || !addresses.every(isPublic))
            return callback(createRefusedError(hostname), '', 4);
          if (options.all === true)
            callback(
              null,
              addresses.map((address) => ({ address, family: isIP(address) })),
            );
          else callback(null, first, isIP(first));
        },
        (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), '', 4),
      );
    },
  };
}

function resolveAll(hostname: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    lookupAddress(hostname, { all: true, verbatim: true }, (error, addresses) => {
      if (error !== null) reject(error);
      else resolve(addresses.map(({ address }) => address));
    });
  });
}

function createRefusedError(hostname: string): TriageError {
  return new TriageError(
    'forbidden',
    `${hostname.slice(0, 200)} is not a host on the public internet, so it is not contacted.`,
  );
}
