import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { OwnKey } from '../../../api/types.ts';
import { ApiCall, curlOf } from '../../../parts/api-call.tsx';
import { Badge } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { counted } from '../../../parts/figures.ts';
import { GoLink } from '../../../parts/go-link.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { type Column, Table } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import type { Beginning } from '../../../shell/begin.ts';
import { useHere } from '../../../shell/here.ts';
import { AccessPage } from '../access-page.tsx';
import { AddOwnKeyDialog } from './add-dialog.tsx';
import { OWN_KEYS_PATH, ownKeysQuery } from './data.ts';
import { OwnKeyMenu } from './own-key-menu.tsx';
import { providerOf } from './protocols.ts';

/** Begins the read of the page. */
export function begin({ queries, here }: Beginning): void {
  if (here.may('upstream_keys.read')) queries.prefetchQuery(ownKeysQuery);
}

/** Which of our own accounts at providers serve calls? */
export function OwnKeysPage() {
  const { create = false, ended = false } = useSearch({ from: '/inside/access/upstream-keys' });
  const navigate = useNavigate();
  const { may } = useHere();
  const canWrite = may('upstream_keys.write');
  const kept = ended ? { ended } : {};
  const show = (next: { create?: boolean; ended?: boolean }) =>
    navigate({ to: '/access/upstream-keys', search: next, replace: true });
  return (
    <AccessPage
      at="/access/upstream-keys"
      question="Which of our own accounts at providers serve calls?"
      acts={
        canWrite ? (
          <Button kind="primary" onClick={() => show({ create: true, ...kept })}>
            Add a key
          </Button>
        ) : undefined
      }
      call={<ApiCall path={OWN_KEYS_PATH} />}
    >
      <p className="max-w-prose text-soft">
        A call of a model that an own key serves costs a fee instead of the price of the catalogue.
        Whether the platform may take over is the setting{' '}
        <GoLink to="/access/settings" className="underline">
          Own keys
        </GoLink>
        .
      </p>
      <label className="flex items-center gap-2">
        <input
          type="checkbox"
          checked={ended}
          onChange={(event) => show(event.target.checked ? { ended: true } : {})}
        />
        Show revoked keys too
      </label>
      <OwnKeys ended={ended} canWrite={canWrite} />
      {create && canWrite ? <AddOwnKeyDialog onClose={() => show(kept)} /> : null}
    </AccessPage>
  );
}

function OwnKeys({ ended, canWrite }: { ended: boolean; canWrite: boolean }) {
  const keys = useQuery(ownKeysQuery);
  const columns: Column<OwnKey>[] = [
    {
      title: 'Key',
      cell: ({ name, protocol, base_url }) => (
        <div className="min-w-28">
          <bdi className="font-medium">{name}</bdi>
          <div className="text-[0.9em] text-soft">{providerOf(protocol)}</div>
          <div className="font-mono text-[0.82em] break-all text-soft">{base_url}</div>
        </div>
      ),
    },
    { title: 'Status', cell: (key) => <OwnKeyState of={key} /> },
    { title: 'Models', onPhone: false, cell: ({ models }) => <Models of={models} /> },
    { title: 'Order', align: 'right', onPhone: false, cell: ({ priority }) => priority },
    {
      title: 'Key since',
      onPhone: false,
      cell: ({ rotated_at }) => <Time at={rotated_at} ago />,
    },
    ...(canWrite
      ? [{ title: 'Acts', isQuiet: true, cell: (key: OwnKey) => <OwnKeyMenu of={key} /> }]
      : []),
  ];
  return (
    <Loaded query={keys} height="h-40">
      {(all) => {
        const shown = all.filter(({ status }) => ended || status === 'active');
        return shown.length === 0 ? (
          <NoKeys />
        ) : (
          <Table
            caption="Own keys"
            columns={columns}
            rows={shown.toSorted((a, b) => a.priority - b.priority)}
            keyOf={({ id }) => id}
          />
        );
      }}
    </Loaded>
  );
}

/** What a key is to calls, and what its provider said last if it refused the key. */
function OwnKeyState({ of: { status, key_tested, last_refusal } }: { of: OwnKey }) {
  if (status === 'revoked') return <Badge tone="bad">revoked</Badge>;
  if (last_refusal === null) {
    return key_tested ? (
      <Badge tone="good">works</Badge>
    ) : (
      <span title="The provider answers without looking at the key, so the first call tests it.">
        <Badge tone="calm">not proved</Badge>
      </span>
    );
  }
  return (
    <div className="grid justify-items-start gap-0.5">
      <Badge tone="bad">refused</Badge>
      <span className="max-w-80 text-sm text-soft">
        <Time at={last_refusal.at} ago />: <bdi>{last_refusal.message}</bdi>
      </span>
    </div>
  );
}

const SHOWN_MODELS = 3;

function Models({ of: models }: { of: OwnKey['models'] }) {
  const left = models.length - SHOWN_MODELS;
  return (
    <span className="break-all" title={models.map(({ id }) => id).join(', ')}>
      {models
        .slice(0, SHOWN_MODELS)
        .map(({ id }) => id)
        .join(', ')}
      {left > 0 ? <span className="text-soft"> and {counted(left, 'other')}</span> : null}
    </span>
  );
}

function NoKeys() {
  const body = { protocol: 'openai', api_key: 'sk-…', models: { 'gpt-4o': 'gpt-4o' } };
  return (
    <Empty title="No own keys" command={curlOf({ method: 'POST', path: OWN_KEYS_PATH, body })}>
      With a key for an account of yours at a provider, the provider bills you, and Weir charges a
      fee only. The key is tested before it is kept, and never shown again.
    </Empty>
  );
}
