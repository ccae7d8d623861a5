import pino from 'pino';
import type { Logger } from '../../ports/logger.ts';

/** Never printed, wherever they turn up in the fields. */
const SECRET_FIELDS = ['authorization', 'token', 'apiKey', 'secret', 'password'];

/** One JSON object a line on standard error, so that standard output stays for results. */
export function createPinoLogger(level: string): Logger {
  const paths = SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]);
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: pino.stdSerializers.err },
      redact: { paths, censor: '***' },
    },
    pino.destination({ fd: 2, sync: true }),
  );
}
