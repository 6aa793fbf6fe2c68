import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { Receipt } from '../../calls/receipt.tsx';
import { PriceLine } from '../../catalogue/price-line.tsx';
import { Copy } from '../../parts/copy.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { duration, useNow } from '../../parts/time.tsx';
import type { Turn } from './chat-state.ts';
import { ModelChoice, type SceneModels } from './models.tsx';

/** Markdown is only loaded for the first answer. */
const Answer = lazy(async () => ({ default: (await import('./answer.tsx')).Answer }));

interface ChatColumnProps {
  /** The place of the column, from 1. */
  readonly place: number;
  readonly model: string;
  readonly turns: readonly Turn[];
  readonly offered: SceneModels;
  readonly choose: (model: string) => void;
  readonly remove: (() => void) | undefined;
}

/** A conversation with one model. */
export function ChatColumn({ place, model, turns, offered, choose, remove }: ChatColumnProps) {
  const pricing = offered.models.find(({ id }) => id === model)?.pricing;
  return (
    <section
      aria-label={`Answers of ${model}`}
      className="flex min-w-0 flex-col gap-3 rounded-box border border-line bg-card p-3"
    >
      <div className="grid gap-1">
        <div className="flex gap-2">
          <ModelChoice label={`Model ${place}`} value={model} choose={choose} {...offered} />
          {remove ? (
            <button
              type="button"
              aria-label={`Remove ${model}`}
              onClick={remove}
              className="size-9 shrink-0 rounded-control text-soft hover:bg-sunk"
            >
              ×
            </button>
          ) : null}
        </div>
        <p className="flex flex-wrap justify-between gap-x-3 text-sm text-soft">
          {pricing ? <PriceLine pricing={pricing} /> : null}
          <Link to="/models/$model" params={{ model }} className="text-accent hover:underline">
            About it
          </Link>
        </p>
      </div>
      {turns.length === 0 ? (
        <p className="py-6 text-center text-sm text-soft">Its answers appear here.</p>
      ) : (
        turns.map((turn) => <TurnView key={turn.id} turn={turn} shownModel={model} />)
      )}
    </section>
  );
}

function TurnView({ turn, shownModel }: { turn: Turn; shownModel: string }) {
  const { question, answer, state, error, request_id, model } = turn;
  return (
    <article className="grid min-w-0 gap-2">
      <p className="justify-self-end rounded-box bg-accent-soft px-3 py-1.5 break-words whitespace-pre-wrap">
        {question}
      </p>
      {model === shownModel ? null : (
        <p className="text-sm text-soft">
          Answered by <bdi>{model}</bdi>
        </p>
      )}
      {answer === '' ? null : (
        <Suspense fallback={<p className="whitespace-pre-wrap">{answer}</p>}>
          <Answer text={answer} />
        </Suspense>
      )}
      {state === 'running' ? <Running since_ms={turn.began_ms} hasText={answer !== ''} /> : null}
      {state === 'stopped' ? <p className="text-sm text-warn">Stopped.</p> : null}
      {state === 'failed' ? <ErrorNote error={error} /> : null}
      {state === 'running' ? null : (
        <div className="flex flex-wrap items-center gap-x-3">
          {request_id === undefined ? null : <Receipt request_id={request_id} />}
          {answer === '' ? null : <Copy text={answer} what="answer" shown="Copy" />}
        </div>
      )}
    </article>
  );
}

function Running({ since_ms, hasText }: { since_ms: number; hasText: boolean }) {
  const now = useNow(200);
  return (
    <p className="text-sm text-soft">
      {hasText ? 'Answering' : 'Waiting for the first token'},{' '}
      {duration(Math.max(0, now - since_ms))}
    </p>
  );
}
