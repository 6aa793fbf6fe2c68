import { Copy } from './copy.tsx';
import { Time } from './time.tsx';

interface Attempt {
  /** RFC 3339. */
  readonly at: string;
  /** The HTTP or SMTP status; 0 means that no response came. */
  readonly status: number;
  readonly reason: string | null;
}

interface AttemptsProps {
  readonly log: readonly Attempt[];
  /** The id of the delivery, as receivers get it. */
  readonly id: string;
  readonly isMail?: boolean;
}

/** What a receiver answered, in words; 0 means that no response came. */
export function answerOf(status: number, isMail = false): string {
  if (status === 0) return 'no response';
  return isMail ? `SMTP ${status}` : `HTTP ${status}`;
}

/** The attempts of a delivery, folded. */
export function Attempts({ log, id, isMail = false }: AttemptsProps) {
  if (log.length === 0) return null;
  return (
    <details className="text-sm">
      <summary className="inline-block rounded px-1.5 py-0.5 text-soft hover:bg-sunk hover:text-ink">
        Attempts
      </summary>
      <ol className="mt-1 grid gap-1 pl-2">
        {log.map(({ at, status, reason }) => (
          <li key={at}>
            <Time at={at} /> · {answerOf(status, isMail)}
            {reason === null ? '' : ` · ${reason}`}
          </li>
        ))}
      </ol>
      <p className="mt-2 text-soft">
        {isMail ? 'Start of the' : 'Header'}{' '}
        <code className="font-mono">{isMail ? 'Message-ID' : 'webhook-id'}</code>:{' '}
        <Copy text={id} what="webhook id" />
      </p>
    </details>
  );
}
