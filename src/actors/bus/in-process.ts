import type { Transport } from './transport.ts';

/** The transport of an installation with one process. It sends nothing. */
export const inProcessTransport: Transport = {
  reaches_others: false,
  max_bytes: 0,
  start: () => Promise.resolve(),
  send: () => Promise.resolve(),
  restart: () => undefined,
  stop: () => Promise.resolve(),
};
