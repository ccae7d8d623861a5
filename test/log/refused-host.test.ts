import { describe, expect, it } from 'vitest';
import { findRefusedHost } from '../../src/log/refused-host.ts';

describe('the host that could not be reached', () => {
  it.each([
    [
      'npm error request to https://registry.npmjs.org/a failed, reason: connect ETIMEDOUT',
      'registry.npmjs.org',
    ],
    ['getaddrinfo EAI_AGAIN registry.yarnpkg.com', 'registry.yarnpkg.com'],
    ['fatal: unable to access: Could not resolve host: github.com', 'github.com'],
    ['dial tcp: lookup proxy.golang.org: no such host', 'proxy.golang.org'],
    ["HTTPSConnectionPool(host='pypi.org', port=443): Max retries exceeded with url: /simple/", 'pypi.org'],
    [
      'E: Failed to fetch http://archive.ubuntu.com/ubuntu/x.deb  503  Service Unavailable',
      'archive.ubuntu.com',
    ],
  ])('is read from %s', (line, host) => {
    expect(findRefusedHost(['other words', line])).toBe(host);
  });

  it.each([
    'connect ECONNREFUSED 127.0.0.1:5432',
    'getaddrinfo ENOTFOUND postgres',
    'connection refused: http://orders.default.svc/health',
    'see https://registry.npmjs.org/a for the package',
    'expected 503 to be 200',
  ])('is not assumed in %s', (line) => {
    expect(findRefusedHost([line])).toBeNull();
  });
});
