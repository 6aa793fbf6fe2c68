import { ChoiceFilter } from '../../parts/choice-filter.tsx';
import { NAMES } from './names.ts';
import type { ActorsSearch } from './search.ts';

interface FiltersProps {
  readonly search: ActorsSearch;
  readonly change: (changed: ActorsSearch) => void;
  /** Operators see channels, and actors of other organizations. */
  readonly isOperator: boolean;
}

/** Which actors the list shows. */
export function Filters({ search, change, isOperator }: FiltersProps) {
  const { kind, state, show, id, own } = search;
  const kinds = Object.entries(NAMES).map(([value, name]) => ({ value, name }));
  return (
    <div className="grid grid-cols-2 gap-2 lg:grid-cols-4">
      <ChoiceFilter
        label="Shown actors"
        all="Stuck ones first"
        values={[
          { value: 'stuck', name: 'Only stuck ones' },
          { value: 'living', name: 'All living ones' },
          { value: 'ended', name: 'Ended ones' },
        ]}
        chosen={show}
        choose={(to) => change({ show: to as ActorsSearch['show'] })}
      />
      <ChoiceFilter
        label="Machine"
        all="Every machine"
        values={isOperator ? kinds : kinds.filter(({ value }) => value !== 'channel')}
        chosen={kind}
        choose={(to) => change({ kind: to, state: undefined })}
      />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const data = new FormData(event.currentTarget);
          const text = (name: string) => String(data.get(name) ?? '').trim() || undefined;
          change({ id: text('id'), state: text('state') });
        }}
        className="contents"
      >
        <input
          key={`state ${state}`}
          name="state"
          aria-label="State"
          placeholder="State, then Enter"
          defaultValue={state ?? ''}
          className="control font-mono placeholder:font-sans"
        />
        <input
          key={`id ${id}`}
          name="id"
          aria-label="Id"
          placeholder="Whole id, then Enter"
          defaultValue={id ?? ''}
          className="control font-mono placeholder:font-sans"
          data-search
        />
        {/* A form with several fields is sent by Enter only if it has a button. */}
        <button type="submit" hidden aria-label="Filter" />
      </form>
      {isOperator ? (
        <label className="col-span-full flex items-center gap-2 text-sm text-soft">
          <input
            type="checkbox"
            checked={own === true}
            onChange={({ target }) => change({ own: target.checked ? true : undefined })}
          />
          Only those of this organization
        </label>
      ) : null}
    </div>
  );
}
