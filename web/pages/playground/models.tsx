import { queryOptions, useQuery } from '@tanstack/react-query';
import type { Model } from '../../api/types.ts';
import { sendWithKey } from '../../calls/key-call.ts';
import { modelsQuery } from '../../catalogue/queries.ts';
import { CATEGORY_OF, type Scene } from './scenes.ts';

/** The models of a scene. `callable` are the ids of those that the key may call now. */
export interface SceneModels {
  readonly models: readonly Model[];
  readonly callable: ReadonlySet<string>;
}

/** The read of the models that a key may call now. */
export const callableBy = (key_id: string) =>
  queryOptions({
    queryKey: ['models', 'callable', key_id],
    queryFn: async ({ signal }) => {
      const call = { method: 'GET' as const, path: '/v1/models?callable=true', key_id, signal };
      const { data } = (await (await sendWithKey(call)).json()) as { data: { id: string }[] };
      return new Set(data.map(({ id }) => id));
    },
  });

/** Reads the models of a scene, and which of them the key may call now. */
export function useSceneModels(scene: Scene, key_id: string) {
  const all = useQuery(modelsQuery());
  const callable = useQuery(callableBy(key_id));
  const models = all.data?.filter(({ category }) => category === CATEGORY_OF[scene]);
  const data: SceneModels | undefined =
    models && callable.data ? { models, callable: callable.data } : undefined;
  return {
    data,
    error: all.error ?? callable.error,
    dataUpdatedAt: Math.min(all.dataUpdatedAt, callable.dataUpdatedAt),
    refetch: () => Promise.all([all.refetch(), callable.refetch()]),
  };
}

interface ModelChoiceProps extends SceneModels {
  readonly label: string;
  readonly value: string;
  readonly choose: (model: string) => void;
}

/** A choice of a model. Those that the key may not call now say so, and can be tried anyway. */
export function ModelChoice({ label, value, choose, models, callable }: ModelChoiceProps) {
  const isKnown = models.some(({ id }) => id === value);
  return (
    <select
      aria-label={label}
      className="control"
      value={value}
      onChange={({ target }) => choose(target.value)}
    >
      {isKnown ? null : <option value={value}>{value}</option>}
      {models.map(({ id, status }) => (
        <option key={id} value={id}>
          {id}
          {callable.has(id)
            ? ''
            : status === 'unavailable'
              ? ' (unavailable now)'
              : ' (not for this key)'}
        </option>
      ))}
    </select>
  );
}

/** The model that a scene begins with: the first that the key may call now. */
export const firstModel = ({ models, callable }: SceneModels): string | undefined =>
  (models.find(({ id }) => callable.has(id)) ?? models[0])?.id;
