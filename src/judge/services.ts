/** The service that refused, named by its usual port or host. */
export interface RefusedService {
  readonly host: string;
  readonly port: string | null;
  /** "PostgreSQL" where the port or host tells. */
  readonly name: string | null;
}

const BY_PORT: Readonly<Record<string, string>> = {
  '5432': 'PostgreSQL',
  '3306': 'MySQL',
  '6379': 'Redis',
  '27017': 'MongoDB',
  '5672': 'RabbitMQ',
  '9092': 'Kafka',
  '9200': 'Elasticsearch',
  '11211': 'Memcached',
  '4444': 'Selenium',
  '2375': 'Docker',
  '1433': 'SQL Server',
  '4566': 'LocalStack',
  '9000': 'MinIO',
};

const LOCAL = /\b(localhost|127\.0\.0\.1|0\.0\.0\.0|\[?::1\]?|host\.docker\.internal)(?:[:/ ]{1,2}(?:port )?(\d{2,5}))?/;
const NAMED =
  /\b(postgres(?:ql)?|mysql|mariadb|redis|mongo(?:db)?|rabbitmq|kafka|zookeeper|elasticsearch|opensearch|memcached|selenium|minio|localstack|db|database|cache|broker|queue)(?::(\d{2,5}))(?!\.\w)/i;

/** The service of the job itself that a line says refused the connection; null where it is somebody else's. */
export function ownServiceOf(text: string): RefusedService | null {
  const found = LOCAL.exec(text) ?? NAMED.exec(text);
  if (found?.[1] === undefined) return null;
  const port = found[2] ?? /\bport:? (\d{2,5})/.exec(text)?.[1] ?? null;
  return { host: found[1], port, name: port === null ? null : (BY_PORT[port] ?? null) };
}

/** Host and port that a line names, whoever they belong to: "registry.example.org:443". */
export function hostOf(text: string): string | null {
  const own = ownServiceOf(text);
  if (own !== null) return own.port === null ? own.host : `${own.host}:${own.port}`;
  return (
    /https?:\/\/([\w.-]{3,200}(?::\d{2,5})?)/.exec(text)?.[1] ??
    /\b(\d{1,3}(?:\.\d{1,3}){3}:\d{2,5})\b/.exec(text)?.[1] ??
    /(?:host:? '?|ENOTFOUND |EAI_AGAIN |lookup |to |UnknownHostException: )([\w-]{1,63}(?:\.[\w-]{1,63}){1,6}(?::\d{2,5})?)/.exec(
      text,
    )?.[1] ??
    null
  );
}
