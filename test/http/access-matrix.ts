/**
 * Who may use which route, written by hand. A route that is not here, or that a test finds open to somebody else, fails
 * the build. `open` and `signature` routes ask for no token; what signed routes check is tested with them.
 */
export const ACCESS_MATRIX: Readonly<Record<string, 'open' | 'signature' | 'ingest' | 'read' | 'review' | 'admin'>> = {
  'GET /healthz': 'open',
  'GET /readyz': 'open',
  'GET /openapi.json': 'open',
  'GET /docs': 'open',
  'GET /docs/': 'open',
  'GET /docs/js/scalar.js': 'open',
  'POST /webhooks/github': 'signature',
  'POST /webhooks/jenkins': 'signature',
  'POST /api/builds': 'ingest',
  'GET /api/builds': 'read',
  'GET /api/builds/by-number': 'read',
  'GET /api/builds/:id': 'read',
  'GET /api/builds/:id/analyses': 'read',
  'GET /api/analyses/:id': 'read',
  'GET /api/analyses/:id/trace': 'read',
  'GET /api/failures': 'read',
  'GET /api/library': 'read',
  'GET /api/library/:id': 'read',
  // Whoever may read an answer may ask about it: a question changes nothing but its own thread.
  'POST /api/analyses/:id/ask': 'read',
  'POST /api/builds/:id/ask': 'read',
  'GET /api/threads': 'read',
  'GET /api/threads/:id': 'read',
  'DELETE /api/threads/:id': 'read',
  'GET /api/reviews': 'review',
  'GET /api/reviews/:id': 'review',
  'POST /api/reviews/:id/claim': 'review',
  'POST /api/reviews/:id/release': 'review',
  'POST /api/reviews/:id/decision': 'review',
};
