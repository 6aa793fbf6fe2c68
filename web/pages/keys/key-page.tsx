import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Answer } from '../../api/client.ts';
import { ApiError } from '../../api/error.ts';
import type { ApiKey } from '../../api/types.ts';
import { Budgets } from '../../budgets/budgets.tsx';
import { ApiCall } from '../../parts/api-call.tsx';
import { Button } from '../../parts/button.tsx';
import { CapBar } from '../../parts/cap-bar.tsx';
import { Copy } from '../../parts/copy.tsx';
import { type Fact, Facts } from '../../parts/facts.tsx';
import { GoLink } from '../../parts/go-link.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Money } from '../../parts/money.tsx';
import { Card, Page, Section } from '../../parts/page.tsx';
import { Time, useNow } from '../../parts/time.tsx';
import { useHere } from '../../shell/here.ts';
import { Missing } from '../../shell/missing.tsx';
import { EditKeyDialog } from './edit-key-dialog.tsx';
import { useKeyActs } from './key-acts.tsx';
import { keyPath, useKey } from './key-data.ts';
import { formOf, wordsOf } from './key-form.ts';
import { KeyRequests } from './key-requests.tsx';
import { KeyBadge, stateOf } from './key-state.tsx';
import { KeyUsage } from './key-usage.tsx';
import { limitWords, rowsOf } from './limits.ts';

/** One key: what it may do, what it spent, and its acts. */
export function KeyPage() {
  const { id } = useParams({ from: '/inside/keys/$id' });
  const key = useKey(id);
  if (key.error instanceof ApiError && key.error.status === 404) return <Missing />;
  if (!key.data) {
    return (
      <Page title="API key">
        <Loaded query={key} height="h-64">
          {() => null}
        </Loaded>
      </Page>
    );
  }
  return <Shown answer={key.data} query={key} />;
}

function Shown({ answer, query }: { answer: Answer<ApiKey>; query: ReturnType<typeof useKey> }) {
  const { value: key } = answer;
  const navigate = useNavigate();
  const { edit = false } = useSearch({ from: '/inside/keys/$id' });
  const { may } = useHere();
  const canWrite = may('keys.write') && key.deleted_at === undefined;
  const { acts, dialog } = useKeyActs(key, () => navigate({ to: '/keys' }));
  const now_ms = useNow(30_000);
  const setEdit = (value: boolean) =>
    navigate({
      to: '/keys/$id',
      params: { id: key.id },
      search: value ? { edit: true } : {},
      replace: !value,
    });
  return (
    <Page
      title={key.name}
      question={
        <>
          <Link to="/keys" className="text-accent underline">
            API keys
          </Link>{' '}
          · <code className="font-mono text-[0.9em]">{key.key_prefix}</code> ·{' '}
          <GoLink to={`/actors/quota/${encodeURIComponent(key.id)}`}>
            Why it admits or refuses
          </GoLink>
        </>
      }
      acts={
        canWrite ? (
          <>
            {acts.map(({ label, act, isDanger }) => (
              <Button key={label} kind={isDanger ? 'danger' : 'plain'} onClick={act}>
                {label}
              </Button>
            ))}
            <Button kind="primary" onClick={() => setEdit(true)}>
              Edit
            </Button>
          </>
        ) : undefined
      }
      call={<ApiCall path={keyPath(key.id)} />}
    >
      <Loaded query={query}>
        {() => (
          <div className="grid gap-4 lg:grid-cols-2">
            <Card className="grid content-start gap-4">
              <p className="flex flex-wrap items-center gap-x-3">
                <KeyBadge of={key} now_ms={now_ms} />
                <span className="text-soft">{stateOf(key, now_ms).says}</span>
              </p>
              <CapBar used={key.used_amount} held={key.held_amount} cap={key.limit_amount} />
              <Facts facts={money(key)} />
            </Card>
            <Card>
              <Facts facts={settings(key)} />
            </Card>
          </div>
        )}
      </Loaded>
      {may('budgets.read') ? (
        <Budgets api_key_id={key.id} canChange={key.deleted_at === undefined} />
      ) : null}
      <Section title="Spend by day">
        <KeyUsage id={key.id} />
      </Section>
      <Section title="Last requests">
        <KeyRequests id={key.id} />
      </Section>
      {dialog}
      {edit && canWrite ? <Edit answer={answer} onClose={() => setEdit(false)} /> : null}
    </Page>
  );
}

/** The dialog begins with the key as it was when it opened. */
function Edit({ answer, onClose }: { answer: Answer<ApiKey>; onClose: () => void }) {
  const [opened] = useState(answer);
  return <EditKeyDialog opened={opened} onClose={onClose} />;
}

type FactList = Fact[];

const money = ({ used_amount, held_amount, limit_amount }: ApiKey): FactList => [
  ['Used', <Money key="used" usd={used_amount} exact />],
  ['Held by running calls', <Money key="held" usd={held_amount} exact />],
  ['Cap', limit_amount === null ? 'No cap' : <Money key="cap" usd={limit_amount} exact />],
];

function settings(key: ApiKey): FactList {
  const form = formOf(key);
  const words = (field: Parameters<typeof wordsOf>[1]) => (
    <bdi key={field}>{wordsOf(form, field)}</bdi>
  );
  return [
    ['Models', key.models.length > 0 ? key.models.join(', ') : words('models')],
    ['Expires', words('expires')],
    ['Cap counts', words('cap_counts')],
    ['Requests', words('per_minute')],
    ['Limits', key.limits.length > 0 ? <Limits key="limits" of={key} /> : words('limits')],
    ['Tags', words('tags')],
    ['External id', words('external_id')],
    ['Timeout', words('timeout')],
    ['Images as', words('image_format')],
    ['Last used', <Time key="used" at={key.last_used_at} none="never" />],
    ['Created', <Time key="created" at={key.created_at} />],
    ...(key.previous_key_expires_at === undefined
      ? []
      : [['Secret before', <Before key="before" until={key.previous_key_expires_at} />] as const]),
    ...(key.deleted_at === undefined
      ? []
      : [['Deleted', <Time key="deleted" at={key.deleted_at} />] as const]),
    ['Id', <Copy key="id" text={key.id} what="id of the key" />],
  ];
}

function Limits({ of: { limits } }: { of: ApiKey }) {
  return (
    <ul>
      {rowsOf(limits).map((row) => (
        <li key={row.model}>{limitWords(row)}</li>
      ))}
    </ul>
  );
}

function Before({ until }: { until: string }) {
  return (
    <>
      {Date.parse(until) > Date.now() ? 'works until ' : 'ended '}
      <Time at={until} />
    </>
  );
}
