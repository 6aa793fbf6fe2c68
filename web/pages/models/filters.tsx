import type { Model } from '../../api/types.ts';
import { ChoiceFilter } from '../../parts/choice-filter.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { abilitiesOf, type ModelSearch, SORTS } from './search.ts';

interface FiltersProps {
  readonly models: readonly Model[];
  readonly search: ModelSearch;
  readonly change: (changed: ModelSearch) => void;
}

const SORT_NAMES: Record<(typeof SORTS)[number], string> = {
  catalogue: 'In order',
  name: 'By name',
  price: 'Lowest price',
  rank: 'Best rank',
  spent: 'Most spent',
};

/** The search, the filters and the order of the list. All of them are in the address. */
export function Filters({ models, search, change }: FiltersProps) {
  const distinct = (values: readonly string[]) => [...new Set(values)].sort();
  return (
    <div className="grid grid-cols-2 gap-2 lg:grid-cols-[minmax(12rem,2fr)_repeat(4,minmax(0,1fr))]">
      <SearchBox
        label="Search models"
        placeholder="Search by name, vendor or ability"
        className="max-lg:col-span-2"
        value={search.q}
        onChange={(q) => change({ q })}
      />
      <ChoiceFilter
        label="Makes"
        all="Everything"
        values={distinct(models.map(({ category }) => category))}
        chosen={search.category}
        choose={(category) => change({ category })}
      />
      <ChoiceFilter
        label="Vendor"
        all="Every vendor"
        values={distinct(models.map(({ owned_by }) => owned_by))}
        chosen={search.vendor}
        choose={(vendor) => change({ vendor })}
      />
      <ChoiceFilter
        label="Can"
        all="Any ability"
        values={distinct(models.flatMap(abilitiesOf))}
        chosen={search.can}
        choose={(can) => change({ can })}
      />
      <select
        aria-label="Order"
        className="control"
        value={search.sort ?? 'catalogue'}
        onChange={({ target }) =>
          change({ sort: SORTS.find((each) => each === target.value && each !== 'catalogue') })
        }
      >
        {SORTS.map((each) => (
          <option key={each} value={each}>
            {SORT_NAMES[each]}
          </option>
        ))}
      </select>
    </div>
  );
}
