import pino, { type Logger } from 'pino';

/** The log goes to stderr; stdout is for what a person started Weir to see. Secrets are never passed in. */
export function createLog(level: string): Logger {
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { error: pino.stdSerializers.err },
    },
    pino.destination({ dest: 2, sync: false }),
  );
}
