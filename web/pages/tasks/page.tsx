import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { api } from '../../api/client.ts';
import type { ApiKey, List, Task } from '../../api/types.ts';
import { useCalmList } from '../../live/calm-list.ts';
import { Thumbnail } from '../../media/result-file.tsx';
import { ApiCall } from '../../parts/api-call.tsx';
import { Button } from '../../parts/button.tsx';
import { ChoiceFilter } from '../../parts/choice-filter.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { WaitingRows } from '../../parts/waiting-rows.tsx';
import { useHere } from '../../shell/here.ts';
import { TASK_SCENES, TASK_STATES, type TaskSearch } from './search.ts';
import { CancelTask, isRunning, TaskCost, TaskState } from './task-parts.tsx';

const PATH = '/v1/management/tasks';
/** How often tasks that run are read again, ms. Events say only that a task began or ended. */
const PROGRESS_MS = 2_000;

/** Where is my video? */
export function TasksPage() {
  const search = useSearch({ from: '/inside/tasks' });
  const navigate = useNavigate();
  const { status, scene, model, api_key_id } = search;
  const filters = { status, scene, model, api_key_id };
  const isFiltered = Object.values(filters).some((each) => each !== undefined);
  const list = useCalmList<Task>({
    key: ['tasks', 'list', filters],
    path: PATH,
    query: filters,
    idOf: ({ id }) => id,
    refresh_ms: (tasks) => (tasks.some(isRunning) ? PROGRESS_MS : false),
  });
  const change = (changed: TaskSearch) =>
    navigate({ to: '/tasks', search: { ...filters, ...changed }, replace: true });
  return (
    <Page
      title="Tasks"
      question="Where is my video?"
      call={<ApiCall path={PATH} query={filters} />}
    >
      <Filters search={search} change={change} />
      <Loaded query={list.query} height="h-96">
        {(tasks) =>
          tasks.length === 0 && isFiltered ? (
            <Empty
              title="No task fits"
              act={<Button onClick={() => navigate({ to: '/tasks' })}>Show all tasks</Button>}
            >
              A task must fit all of the filters.
            </Empty>
          ) : tasks.length === 0 ? (
            <Empty title="No task yet" command={FIRST_TASK(location.origin)}>
              Videos, songs, 3D models and images that take longer appear here while they are made,
              with their progress, their result and their cost.
            </Empty>
          ) : (
            <>
              <WaitingRows count={list.waiting} what="task" show={list.showWaiting} />
              <Table
                caption="Tasks"
                rows={tasks}
                keyOf={({ id }) => id}
                columns={COLUMNS}
                onOpen={({ id }) => navigate({ to: '/tasks/$id', params: { id } })}
              />
              {list.more ? (
                <Button busy={list.isReadingMore} onClick={list.more}>
                  Show more
                </Button>
              ) : null}
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

const FIRST_TASK = (origin: string) => `curl '${origin}/v1/videos/generations' \\
  -H "Authorization: Bearer $WEIR_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"model": "kling-3.0", "prompt": "A lighthouse in a storm"}'`;

const COLUMNS: Column<Task>[] = [
  {
    title: 'Task',
    cell: ({ id, scene, model, outputs }) => (
      <span className="flex items-start gap-3">
        <span className="min-w-0">
          <Link
            to="/tasks/$id"
            params={{ id }}
            className="font-mono text-[0.85em] break-all hover:underline"
          >
            {id}
          </Link>
          <span className="block text-sm text-soft">
            {scene} by <bdi>{model}</bdi>
          </span>
        </span>
        {outputs[0]?.url ? <Thumbnail url={outputs[0].url} title={`Result of ${id}`} /> : null}
      </span>
    ),
  },
  { title: 'State', cell: (task) => <TaskState task={task} /> },
  { title: 'Cost', align: 'right', cell: (task) => <TaskCost task={task} /> },
  { title: 'Created', onPhone: false, cell: ({ created_at }) => <Time at={created_at} ago /> },
  {
    title: 'Webhook',
    onPhone: false,
    cell: ({ webhook }) => webhook?.status ?? <span className="text-soft">–</span>,
  },
  { title: 'Act', isQuiet: true, onPhone: false, cell: (task) => <CancelTask task={task} /> },
];

function Filters({
  search,
  change,
}: {
  search: TaskSearch;
  change: (changed: TaskSearch) => void;
}) {
  const { may } = useHere();
  const keys = useQuery({
    queryKey: ['keys', 'names'],
    queryFn: ({ signal }) => api.get<List<ApiKey>>('/v1/management/api-keys', {}, signal),
    enabled: may('keys.read'),
  });
  return (
    <div className="grid grid-cols-2 gap-2 lg:grid-cols-4">
      <ChoiceFilter
        label="State"
        all="Every state"
        values={TASK_STATES}
        chosen={search.status}
        choose={(status) => change({ status: TASK_STATES.find((each) => each === status) })}
      />
      <ChoiceFilter
        label="Makes"
        all="Everything"
        values={TASK_SCENES}
        chosen={search.scene}
        choose={(scene) => change({ scene: TASK_SCENES.find((each) => each === scene) })}
      />
      <ChoiceFilter
        label="API key"
        all="Every API key"
        values={(keys.data?.data ?? []).map(({ id, name }) => ({ value: id, name }))}
        chosen={search.api_key_id}
        choose={(api_key_id) => change({ api_key_id })}
      />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const model = new FormData(event.currentTarget).get('model');
          change({ model: typeof model === 'string' && model !== '' ? model : undefined });
        }}
      >
        <input
          key={search.model ?? ''}
          name="model"
          aria-label="Model"
          placeholder="Model, then Enter"
          defaultValue={search.model ?? ''}
          className="control"
          data-search
        />
      </form>
    </div>
  );
}
