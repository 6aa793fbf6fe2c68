import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { api } from '../../api/client.ts';
import type { ApiKey, List } from '../../api/types.ts';
import { modelsQuery } from '../../catalogue/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { CapBar } from '../../parts/cap-bar.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Field } from '../../parts/field.tsx';
import { GoLink } from '../../parts/go-link.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import type { Beginning } from '../../shell/begin.ts';
import { useHere } from '../../shell/here.ts';
import { ChatScene } from './chat-scene.tsx';
import { MakeScene } from './make-scene.tsx';
import { callableBy } from './models.tsx';
import { type PlaygroundSearch, readPlaygroundSearch, SCENES } from './scenes.ts';

const KEYS_PATH = '/v1/management/api-keys';

/** The read of the keys that can pay. */
const usableKeys = queryOptions({
  queryKey: ['keys', 'usable'],
  queryFn: async ({ signal }) =>
    (await api.get<List<ApiKey>>(KEYS_PATH, {}, signal)).data.filter(
      ({ status }) => status === 'active',
    ),
});

/** The key that pays: that of the address, or else the first one. */
const chosenOf = (keys: readonly ApiKey[], { key }: PlaygroundSearch): ApiKey | undefined =>
  keys.find(({ id }) => id === key) ?? keys[0];

/** Begins the reads of the page. */
export function begin({ queries, here, search }: Beginning): void {
  if (!here.may('keys.use')) return;
  queries.prefetchQuery(modelsQuery());
  const readCallable = (keys: readonly ApiKey[]) => {
    const key = chosenOf(keys, readPlaygroundSearch(search));
    if (key) queries.prefetchQuery(callableBy(key.id));
  };
  // The page reads again what failed, and shows the error.
  queries.fetchQuery(usableKeys).then(readCallable, () => undefined);
}

/** Does it work, and what does it cost? */
export function PlaygroundPage() {
  const { may } = useHere();
  return (
    <Page
      title="Playground"
      question="Does it work, and what does it cost?"
      call={<ApiCall path={KEYS_PATH} />}
    >
      {may('keys.use') ? (
        <WithKey />
      ) : (
        <Empty title="Your role cannot call models">
          An owner, an admin or a member of the organization can. Ask one of them to change your
          role.
        </Empty>
      )}
    </Page>
  );
}

function WithKey() {
  const keys = useQuery(usableKeys);
  return (
    <Loaded query={keys} height="h-96">
      {(usable) => (usable.length === 0 ? <NoKey /> : <WithKeys keys={usable} />)}
    </Loaded>
  );
}

function NoKey() {
  return (
    <Empty
      title="No active API key"
      act={<GoLink to="/keys?create=true">Create an API key</GoLink>}
    >
      Calls are paid by an API key, within its cap. The page never gets the secret of the key.
    </Empty>
  );
}

function WithKeys({ keys }: { keys: readonly ApiKey[] }) {
  const search = useSearch({ from: '/inside/playground' });
  const navigate = useNavigate();
  const change = (changed: PlaygroundSearch) =>
    navigate({ to: '/playground', search: { ...search, ...changed }, replace: true });
  const key = chosenOf(keys, search);
  const { scene = 'chat', models = [] } = search;
  if (!key) return <NoKey />;
  const chooseModels = (chosen: readonly string[]) => change({ models: chosen });
  return (
    <>
      <div className="flex flex-wrap items-start justify-between gap-x-8 gap-y-4">
        <nav aria-label="What to make" className="flex flex-wrap gap-1">
          {SCENES.map((each) => (
            <Link
              key={each}
              to="/playground"
              search={{ key: search.key, scene: each }}
              aria-current={each === scene ? 'page' : undefined}
              className="rounded-control px-3 py-1.5 text-soft capitalize hover:bg-sunk aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent"
            >
              {each}
            </Link>
          ))}
        </nav>
        <div className="flex min-w-0 flex-wrap items-center gap-4">
          <div className="w-56 max-w-full">
            <Field label="Paid by" why="An API key of the organization.">
              <select
                className="control"
                value={key.id}
                onChange={({ target }) => change({ key: target.value })}
              >
                {keys.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
            </Field>
          </div>
          <div className="w-44">
            <CapBar used={key.used_amount} cap={key.limit_amount} />
          </div>
        </div>
      </div>
      {scene === 'chat' ? (
        <ChatScene key_id={key.id} models={models} chooseModels={chooseModels} />
      ) : (
        <MakeScene
          key={scene}
          scene={scene}
          key_id={key.id}
          model={models[0]}
          choose={(model) => chooseModels([model])}
        />
      )}
    </>
  );
}
