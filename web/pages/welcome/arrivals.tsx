import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Arrival } from '../../api/types.ts';
import { followEvents } from '../../live/stream.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { Copy } from '../../parts/copy.tsx';
import { Section } from '../../parts/page.tsx';
import { duration, Time } from '../../parts/time.tsx';

/** The latest calls that are shown. */
const MAX_SHOWN = 12;

/** Whose fault a failed call is, in words. */
const FAULTS: Readonly<Record<string, string>> = {
  caller: 'the caller',
  cap: 'a cap',
  weir: 'Weir',
  account: 'the provider’s key',
  provider: 'the provider',
};

/** Each call that reaches Weir, also a refused one, a moment after it arrives. */
export function Arrivals() {
  const [calls, setCalls] = useState<ReadonlyMap<string, Arrival>>(new Map());
  const [isLive, setLive] = useState(false);
  useEffect(() => {
    const end = new AbortController();
    const onEvent = ({ type, data }: { type: string; data: unknown }) => {
      if (type !== 'call') return;
      const call = data as Arrival;
      setCalls((known) => latest(new Map(known).set(call.request_id, call)));
    };
    const listener = { onEvent, onState: setLive };
    followEvents('/v1/operator/arrivals', listener, end.signal, undefined);
    return () => end.abort();
  }, []);
  const shown = [...calls.values()].toSorted((a, b) => b.at.localeCompare(a.at));
  return (
    <Section
      title="Calls that reach Weir"
      acts={<Badge tone={isLive ? 'good' : 'warn'}>{isLive ? 'listening' : 'connecting'}</Badge>}
    >
      {shown.length === 0 ? (
        <p className="rounded-box border border-dashed border-edge p-6 text-soft">
          No call has arrived yet. The first one appears here within a second, also if it is
          refused.
        </p>
      ) : (
        <ol className="grid gap-3">
          {shown.map((call) => (
            <li key={call.request_id}>
              <ArrivedCall call={call} />
            </li>
          ))}
        </ol>
      )}
    </Section>
  );
}

/** Forgets the oldest calls. */
function latest(calls: Map<string, Arrival>): Map<string, Arrival> {
  const oldest = [...calls.values()].toSorted((a, b) => a.at.localeCompare(b.at));
  for (const { request_id } of oldest.slice(0, Math.max(0, calls.size - MAX_SHOWN))) {
    calls.delete(request_id);
  }
  return calls;
}

function ArrivedCall({ call }: { call: Arrival }) {
  const { request_id, at, method, path, model, status, error, stages, duration_ms } = call;
  const [tone, word] = outcomeOf(call);
  return (
    <article
      className="rounded-box border border-line bg-card p-4"
      aria-label={`${method} ${path}`}
    >
      <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <Badge tone={tone}>{status === null ? word : `${status} ${word}`}</Badge>
        <code className="font-mono text-sm">
          {method} {path}
        </code>
        {model === null ? null : <span className="font-medium">{model}</span>}
        {call.api_key_prefix === null ? null : (
          <code className="font-mono text-sm text-soft">{call.api_key_prefix}…</code>
        )}
        <span className="ml-auto text-sm text-soft">
          <Time at={at} ago /> {duration_ms === null ? '' : `· ${duration(duration_ms)}`}
        </span>
      </div>
      {error === null ? null : (
        <div className="mt-2">
          <p className="text-bad">
            {error.message ?? error.code}{' '}
            <span className="text-soft">Fault: {FAULTS[error.fault] ?? error.fault}.</span>
          </p>
          {error.provider_message === null ? null : (
            <p className="text-sm text-soft">The provider said: {error.provider_message}</p>
          )}
          {error.fix === null ? null : <p className="font-medium">{error.fix}</p>}
        </div>
      )}
      <ol className="mt-2 flex flex-wrap gap-x-4 text-sm text-soft" aria-label="Stages">
        {stages.map(({ stage, at_ms }) => (
          <li key={`${stage} ${at_ms}`}>
            {stage.replaceAll('_', ' ')} <span className="figures">{duration(at_ms)}</span>
          </li>
        ))}
      </ol>
      <p className="mt-1 text-sm">
        <Copy text={request_id} what="request id" />
        {call.api_key_id === null || call.state !== 'ended' ? null : (
          <Link
            to="/usage/requests/$id"
            params={{ id: request_id }}
            className="text-accent underline"
          >
            Its timeline and money
          </Link>
        )}
      </p>
    </article>
  );
}

function outcomeOf({ state, status, error }: Arrival): readonly [Tone, string] {
  if (state === 'running') return ['accent', 'running'];
  if (state === 'answering') return ['accent', 'answering'];
  return error === null && (status ?? 500) < 400 ? ['good', 'answered'] : ['bad', 'refused'];
}
