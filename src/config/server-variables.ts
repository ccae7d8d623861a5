import type { Variable } from './variable.ts';

/** Where the services of a server installation are, and which of them is used for what. */
export const SERVER_VARIABLES: readonly Variable[] = [
  {
    name: 'FAULTLINE_DATABASE_URL',
    path: 'database.url',
    type: 'text',
    secret: true,
    meaning: 'PostgreSQL server, as postgres://user:password@host:port/database; it needs the extensions vector and pg_trgm.',
  },
  {
    name: 'FAULTLINE_DATABASE_READER_URL',
    path: 'database.readerUrl',
    type: 'text',
    secret: true,
    meaning: 'The same database as a role that may only read: what tools ask of history goes there.',
  },
  {
    name: 'FAULTLINE_DATABASE_OWNER_URL',
    path: 'database.ownerUrl',
    type: 'text',
    secret: true,
    meaning: 'The same database as the role that owns the tables, for `faultline migrate`; serve and worker do without.',
  },
  { name: 'FAULTLINE_DATABASE_POOL', path: 'database.poolSize', type: 'number', meaning: 'Connections to PostgreSQL of one process.' },
  {
    name: 'FAULTLINE_JOB_QUEUE',
    path: 'jobQueue.driver',
    type: 'text',
    meaning: 'What rings for work: pg-boss (on the database) or bullmq (on Redis). The database knows what is owed, whichever rings.',
  },
  {
    name: 'FAULTLINE_REDIS_URL',
    path: 'jobQueue.url',
    type: 'text',
    secret: true,
    meaning: 'Redis server of bullmq, as redis://host:port.',
  },
  { name: 'FAULTLINE_REDIS_PREFIX', path: 'jobQueue.prefix', type: 'text', meaning: 'Start of every key in Redis.' },
  {
    name: 'FAULTLINE_WORK_IN_SERVE',
    path: 'jobQueue.inServe',
    type: 'flag',
    meaning: 'Whether `faultline serve` triages builds too; false leaves that to `faultline worker`.',
  },
  {
    name: 'FAULTLINE_BUILD_ARCHIVE',
    path: 'buildArchive.driver',
    type: 'text',
    meaning: 'Where full logs are kept: postgres or mongodb.',
  },
  {
    name: 'FAULTLINE_MONGODB_URL',
    path: 'buildArchive.url',
    type: 'text',
    secret: true,
    meaning: 'MongoDB server, as mongodb://host:port.',
  },
  { name: 'FAULTLINE_MONGODB_DATABASE', path: 'buildArchive.database', type: 'text', meaning: 'Name of the database there.' },
  {
    name: 'FAULTLINE_VECTOR_INDEX',
    path: 'vectorIndex.driver',
    type: 'text',
    meaning: 'Where texts are found by meaning: pgvector or pinecone.',
  },
  { name: 'PINECONE_API_KEY', path: 'vectorIndex.apiKey', type: 'text', secret: true, meaning: 'Key of Pinecone.' },
  { name: 'FAULTLINE_PINECONE_INDEX', path: 'vectorIndex.index', type: 'text', meaning: 'Name of the index at Pinecone.' },
  {
    name: 'FAULTLINE_PINECONE_URL',
    path: 'vectorIndex.baseUrl',
    type: 'text',
    meaning: "Address of Pinecone's control plane where it is not Pinecone's own.",
  },
];
