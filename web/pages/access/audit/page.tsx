import { useNavigate, useSearch } from '@tanstack/react-router';
import type { AuditLine } from '../../../api/types.ts';
import { urlOf } from '../../../api/url.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { Button } from '../../../parts/button.tsx';
import { Copy } from '../../../parts/copy.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { Facts } from '../../../parts/facts.tsx';
import { listPages, useListPages } from '../../../parts/list-pages.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { localTime, Time } from '../../../parts/time.tsx';
import type { Beginning } from '../../../shell/begin.ts';
import { AccessPage } from '../access-page.tsx';
import { ChainCheck } from './chain-check.tsx';
import { differences } from './difference.ts';
import { Export } from './export.tsx';
import { type AuditSearch, auditSearchOf } from './search.ts';

const PATH = '/v1/management/audit-log';

/** The name, path and filter of the list. */
const listOf = (search: AuditSearch) => [['audit', search], PATH, { ...search }] as const;

/** Begins the read of the page. */
export function begin({ queries, here, search }: Beginning): void {
  if (!here.may('audit.read')) return;
  queries.prefetchInfiniteQuery(listPages<AuditLine>(...listOf(auditSearchOf(search))));
}

/** Who changed what, and when? */
export function AuditPage() {
  const search = auditSearchOf(useSearch({ from: '/inside/access/audit' }));
  const navigate = useNavigate();
  const change = (changed: AuditSearch) =>
    navigate({ to: '/access/audit', search: { ...search, ...changed }, replace: true });
  return (
    <AccessPage
      at="/access/audit"
      question="Who changed what, and when?"
      acts={<Export path={urlOf(`${PATH}/export`, { ...search })} />}
      call={<ApiCall path={PATH} query={{ ...search }} />}
    >
      <ChainCheck />
      <Filters search={search} change={change} />
      <Lines search={search} change={change} />
    </AccessPage>
  );
}

interface PartProps {
  readonly search: AuditSearch;
  readonly change: (changed: AuditSearch) => void;
}

const ACTIONS = [
  ...['api_key.create', 'api_key.update', 'api_key.rotate', 'api_key.delete'],
  ...['management_token.create', 'management_token.update', 'management_token.rotate'],
  ...['management_token.revoke', 'member.add', 'member.update', 'member.remove'],
  ...['invitation.create', 'invitation.revoke', 'organization.update', 'webhook_secret.rotate'],
  ...['webhook_delivery.redeliver', 'session.create', 'session.end', 'person.password'],
  ...['cache.purge'],
] as const;

function Filters({ search, change }: PartProps) {
  const field = (name: keyof AuditSearch, label: string, type: string, list?: string) => (
    <label className="grid gap-1 text-sm text-soft">
      {label}
      <input
        key={search[name] ?? ''}
        className="control"
        type={type}
        list={list}
        defaultValue={search[name] ?? ''}
        onBlur={({ target: { value } }) => {
          if (value !== (search[name] ?? '')) change({ [name]: value.trim() || undefined });
        }}
        onKeyDown={({ key, currentTarget }) => {
          if (key === 'Enter') currentTarget.blur();
        }}
      />
    </label>
  );
  return (
    <div className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-5">
      {field('action', 'Action', 'text', 'audit-actions')}
      <datalist id="audit-actions">
        {ACTIONS.map((action) => (
          <option key={action} value={action} />
        ))}
      </datalist>
      {field('subject_id', 'Changed thing, its id', 'text')}
      {field('actor_id', 'Who, the id', 'text')}
      {field('startDate', 'From', 'date')}
      {field('endDate', 'To', 'date')}
    </div>
  );
}

function Lines({ search, change }: PartProps) {
  const { query, more } = useListPages<AuditLine>(...listOf(search));
  const isFiltered = Object.keys(search).length > 0;
  return (
    <>
      <Loaded query={query} height="h-64">
        {(lines) =>
          lines.length === 0 ? (
            <Empty
              title={isFiltered ? 'No change is like this' : 'Nothing was changed yet'}
              act={
                isFiltered ? (
                  <Button
                    onClick={() =>
                      change({
                        ...{ action: undefined, subject_id: undefined, actor_id: undefined },
                        ...{ startDate: undefined, endDate: undefined },
                      })
                    }
                  >
                    Show all changes
                  </Button>
                ) : undefined
              }
            >
              Each change of a key, a token, a person or a setting is a line here. Nobody can change
              or remove a line.
            </Empty>
          ) : (
            <ol className="divide-y divide-line rounded-box border border-line bg-card">
              {lines.map((line) => (
                <Line key={line.seq} line={line} change={change} />
              ))}
            </ol>
          )
        }
      </Loaded>
      {more}
    </>
  );
}

function Line({ line, change }: { line: AuditLine; change: PartProps['change'] }) {
  const { actor, action, at, before, after, subject_id } = line;
  const changed = differences(before, after);
  return (
    <li className="min-w-0">
      <details>
        <summary className="grid grid-cols-[minmax(0,1fr)_auto] items-baseline gap-x-4 gap-y-0.5 px-4 py-2 hover:bg-sunk">
          <span className="min-w-0">
            <span className="font-mono text-[0.88em]">{action}</span>{' '}
            <span className="text-soft">by</span> <bdi className="break-all">{actor.label}</bdi>
          </span>
          <span className="text-soft">
            <Time at={at} ago />
          </span>
          {changed.length === 0 ? null : (
            <span className="col-span-2 truncate text-sm text-soft">
              {changed
                .slice(0, 3)
                .map(({ name, before: was, after: is }) =>
                  was === undefined ? `${name}: ${is ?? ''}` : `${name}: ${was} → ${is ?? 'none'}`,
                )
                .join(' · ')}
            </span>
          )}
        </summary>
        <div className="grid gap-4 px-4 pt-1 pb-4">
          {changed.length === 0 ? null : (
            <section
              tabIndex={0}
              aria-label="What changed"
              className="overflow-x-auto rounded-box border border-line"
            >
              <table className="w-full text-left text-[0.9rem]">
                <thead className="bg-sunk text-soft">
                  <tr>
                    {['What', 'Before', 'After'].map((title) => (
                      <th key={title} scope="col" className="px-3 py-1 font-medium">
                        {title}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {changed.map(({ name, before: was, after: is }) => (
                    <tr key={name} className="border-t border-line align-top">
                      <th scope="row" className="px-3 py-1 font-mono text-[0.88em] font-normal">
                        {name}
                      </th>
                      <td className="px-3 py-1 text-soft">
                        <bdi>{was ?? '–'}</bdi>
                      </td>
                      <td className="px-3 py-1">
                        <bdi>{is ?? '–'}</bdi>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </section>
          )}
          <Facts
            facts={[
              ['When', localTime(at)],
              [
                'Who',
                <span key="who">
                  {actor.kind} <bdi>{actor.label}</bdi>
                  {actor.address === '' ? '' : ` from ${actor.address}`}
                </span>,
              ],
              ['Changed', <Copy key="subject" text={subject_id} what="id of the changed thing" />],
              [
                'Request',
                actor.request_id === null ? null : (
                  <Copy key="request" text={actor.request_id} what="request id" />
                ),
              ],
              ['Place', `line ${line.seq} of the log`],
              ['Hash', <Copy key="hash" text={line.hash} what="hash of the line" />],
            ]}
          />
          <div className="flex flex-wrap gap-2">
            <Button onClick={() => change({ subject_id })}>All changes of this thing</Button>
            {actor.id === '' ? null : (
              <Button onClick={() => change({ actor_id: actor.id })}>
                All changes by this one
              </Button>
            )}
          </div>
        </div>
      </details>
    </li>
  );
}
