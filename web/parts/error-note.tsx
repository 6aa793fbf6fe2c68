import { ApiError } from '../api/error.ts';
import { Button } from './button.tsx';
import { Copy } from './copy.tsx';

interface ErrorNoteProps {
  readonly error: unknown;
  /** Tries again what failed. */
  readonly retry?: (() => void) | undefined;
}

/** An error in the words of the API: what happened, what to do next, and the id to report. */
export function ErrorNote({ error, retry }: ErrorNoteProps) {
  const known = error instanceof ApiError ? error : undefined;
  const { hint, request_id, param } = known?.details ?? {};
  return (
    <div role="alert" className="rounded-box border border-bad bg-bad-soft px-4 py-3">
      <p className="font-medium text-bad">
        {param === undefined ? null : <code className="mr-1.5 font-mono text-sm">{param}</code>}
        {known?.message ?? 'The page has a defect.'}
      </p>
      <p className="text-soft">{known ? hint : String(error)}</p>
      <div className="mt-1 flex flex-wrap items-center gap-3">
        {retry ? <Button onClick={retry}>Try again</Button> : null}
        {request_id === undefined ? null : (
          <span className="text-sm text-soft">
            Request <Copy text={request_id} what="request id" />
          </span>
        )}
      </div>
    </div>
  );
}
