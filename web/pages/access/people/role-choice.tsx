import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { mayAssign, ROLES, type Role } from '../../../../src/access/actions.ts';
import { api } from '../../../api/client.ts';
import { SESSION_KEY } from '../../../api/session.ts';
import type { Person } from '../../../api/types.ts';
import { useAct } from '../../../parts/act.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { ErrorNote } from '../../../parts/error-note.tsx';
import { say } from '../../../parts/said.tsx';
import { useHere } from '../../../shell/here.ts';

interface RoleChoiceProps {
  readonly of: Person;
  readonly isOwn: boolean;
}

/** The role of a person; a choice if the reader may change it. A change can be undone. */
export function RoleChoice({ of: person, isOwn }: RoleChoiceProps) {
  const { organization, may } = useHere();
  const queries = useQueryClient();
  const [asked, ask] = useState<Role>();
  const { act, isBusy, error } = useAct();
  const [isRead, setRead] = useState(false);
  const rights = { member_role: organization?.role ?? 'viewer' } as const;
  const canChange = may('people.write') && mayAssign(rights, person.role);
  const set = async (role: Role) => {
    await api.patch(`/v1/management/people/${person.id}`, { role });
    await queries.invalidateQueries({ queryKey: ['people'] });
    if (isOwn) await queries.invalidateQueries({ queryKey: SESSION_KEY });
  };
  if (!canChange) return <span>{person.role}</span>;
  const choose = (role: Role) => {
    // Who lowers his own role cannot raise it again.
    if (isOwn) return ask(role);
    setRead(false);
    act(async () => {
      await set(role);
      say(`${person.name} is ${role} now.`, () => set(person.role));
    });
  };
  return (
    <>
      <select
        className="control -my-1.5 w-auto! min-w-24"
        aria-label={`Role of ${person.name}`}
        value={person.role}
        disabled={isBusy}
        onChange={(event) => choose(event.target.value as Role)}
      >
        {ROLES.filter((role) => mayAssign(rights, role)).map((role) => (
          <option key={role} value={role}>
            {role}
          </option>
        ))}
      </select>
      {asked ? (
        <Confirm
          title="Lower your own role?"
          label={`Become ${asked}`}
          act={() => set(asked)}
          onClose={() => ask(undefined)}
        >
          <p>
            You are {person.role}. As {asked} you cannot give yourself the role {person.role} again:
            somebody else must.
          </p>
        </Confirm>
      ) : null}
      {error && !isRead ? (
        <Dialog title="The role was not changed" onClose={() => setRead(true)}>
          <ErrorNote error={error} />
        </Dialog>
      ) : null}
    </>
  );
}
