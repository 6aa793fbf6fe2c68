import type { Handler } from './endpoint.ts';

/** One metric of this replica, with the fields of the Prometheus text format. */
export interface Metric {
  name: string;
  help: string;
  /** undefined if the value is not known yet. A metric without a value is left out. */
  value: number | undefined;
}

/** `GET /metrics`. No metric names an organization, a key or a channel (P5, P6). */
export function metrics(read: () => Metric[]): Handler {
  return () => {
    const lines = read()
      .filter(({ value }) => value !== undefined)
      .map(
        ({ name, help, value }) =>
          `# HELP ${name} ${help}\n# TYPE ${name} ${typeOf(name)}\n${name} ${value}\n`,
      );
    return new Response(lines.join(''), {
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
    });
  };
}

/** By Prometheus' rules, only the name of a counter ends in `_total`. */
function typeOf(name: string): 'counter' | 'gauge' {
  return name.endsWith('_total') ? 'counter' : 'gauge';
}
