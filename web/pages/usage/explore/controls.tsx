import { Choice, type Option } from '../../../parts/choice.tsx';
import {
  BUCKETS,
  bucketOf,
  type ExploreSearch,
  exploreSearchOf,
  GROUPS,
  groupOf,
  METRICS,
  needsUtc,
  TOPS,
} from './search.ts';

interface ControlsProps {
  readonly search: ExploreSearch;
  readonly onChange: (search: ExploreSearch) => void;
}

const METRIC_OPTIONS = Object.entries(METRICS).map(([value, label]) => ({ value, label }));
const GROUP_OPTIONS: readonly Option[] = Object.entries(GROUPS).map(([value, { label }]) => ({
  value,
  label,
}));

/** What is explored: a metric, by what, and in which steps of time. */
export function Controls({ search, onChange }: ControlsProps) {
  const set = (changed: Record<string, unknown>) =>
    onChange(exploreSearchOf({ ...search, as_of: undefined, ...changed }));
  const now = Date.now();
  const group = groupOf(search);
  const isUtc = needsUtc(search, now);
  const standard = bucketOf({ ...search, bucket: undefined }, now);
  const buckets = Object.entries(BUCKETS)
    .filter(([value]) => !isUtc || value === 'day' || value === 'month')
    .map(([value, label]) => ({ value, label }));
  return (
    <div className="grid gap-3">
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-5">
        <Choice
          label="Metric"
          value={search.metric ?? 'cost'}
          options={METRIC_OPTIONS}
          onChoose={(metric) => set({ metric: metric === 'cost' ? undefined : metric })}
        />
        <Choice
          label="By"
          value={group}
          none="Nothing"
          options={GROUP_OPTIONS}
          onChoose={(chosen) =>
            set({ group: chosen === 'logical_model' ? undefined : (chosen ?? 'none') })
          }
        />
        <Choice
          label="Then by"
          value={search.subgroup}
          none="Nothing"
          options={group ? GROUP_OPTIONS.filter(({ value }) => value !== group) : []}
          onChoose={(subgroup) => set({ subgroup })}
        />
        <Choice
          label="Steps"
          value={search.bucket}
          none={`Suitable: ${BUCKETS[isUtc && standard !== 'month' ? 'day' : standard].toLowerCase()}`}
          options={buckets}
          onChoose={(bucket) => set({ bucket })}
        />
        <Choice
          label="Rows"
          value={search.top ?? '10'}
          options={TOPS.map((value) => ({ value, label: `The largest ${value}` }))}
          onChoose={(top) => set({ top: top === '10' ? undefined : top })}
        />
      </div>
      <div className="flex flex-wrap gap-x-6 gap-y-1">
        <Switch
          label="Compare with the time before"
          on={search.compare === true}
          set={(on) => set({ compare: on || undefined })}
        />
        <Switch
          label="Sum from the start"
          on={search.cumulative === true}
          set={(on) => set({ cumulative: on || undefined })}
        />
      </div>
    </div>
  );
}

function Switch({ label, on, set }: { label: string; on: boolean; set: (on: boolean) => void }) {
  return (
    <label className="flex min-h-7 cursor-pointer items-center gap-2">
      <input
        type="checkbox"
        className="size-4"
        checked={on}
        onChange={({ target }) => set(target.checked)}
      />
      {label}
    </label>
  );
}
