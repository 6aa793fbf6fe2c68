import { useMutation, useQuery } from '@tanstack/react-query';
import { api } from '../../../api/client.ts';
import type { Call, List } from '../../../api/types.ts';
import { Button } from '../../../parts/button.tsx';
import { CodeBlock } from '../../../parts/code-block.tsx';
import { ErrorNote } from '../../../parts/error-note.tsx';
import { Section } from '../../../parts/page.tsx';

interface DebugWindow {
  readonly api_key_id: string | null;
  readonly opened_at: string;
  readonly closes_at: string;
  readonly closed_at: string | null;
  readonly delete_at: string;
}

interface Body {
  readonly content_type: string | null;
  readonly bytes: number;
  readonly truncated: boolean;
  readonly encoding: 'utf8' | 'base64';
  readonly body: string;
}

interface StoredCopy {
  readonly path: string;
  readonly request: Body;
  readonly answer: Body;
}

/** The stored request and answer, if a debug window was open. Nothing is read before the person asks. */
export function DebugCopy({ call }: { call: Call }) {
  const { data: windows, isError } = useQuery({
    queryKey: ['debug-windows'],
    queryFn: ({ signal }) =>
      api.get<List<DebugWindow>>('/v1/management/debug-windows', { limit: 100 }, signal),
    staleTime: 30_000,
  });
  const copy = useMutation({
    mutationFn: () => api.get<StoredCopy>(`/v1/management/requests/${call.request_id}/debug`),
  });
  if (isError && !windows) {
    return <p className="text-sm text-soft">Whether a copy of this call is stored is unknown.</p>;
  }
  if (!windows?.data.some((window) => covers(window, call))) return null;
  return (
    <Section title="Request and answer">
      {copy.data ? (
        <>
          <Stored title={`Request to ${copy.data.path}`} body={copy.data.request} />
          <Stored title="Answer" body={copy.data.answer} />
        </>
      ) : (
        <div className="flex flex-wrap items-center gap-3">
          <Button busy={copy.isPending} onClick={() => copy.mutate()}>
            Show the stored copy
          </Button>
          <span className="text-sm text-soft">
            A debug window was open. That you read the copy goes on record.
          </span>
        </div>
      )}
      {copy.error ? <ErrorNote error={copy.error} /> : null}
    </Section>
  );
}

function covers(window: DebugWindow, { date, api_key_id }: Call): boolean {
  const { opened_at, closes_at, closed_at, delete_at } = window;
  const isOfKey = window.api_key_id === null || window.api_key_id === api_key_id;
  const isOpen = opened_at <= date && date <= (closed_at ?? closes_at);
  return isOfKey && isOpen && Date.parse(delete_at) > Date.now();
}

function Stored({ title, body }: { title: string; body: Body }) {
  return (
    <div className="grid min-w-0 gap-1.5">
      <h3 className="text-sm text-soft">
        {title}: {body.bytes.toLocaleString()} bytes
        {body.truncated ? ', cut' : ''}
        {body.encoding === 'base64' ? ', in base64' : ''}
      </h3>
      <CodeBlock code={pretty(body)} what="text" />
    </div>
  );
}

function pretty({ body, encoding }: Body): string {
  if (encoding === 'base64') return body;
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
