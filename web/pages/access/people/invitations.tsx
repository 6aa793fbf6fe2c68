import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client.ts';
import type { Invitation } from '../../../api/types.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { Button } from '../../../parts/button.tsx';
import { Confirm } from '../../../parts/confirm.tsx';
import { useListPages } from '../../../parts/list-pages.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { Section } from '../../../parts/page.tsx';
import { say } from '../../../parts/said.tsx';
import { type Column, Table } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { useHere } from '../../../shell/here.ts';

const PATH = '/v1/management/invitations';

/** The invitations that nobody has used yet. */
export function Invitations() {
  const { may } = useHere();
  const filter = { status: 'pending', limit: 100 };
  const { query, more } = useListPages<Invitation>(['invitations'], PATH, filter);
  const columns: Column<Invitation>[] = [
    { title: 'Invited', cell: ({ email }) => <span className="break-all">{email}</span> },
    {
      title: 'Role',
      cell: (each) => (
        <span className="whitespace-nowrap">{'role' in each ? each.role : 'operator'}</span>
      ),
    },
    {
      title: 'How',
      onPhone: false,
      cell: ({ is_mailed }) => (is_mailed ? 'by mail' : 'by a link that was shown'),
    },
    { title: 'Until', cell: ({ expires_at }) => <Time at={expires_at} ago /> },
    ...(may('people.write')
      ? [{ title: 'Acts', isQuiet: true, cell: (each: Invitation) => <Revoke of={each} /> }]
      : []),
  ];
  return (
    <Section title="Open invitations">
      <Loaded query={query} height="h-20">
        {(invitations) =>
          invitations.length === 0 ? (
            <p className="text-soft">Nobody is invited at the moment.</p>
          ) : (
            <Table
              caption="Open invitations"
              columns={columns}
              rows={invitations}
              keyOf={({ id }) => id}
            />
          )
        }
      </Loaded>
      {more}
      <ApiCall path={PATH} query={filter} />
    </Section>
  );
}

function Revoke({ of: { id, email } }: { of: Invitation }) {
  const queries = useQueryClient();
  const [isAsking, ask] = useState(false);
  const revoke = async () => {
    await api.post(`${PATH}/${id}/revoke`);
    await queries.invalidateQueries({ queryKey: ['invitations'] });
    say(`The invitation of ${email} is revoked.`);
  };
  return (
    <div className="-my-1.5 text-right">
      <Button
        kind="quiet"
        className="text-bad!"
        aria-label={`Revoke the invitation of ${email}`}
        onClick={() => ask(true)}
      >
        Revoke…
      </Button>
      {isAsking ? (
        <Confirm
          title="Revoke the invitation?"
          label="Revoke the invitation"
          act={revoke}
          onClose={() => ask(false)}
        >
          <p>
            The link that <bdi>{email}</bdi> has stops working. You can invite this person again.
          </p>
        </Confirm>
      ) : null}
    </div>
  );
}
