import { useEffect, useReducer, useRef } from 'react';
import { api } from '../../api/client.ts';
import type { Task } from '../../api/types.ts';
import { type MadeOutput, make } from '../../calls/made.ts';

/** One call that makes something. */
export interface Run {
  readonly id: number;
  readonly model: string;
  readonly prompt: string;
  readonly state: 'running' | 'complete' | 'stopped' | 'failed';
  readonly began_ms: number;
  /** Percent; null if nobody knows how far it is. */
  readonly progress: number | null;
  readonly outputs: readonly MadeOutput[];
  readonly error?: unknown;
  readonly request_id?: string | undefined;
  readonly task_id?: string | undefined;
  /** What became of the request to cancel the task, and what it means for the money. */
  readonly canceling?: string | undefined;
}

/** What a run begins with. */
interface Wish {
  readonly model: string;
  readonly prompt: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly key_id: string;
}

/** The runs of a scene, the newest first. */
export interface Runs {
  readonly runs: readonly Run[];
  readonly begin: (wish: Wish) => void;
  readonly stop: (id: number) => void;
}

type Change = { readonly id: number; readonly with: Partial<Run> } | { readonly run: Run };

const reduce = (runs: readonly Run[], change: Change): readonly Run[] =>
  'run' in change
    ? [change.run, ...runs]
    : runs.map((run) => (run.id === change.id ? { ...run, ...change.with } : run));

/** Keeps the runs of a scene while the page is open. A task goes on after that, on the page of tasks. */
export function useRuns(): Runs {
  const [runs, change] = useReducer(reduce, []);
  const running = useRef(new Map<number, { controller: AbortController; task_id?: string }>());
  const next_id = useRef(1);
  useEffect(
    () => () => {
      for (const { controller } of running.current.values()) controller.abort();
    },
    [],
  );
  const begin = async ({ model, prompt, path, body, key_id }: Wish) => {
    const id = next_id.current;
    next_id.current += 1;
    const controller = new AbortController();
    const mine: { controller: AbortController; task_id?: string } = { controller };
    running.current.set(id, mine);
    const begun = { id, model, prompt, state: 'running', began_ms: Date.now() } as const;
    change({ run: { ...begun, progress: null, outputs: [] } });
    const tell = (changes: Partial<Run>) => change({ id, with: changes });
    try {
      const outputs = await make(
        { path, body, key_id, signal: controller.signal },
        {
          onBegin: ({ request_id, task_id }) => {
            if (task_id !== undefined) mine.task_id = task_id;
            tell({ request_id, task_id });
          },
          onProgress: (progress) => tell({ progress }),
        },
      );
      tell({ outputs, state: 'complete' });
    } catch (error) {
      tell(controller.signal.aborted ? { state: 'stopped' } : { state: 'failed', error });
    } finally {
      running.current.delete(id);
    }
  };
  const stop = async (id: number) => {
    const mine = running.current.get(id);
    if (!mine) return;
    const { task_id, controller } = mine;
    // A call without a task ends with its connection. A task goes on until it is canceled.
    if (task_id === undefined) controller.abort();
    else {
      await api.post<Task>(`/v1/management/tasks/${encodeURIComponent(task_id)}/cancel`).then(
        ({ cancellation }) => change({ id, with: { canceling: cancellation?.message } }),
        (error: unknown) => change({ id, with: { error } }),
      );
    }
  };
  return { runs, begin: (wish) => void begin(wish), stop: (id) => void stop(id) };
}
