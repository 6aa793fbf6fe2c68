import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { mayAssign } from '../../../../src/access/actions.ts';
import { api } from '../../../api/client.ts';
import { SESSION_KEY } from '../../../api/session.ts';
import type { Person } from '../../../api/types.ts';
import { Button } from '../../../parts/button.tsx';
import { Confirm } from '../../../parts/confirm.tsx';
import { say } from '../../../parts/said.tsx';
import { useHere } from '../../../shell/here.ts';

/** Removes a person from the organization, after a confirmation that says what ends. */
export function RemoveButton({ of: person, isOwn }: { of: Person; isOwn: boolean }) {
  const { organization } = useHere();
  const queries = useQueryClient();
  const [isAsking, ask] = useState(false);
  if (!mayAssign({ member_role: organization?.role ?? 'viewer' }, person.role)) return null;
  const remove = async () => {
    await api.delete(`/v1/management/people/${person.id}`);
    await queries.invalidateQueries({ queryKey: isOwn ? SESSION_KEY : ['people'] });
    say(`${person.name} is removed.`);
  };
  return (
    <div className="-my-1.5 text-right">
      <Button
        kind="quiet"
        aria-label={`Remove ${person.name}`}
        className="text-bad!"
        onClick={() => ask(true)}
      >
        Remove…
      </Button>
      {isAsking ? (
        <Confirm
          title={
            <>
              Remove <bdi>{person.name}</bdi>?
            </>
          }
          label={isOwn ? 'Leave the organization' : 'Remove the person'}
          act={remove}
          onClose={() => ask(false)}
        >
          <p>
            All sessions of <bdi>{person.email}</bdi> end, and open invitations to this address are
            revoked. API keys and tokens that this person made still work.
          </p>
          <p className="text-soft">To come back, the person needs a new invitation.</p>
        </Confirm>
      ) : null}
    </div>
  );
}
