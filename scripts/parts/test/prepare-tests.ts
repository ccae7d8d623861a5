/**
 * Fetches and compiles what the integration tests run against, so that no test waits for it: the server that speaks MongoDB's protocol (Maven), and
 * the library behind `docker compose` (Go). What fails here fails in the tests that need it.
 */
import { createEnvironment, readCompose } from '../../../test/support/compose/compose.ts';
import { prepareMongodb } from '../../../test/support/mongodb.ts';

await Promise.allSettled([prepareMongodb(), createEnvironment().then((values) => readCompose(values))]);
