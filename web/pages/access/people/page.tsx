import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Person } from '../../../api/types.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { Button } from '../../../parts/button.tsx';
import { useListPages } from '../../../parts/list-pages.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { type Column, Table } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { useHere } from '../../../shell/here.ts';
import { AccessPage } from '../access-page.tsx';
import { Invitations } from './invitations.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { RemoveButton } from './remove-button.tsx';
import { RoleChoice } from './role-choice.tsx';
import { RoleTable } from './roles.tsx';

const PATH = '/v1/management/people';

/** Who is in the organization, and as what? */
export function PeoplePage() {
  const { invite = false } = useSearch({ from: '/inside/access/people' });
  const navigate = useNavigate();
  const { may } = useHere();
  const canWrite = may('people.write');
  const showInvite = (value: boolean) =>
    navigate({ to: '/access/people', search: value ? { invite: true } : {}, replace: !value });
  return (
    <AccessPage
      at="/access/people"
      question="Who may do what here?"
      acts={
        canWrite ? (
          <Button kind="primary" onClick={() => showInvite(true)}>
            Invite a person
          </Button>
        ) : undefined
      }
      call={<ApiCall path={PATH} />}
    >
      <Members />
      <RoleTable />
      <Invitations />
      {invite && canWrite ? <InviteDialog onClose={() => showInvite(false)} /> : null}
    </AccessPage>
  );
}

function Members() {
  const { session, may } = useHere();
  const { query, more } = useListPages<Person>(['people', 'all'], PATH, { limit: 100 });
  const own_id = session.person.id;
  const columns: Column<Person>[] = [
    {
      title: 'Person',
      cell: ({ id, name, email }) => (
        <div className="min-w-24 sm:min-w-32">
          <bdi className="font-medium">{name}</bdi>
          {id === own_id ? <span className="text-soft"> (you)</span> : null}
          <div className="text-[0.9em] break-all text-soft">{email}</div>
        </div>
      ),
    },
    { title: 'Role', cell: (person) => <RoleChoice of={person} isOwn={person.id === own_id} /> },
    { title: 'Since', onPhone: false, cell: ({ joined_at }) => <Time at={joined_at} ago /> },
    ...(may('people.write')
      ? [
          {
            title: 'Acts',
            isQuiet: true,
            cell: (person: Person) => <RemoveButton of={person} isOwn={person.id === own_id} />,
          },
        ]
      : []),
  ];
  return (
    <div className="grid gap-3 justify-items-start">
      <div className="w-full min-w-0">
        <Loaded query={query} height="h-40">
          {(people) => (
            <Table caption="People" columns={columns} rows={people} keyOf={({ id }) => id} />
          )}
        </Loaded>
      </div>
      {more}
    </div>
  );
}
