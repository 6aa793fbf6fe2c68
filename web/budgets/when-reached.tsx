import { useQuery } from '@tanstack/react-query';
import { modelsQuery } from '../catalogue/queries.ts';
import { Field } from '../parts/field.tsx';
import type { WhenReached } from './choice.ts';

interface WhenReachedProps {
  /** The name in errors of the API. */
  readonly param?: string;
  readonly value: WhenReached;
  readonly onChange: (value: WhenReached) => void;
  readonly error: unknown;
}

/** Chooses what happens to a call that does not fit. */
export function WhenReachedField({
  value,
  onChange,
  error,
  param = 'when_reached',
}: WhenReachedProps) {
  const isMove = typeof value === 'object';
  return (
    <>
      <Field
        label="When it is reached"
        param={param}
        error={error}
        why="What happens to a call that does not fit."
      >
        <select
          className="control"
          value={isMove ? 'move' : value}
          onChange={({ target }) =>
            onChange(
              target.value === 'move' ? { move_to: '' } : (target.value as 'refuse' | 'warn'),
            )
          }
        >
          <option value="refuse">Refuse the call</option>
          <option value="warn">Serve it, and warn in a header</option>
          <option value="move">Serve it by a cheaper model</option>
        </select>
      </Field>
      {isMove ? (
        <MoveTo
          model={value.move_to}
          onChange={(move_to) => onChange({ move_to })}
          error={error}
          param={`${param}.move_to`}
        />
      ) : null}
    </>
  );
}

interface MoveToProps {
  readonly model: string;
  readonly onChange: (model: string) => void;
  readonly error: unknown;
  readonly param: string;
}

function MoveTo({ model, onChange, error, param }: MoveToProps) {
  const { data = [] } = useQuery(modelsQuery());
  const ids = data.map(({ id }) => id);
  // A model that is no longer offered stays in sight, as do all while the list is unknown.
  const offered = model === '' || ids.includes(model) ? ids : [model, ...ids];
  return (
    <Field
      label="Move to"
      param={param}
      error={error}
      why="A call that cannot go there, e.g. of another kind, stays with its model and gets a warning."
    >
      <select
        className="control"
        required
        value={model}
        onChange={({ target }) => onChange(target.value)}
      >
        <option value="" disabled>
          Choose a model
        </option>
        {offered.map((id) => (
          <option key={id} value={id}>
            {id}
          </option>
        ))}
      </select>
    </Field>
  );
}
