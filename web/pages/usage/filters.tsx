import { queryOptions, useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import type { UsageQuery } from '../../api/types.ts';
import { Button } from '../../parts/button.tsx';
import { Choice, type Option } from '../../parts/choice.tsx';
import { Field } from '../../parts/field.tsx';
import { Folded } from '../../parts/folded.tsx';
import { OUTCOMES } from './outcomes.tsx';
import { USED_MODELS } from './reads.ts';
import { type FilterName, filterCount, RANGES, SEARCH_NAMES, type UsageSearch } from './search.ts';

const SCENES = 'chat image audio video embedding rerank translation music 3d'.split(' ');
const PROTOCOLS = ['openai', 'anthropic', 'responses', 'gemini'];
const FAULTS: readonly Option[] = [
  { value: 'caller', label: 'The client' },
  { value: 'cap', label: 'A limit of money or rate' },
  { value: 'weir', label: 'Weir' },
  { value: 'provider', label: 'The provider' },
];

const withoutFilters = Object.fromEntries(
  [...SEARCH_NAMES, 'range'].map((name) => [name, undefined]),
);

interface FiltersProps {
  readonly search: UsageSearch;
  readonly onChange: (search: UsageSearch) => void;
  readonly names: ReadonlyMap<string, string> | undefined;
  /** True for the list of requests, which may have any time and filters of its own. */
  readonly forList?: boolean;
}

/** The filters of usage. Each change is an address of its own. */
export function Filters({ search, onChange, names, forList = false }: FiltersProps) {
  // Another picture is asked for, so the one that the page held ends.
  const change = (changed: UsageSearch) => onChange({ ...search, as_of: undefined, ...changed });
  const set = (name: FilterName) => (value: string | undefined) => change({ [name]: value });
  const keys = [...(names ?? [])].map(([value, label]) => ({ value, label }));
  return (
    <div className="grid gap-3">
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-4">
        <RangeChoice search={search} change={change} forList={forList} />
        <Choice
          label="API key"
          value={search.api_key_id}
          none="All keys"
          options={keys.toSorted((a, b) => a.label.localeCompare(b.label))}
          onChoose={set('api_key_id')}
        />
        <ModelChoice value={search.logicalModel} onChoose={set('logicalModel')} />
        <Choice
          label="Outcome"
          value={search.outcome}
          none="All outcomes"
          options={Object.entries(OUTCOMES).map(([value, { says }]) => ({
            value,
            label: `${value}: ${says}`,
          }))}
          onChoose={set('outcome')}
        />
      </div>
      <MoreFilters search={search} set={set} change={change} forList={forList} />
    </div>
  );
}

interface MoreProps {
  readonly search: UsageSearch;
  readonly set: (name: FilterName) => (value: string | undefined) => void;
  readonly change: (changed: UsageSearch) => void;
  readonly forList: boolean;
}

function MoreFilters({ search, set, change, forList }: MoreProps) {
  const { api_key_id: _, logicalModel: __, outcome: ___, ...hidden } = search;
  const active = filterCount(hidden);
  const textField = (name: 'modelVendor' | 'user' | 'errorCode', label: string, why: string) => (
    <Field label={label} why={why}>
      <input
        key={search[name] ?? ''}
        className="control"
        defaultValue={search[name]}
        onBlur={({ target }) => {
          if (target.value !== (search[name] ?? '')) set(name)(target.value.trim() || undefined);
        }}
        onKeyDown={({ key, currentTarget }) => {
          if (key === 'Enter') currentTarget.blur();
        }}
      />
    </Field>
  );
  const isFiltered =
    filterCount(search) > 0 || search.range || search.startDate || search.endDate
      ? true
      : undefined;
  return (
    <div className="flex flex-wrap items-start justify-between gap-3">
      <Folded
        summary={`More filters${active > 0 ? ` (${active})` : ''}`}
        className="min-w-0 flex-1"
        isOpen={active > 0}
      >
        {() => (
          <div className="mt-3 grid gap-4 rounded-box border border-line bg-card p-4 sm:grid-cols-2 lg:grid-cols-3">
            <Choice
              label="Scene"
              why="What the call makes."
              value={search.scene}
              none="All scenes"
              options={optionsOf(SCENES)}
              onChoose={set('scene')}
            />
            <Choice
              label="Protocol"
              why="The API that the client speaks."
              value={search.protocol}
              none="All protocols"
              options={optionsOf(PROTOCOLS)}
              onChoose={set('protocol')}
            />
            <Choice
              label="Access channel"
              why="Who pays the provider: the platform, or your own key."
              value={search.accessChannel}
              none="Both"
              options={optionsOf(['platform', 'byok'])}
              onChoose={set('accessChannel')}
            />
            {textField('modelVendor', 'Model vendor', 'Who makes the model, e.g. openai.')}
            {textField('user', 'End user', 'The user that the client named with the call.')}
            {forList ? (
              <>
                <Choice
                  label="Whose fault"
                  why="Who can mend what went wrong."
                  value={search.fault}
                  none="All"
                  options={FAULTS}
                  onChoose={set('fault')}
                />
                <Choice
                  label="Running tasks"
                  why="A task counts in sums when it ends."
                  value={search.running === 'false' ? 'false' : undefined}
                  none="Listed as accepted"
                  options={[{ value: 'false', label: 'Left out' }]}
                  onChoose={set('running')}
                />
                {textField(
                  'errorCode',
                  'Error code',
                  'The code of the API, e.g. rate_limit_exceeded.',
                )}
              </>
            ) : null}
          </div>
        )}
      </Folded>
      {isFiltered ? (
        <Button kind="quiet" onClick={() => change(withoutFilters)}>
          Clear
        </Button>
      ) : null}
    </div>
  );
}

const optionsOf = (values: readonly string[]): Option[] =>
  values.map((value) => ({ value, label: value }));

function RangeChoice({
  search,
  change,
  forList,
}: Pick<MoreProps, 'search' | 'change' | 'forList'>) {
  const { range, startDate, endDate } = search;
  const isOwn = startDate !== undefined || endDate !== undefined;
  const shown = (iso: string | undefined, none: string) =>
    iso === undefined
      ? none
      : new Date(iso).toLocaleString([], { dateStyle: 'short', timeStyle: 'short' });
  return (
    <Choice
      label="Time"
      value={isOwn ? 'own' : range}
      none={forList ? 'All time' : 'Last 30 days'}
      options={[
        ...Object.entries(RANGES)
          .filter(([value]) => forList || value !== '30d')
          .map(([value, label]) => ({ value, label })),
        ...(isOwn
          ? [{ value: 'own', label: `${shown(startDate, 'Start')} – ${shown(endDate, 'now')}` }]
          : []),
      ]}
      onChoose={(value) => {
        if (value === 'own') return;
        change({ range: value as UsageSearch['range'], startDate: undefined, endDate: undefined });
      }}
    />
  );
}

/** The read of the models that were used lately. */
export const usedModels = queryOptions({
  queryKey: ['used-models'],
  queryFn: ({ signal }) => api.get<UsageQuery>('/v1/management/usage/query', USED_MODELS, signal),
  staleTime: 30_000,
});

/** Offers the models that were used lately, the most used first. */
function ModelChoice({
  value,
  onChoose,
}: {
  value: string | undefined;
  onChoose: (value: string | undefined) => void;
}) {
  const { data } = useQuery(usedModels);
  const models = data?.series.flatMap(({ group }) => (group === null ? [] : [group])) ?? [];
  return (
    <Choice
      label="Model"
      value={value}
      none="All models"
      options={optionsOf(models)}
      onChoose={onChoose}
    />
  );
}
