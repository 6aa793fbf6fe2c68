import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Token } from '../../../api/types.ts';
import { ApiCall, curlOf } from '../../../parts/api-call.tsx';
import { Badge, StateBadge } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { listPages, useListPages } from '../../../parts/list-pages.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { type Column, Table } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import type { Beginning } from '../../../shell/begin.ts';
import { useHere } from '../../../shell/here.ts';
import { AccessPage } from '../access-page.tsx';
import { NewTokenDialog } from './new-token-dialog.tsx';
import { TokenMenu } from './token-menu.tsx';

const PATH = '/v1/management/tokens';

/** The filter of the API for the tokens that the page shows. */
const filterOf = (ended: boolean) => ({ limit: 100, ...(ended ? {} : { status: 'active' }) });

/** The name, path and filter of the list. */
const listOf = (filter: ReturnType<typeof filterOf>) =>
  [['tokens', filter.status ?? 'all'], PATH, filter] as const;

/** Begins the read of the page. */
export function begin({ queries, here, search }: Beginning): void {
  if (!here.may('tokens.read')) return;
  queries.prefetchInfiniteQuery(listPages<Token>(...listOf(filterOf(search.ended === true))));
}

/** Which programs may manage the organization? */
export function TokensPage() {
  const { create = false, ended = false } = useSearch({ from: '/inside/access/tokens' });
  const navigate = useNavigate();
  const canWrite = useHere().may('tokens.write');
  const show = (next: { create?: boolean; ended?: boolean }) =>
    navigate({ to: '/access/tokens', search: next, replace: true });
  const filter = filterOf(ended);
  return (
    <AccessPage
      at="/access/tokens"
      question="Which programs may manage this organization?"
      acts={
        canWrite ? (
          <Button
            kind="primary"
            onClick={() => show({ create: true, ...(ended ? { ended } : {}) })}
          >
            Create a token
          </Button>
        ) : undefined
      }
      call={<ApiCall path={PATH} query={filter} />}
    >
      <label className="flex items-center gap-2">
        <input
          type="checkbox"
          checked={ended}
          onChange={(event) => show(event.target.checked ? { ended: true } : {})}
        />
        Show ended tokens too
      </label>
      <Tokens filter={filter} />
      {create && canWrite ? <NewTokenDialog onClose={() => show(ended ? { ended } : {})} /> : null}
    </AccessPage>
  );
}

function Tokens({ filter }: { filter: ReturnType<typeof filterOf> }) {
  const { session, may } = useHere();
  const { query, more } = useListPages<Token>(...listOf(filter));
  const columns: Column<Token>[] = [
    {
      title: 'Token',
      cell: ({ name, token_prefix, created_by }) => (
        <div className="min-w-28">
          {name === '' ? (
            <span className="text-soft">without a name</span>
          ) : (
            <bdi className="font-medium">{name}</bdi>
          )}
          <div className="font-mono text-[0.82em] text-soft">{token_prefix}</div>
          {created_by === session.person.id ? (
            <div className="text-[0.82em] text-soft">made by you</div>
          ) : null}
        </div>
      ),
    },
    {
      title: 'Good for',
      cell: ({ scopes }) => (
        <span className="flex flex-wrap gap-1">
          {scopes.map((scope) => (
            <Badge key={scope} tone={scope === 'admin' ? 'warn' : 'calm'}>
              {scope}
            </Badge>
          ))}
        </span>
      ),
    },
    { title: 'Status', cell: (token) => <TokenStatus of={token} /> },
    {
      title: 'Last used',
      onPhone: false,
      cell: ({ last_used_at }) => <Time at={last_used_at} ago none="never" />,
    },
    {
      title: 'Expires',
      onPhone: false,
      cell: ({ expires_at }) => <Time at={expires_at} ago none="never" />,
    },
    ...(may('tokens.write')
      ? [{ title: 'Acts', isQuiet: true, cell: (token: Token) => <TokenMenu of={token} /> }]
      : []),
  ];
  const body = { name: 'Terraform', scopes: ['keys'] };
  return (
    <>
      <Loaded query={query} height="h-40">
        {(tokens) =>
          tokens.length === 0 ? (
            <Empty title="No tokens" command={curlOf({ method: 'POST', path: PATH, body })}>
              A program that manages keys or reads bills uses a management token. It is no API key:
              it calls no model.
            </Empty>
          ) : (
            <Table caption="Tokens" columns={columns} rows={tokens} keyOf={({ id }) => id} />
          )
        }
      </Loaded>
      {more}
    </>
  );
}

function TokenStatus({ of: { status, revoked_at } }: { of: Token }) {
  return (
    <span className="grid justify-items-start gap-0.5">
      <StateBadge state={status} />
      {status === 'active' && revoked_at !== null ? (
        <span className="text-sm text-soft">
          replaced, ends <Time at={revoked_at} ago />
        </span>
      ) : null}
    </span>
  );
}
