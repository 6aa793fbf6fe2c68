import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import type { Model } from '../../api/types.ts';
import { modelsQuery } from '../../catalogue/queries.ts';
import { Loaded } from '../../parts/loaded.tsx';

interface ModelsFieldProps {
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

/** Chooses the models that a key may use. None means all. */
export function ModelsField(props: ModelsFieldProps) {
  const catalogue = useQuery(modelsQuery());
  return (
    <Loaded query={catalogue} height="h-40">
      {(models) => <Choices models={models} {...props} />}
    </Loaded>
  );
}

function Choices({ models, chosen, onChange }: ModelsFieldProps & { models: readonly Model[] }) {
  const [text, setText] = useState('');
  const id = useId();
  // A model that left the catalogue may stay in the list of a key that has it.
  const gone = chosen.filter((each) => !models.some((model) => model.id === each));
  const all = [...gone.map((each) => ({ id: each, category: 'not in the catalogue' })), ...models];
  const shown = all.filter(({ id: name, category }) =>
    `${name} ${category}`.toLowerCase().includes(text.trim().toLowerCase()),
  );
  const toggle = (model: string) =>
    onChange(chosen.includes(model) ? chosen.filter((each) => each !== model) : [...chosen, model]);
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap items-center gap-3">
        <input
          className="control min-w-0 flex-1 basis-40"
          type="search"
          aria-label="Find a model"
          placeholder="Find a model"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        {chosen.length > 0 ? (
          <button
            type="button"
            className="text-sm text-accent underline"
            onClick={() => onChange([])}
          >
            Allow all
          </button>
        ) : null}
      </div>
      <ul className="grid max-h-48 gap-x-4 overflow-y-auto rounded-control border border-line p-2 sm:grid-cols-2">
        {shown.map(({ id: name, category }) => (
          <li key={name}>
            <label
              htmlFor={`${id}-${name}`}
              className="flex items-baseline gap-2 rounded px-1 py-0.5 hover:bg-sunk"
            >
              <input
                id={`${id}-${name}`}
                type="checkbox"
                checked={chosen.includes(name)}
                onChange={() => toggle(name)}
              />
              <span className="min-w-0 break-all">
                {name} <span className="text-sm text-soft">{category}</span>
              </span>
            </label>
          </li>
        ))}
        {shown.length === 0 ? <li className="px-1 text-soft">No model has this name.</li> : null}
      </ul>
    </div>
  );
}
