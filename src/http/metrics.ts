import { timingSafeEqual } from 'node:crypto';
import { WeirError } from '../errors/weir-error.ts';
import type { Authentication } from './auth/authentication.ts';
import { isLocalRequest } from './auth/client-address.ts';
import { readBearerToken } from './auth/credentials.ts';
import type { Handler, RequestContext } from './endpoint.ts';

/** One metric of this replica, with the fields of the Prometheus text format. */
interface Metric {
  name: string;
  /** Labels and their values. In a list, metrics with the same name must be adjacent. */
  labels?: Readonly<Record<string, string>>;
  help: string;
  /** undefined if the value is not known yet. A metric without a value is left out. */
  value: number | undefined;
}

/** Dependencies of `GET /metrics`. */
export interface MetricsDeps {
  /** Returns the metrics of this replica. */
  metrics: () => Metric[];
  authentication: Authentication;
  /** A token that permits reading the metrics, and nothing else (WEIR_METRICS_TOKEN). */
  metrics_token?: string | undefined;
}

/**
 * `GET /metrics`. No metric names an organization, a key or a channel (P5, P6). A process of this
 * machine needs no token. All others need the operator token or the metrics token.
 */
export function metrics(deps: MetricsDeps): Handler {
  return async (context) => {
    await admitReader(deps, context);
    let former = '';
    const lines = deps
      .metrics()
      .filter(({ value }) => value !== undefined)
      .map(({ name, labels, help, value }) => {
        const type = `# TYPE ${name} ${typeOf(name)}\n`;
        const head = name === former ? '' : `# HELP ${name} ${help}\n${type}`;
        former = name;
        return `${head}${name}${labelsOf(labels)} ${value}\n`;
      });
    return new Response(lines.join(''), {
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
    });
  };
}

/** Throws WeirError unless the request may read the metrics. */
async function admitReader(deps: MetricsDeps, context: RequestContext): Promise<void> {
  if (isLocalRequest(context)) return;
  const secret = readBearerToken(context.request);
  if (!secret) {
    throw new WeirError('invalid_api_key', 'The request carries no token.', {
      hint: 'Send the operator token or the metrics token as Authorization: Bearer.',
    });
  }
  if (deps.metrics_token !== undefined && areEqual(secret, deps.metrics_token)) return;
  await deps.authentication.requireOperator(context);
}

/** Compares the hashes of two secrets, so that the time says nothing about the secrets. */
function areEqual(first: string, second: string): boolean {
  return timingSafeEqual(Bun.SHA256.hash(first), Bun.SHA256.hash(second));
}

/**
 * Returns the labels in the text format, e.g. `{kind="task"}`. Weir itself chooses the values, so
 * no value needs an escape.
 */
function labelsOf(labels: Metric['labels']): string {
  const pairs = Object.entries(labels ?? {}).map(([label, value]) => `${label}="${value}"`);
  return pairs.length > 0 ? `{${pairs.join(',')}}` : '';
}

/** Returns the type of a metric. By Prometheus' rules, only a counter's name ends in `_total`. */
function typeOf(name: string): 'counter' | 'gauge' {
  return name.endsWith('_total') ? 'counter' : 'gauge';
}
