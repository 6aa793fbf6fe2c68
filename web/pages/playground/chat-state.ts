import { useEffect, useReducer, useRef } from 'react';
import { streamChat } from '../../calls/chat-call.ts';

/** How often text that streams in is shown, ms. A page that draws each token is slow. */
const SHOW_EVERY_MS = 80;

/** One question and its answer in one column. */
export interface Turn {
  readonly id: number;
  readonly model: string;
  readonly question: string;
  readonly answer: string;
  readonly state: 'running' | 'complete' | 'stopped' | 'failed';
  readonly began_ms: number;
  readonly error?: unknown;
  readonly request_id?: string | undefined;
}

/** The turns of each column, the oldest first. */
type Columns = readonly (readonly Turn[])[];

type Change =
  | { readonly kind: 'ask'; readonly column: number; readonly turn: Turn }
  | {
      readonly kind: 'tell';
      readonly column: number;
      readonly id: number;
      readonly with: (turn: Turn) => Turn;
    }
  | { readonly kind: 'remove'; readonly column: number }
  | { readonly kind: 'clear' };

function reduce(columns: Columns, change: Change): Columns {
  switch (change.kind) {
    case 'ask': {
      const { column, turn } = change;
      const filled = Array.from(
        { length: Math.max(columns.length, column + 1) },
        (_, at) => columns[at] ?? [],
      );
      return filled.with(column, [...(filled[column] ?? []), turn]);
    }
    case 'tell':
      return columns.map((turns, at) =>
        at === change.column
          ? turns.map((turn) => (turn.id === change.id ? change.with(turn) : turn))
          : turns,
      );
    case 'remove':
      return columns.toSpliced(change.column, 1);
    case 'clear':
      return [];
    default:
      return change satisfies never;
  }
}

/** A chat call for one column. */
interface Question {
  readonly column: number;
  readonly model: string;
  readonly question: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly key_id: string;
}

/** The conversations side by side, and what changes them. */
export interface Chats {
  readonly columns: Columns;
  readonly isRunning: boolean;
  readonly ask: (question: Question) => void;
  /** Stops the answers that still stream. The part that came is charged. */
  readonly stop: () => void;
  readonly clear: () => void;
  readonly removeColumn: (column: number) => void;
}

/** Keeps the conversations while the page is open. Nothing of them is stored. */
export function useChats(): Chats {
  const [columns, change] = useReducer(reduce, []);
  const running = useRef(new Set<AbortController>());
  const next_id = useRef(1);
  const stop = () => abortAll(running.current);
  useEffect(() => () => abortAll(running.current), []);
  const ask = ({ column, model, question, body, key_id }: Question) => {
    const id = next_id.current;
    next_id.current += 1;
    const turn = {
      id,
      model,
      question,
      answer: '',
      state: 'running',
      began_ms: Date.now(),
    } as const;
    change({ kind: 'ask', column, turn });
    const tell = (changes: (turn: Turn) => Turn) =>
      change({ kind: 'tell', column, id, with: changes });
    void answer({ body, key_id }, running.current, tell);
  };
  return {
    columns,
    isRunning: columns.some((turns) => turns.some(({ state }) => state === 'running')),
    ask,
    stop,
    clear: () => {
      stop();
      change({ kind: 'clear' });
    },
    removeColumn: (column) => change({ kind: 'remove', column }),
  };
}

function abortAll(running: ReadonlySet<AbortController>): void {
  for (const each of running) each.abort();
}

async function answer(
  call: { body: unknown; key_id: string },
  running: Set<AbortController>,
  tell: (changes: (turn: Turn) => Turn) => void,
): Promise<void> {
  const controller = new AbortController();
  running.add(controller);
  let waiting = '';
  let timer: ReturnType<typeof setTimeout> | undefined;
  const show = () => {
    clearTimeout(timer);
    timer = undefined;
    const text = waiting;
    waiting = '';
    if (text !== '') tell((turn) => ({ ...turn, answer: turn.answer + text }));
  };
  try {
    await streamChat(
      { ...call, signal: controller.signal },
      {
        onBegin: (request_id) => tell((turn) => ({ ...turn, request_id })),
        onText: (text) => {
          waiting += text;
          timer ??= setTimeout(show, SHOW_EVERY_MS);
        },
      },
    );
    show();
    tell((turn) => ({ ...turn, state: 'complete' }));
  } catch (error) {
    show();
    const isStopped = controller.signal.aborted;
    tell((turn) =>
      isStopped ? { ...turn, state: 'stopped' } : { ...turn, state: 'failed', error },
    );
  } finally {
    running.delete(controller);
  }
}
