import type { Variable } from './variable.ts';

/** Where the services of a server installation are, and which of them is used for what. */
export const SERVER_VARIABLES: readonly Variable[] = [
  {
    name: 'FAULTLINE_DATABASE_URL',
    path: 'database.url',
    type: 'text',
    secret: true,
    meaning: 'PostgreSQL server, as postgres://user:password@host:port/database. It needs the extensions vector and pg_trgm.',
  },
  {
    name: 'FAULTLINE_DATABASE_READER_URL',
    path: 'database.readerUrl',
    type: 'text',
    secret: true,
    meaning: 'The same database with a read-only role, used for history queries by tools.',
  },
  {
    name: 'FAULTLINE_DATABASE_OWNER_URL',
    path: 'database.ownerUrl',
    type: 'text',
    secret: true,
    meaning: 'The same database with the role that owns the tables, for `faultline migrate`. serve and worker do not need it.',
  },
  { name: 'FAULTLINE_DATABASE_POOL', path: 'database.poolSize', type: 'number', meaning: 'PostgreSQL connections per process.' },
  {
    name: 'FAULTLINE_JOB_QUEUE',
    path: 'jobQueue.driver',
    type: 'text',
    meaning: 'Job queue: pg-boss (in the database) or bullmq (in Redis). The database records pending work with either.',
  },
  {
    name: 'FAULTLINE_REDIS_URL',
    path: 'jobQueue.url',
    type: 'text',
    secret: true,
    meaning: 'Redis server for bullmq, as redis://host:port.',
  },
  { name: 'FAULTLINE_REDIS_PREFIX', path: 'jobQueue.prefix', type: 'text', meaning: 'Prefix of every Redis key.' },
  {
    name: 'FAULTLINE_WORK_IN_SERVE',
    path: 'jobQueue.inServe',
    type: 'flag',
    meaning: 'Whether `faultline serve` also triages builds. Set to false to leave that to `faultline worker`.',
  },
  {
    name: 'FAULTLINE_BUILD_ARCHIVE',
    path: 'buildArchive.driver',
    type: 'text',
    meaning: 'Where full logs are stored: postgres or mongodb.',
  },
  {
    name: 'FAULTLINE_MONGODB_URL',
    path: 'buildArchive.url',
    type: 'text',
    secret: true,
    meaning: 'MongoDB server, as mongodb://host:port.',
  },
  { name: 'FAULTLINE_MONGODB_DATABASE', path: 'buildArchive.database', type: 'text', meaning: 'MongoDB database name.' },
  {
    name: 'FAULTLINE_VECTOR_INDEX',
    path: 'vectorIndex.driver',
    type: 'text',
    meaning: 'Vector index for semantic search: pgvector or pinecone.',
  },
  { name: 'PINECONE_API_KEY', path: 'vectorIndex.apiKey', type: 'text', secret: true, meaning: 'Pinecone API key.' },
  { name: 'FAULTLINE_PINECONE_INDEX', path: 'vectorIndex.index', type: 'text', meaning: 'Pinecone index name.' },
  {
    name: 'FAULTLINE_PINECONE_URL',
    path: 'vectorIndex.baseUrl',
    type: 'text',
    meaning: 'URL of the Pinecone control plane, if not the default.',
  },
];
