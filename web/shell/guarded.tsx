import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ACTIONS, type Action } from '../../src/access/actions.ts';
import { api } from '../api/client.ts';
import type { List, Person } from '../api/types.ts';
import { useHere } from './here.ts';

/** Shows its children to people who may do `needs`, and to others why they see nothing and whom to ask. */
export function Guarded({ needs, children }: { needs: Action; children: ReactNode }) {
  const { may } = useHere();
  return may(needs) ? children : <NotForYou needs={needs} />;
}

function NotForYou({ needs }: { needs: Action }) {
  const { organization, may } = useHere();
  const { says, roles } = ACTIONS[needs];
  const isKnown = organization !== undefined && may('people.read');
  const { data } = useQuery({
    queryKey: ['people', 'first'],
    queryFn: ({ signal }) => api.get<List<Person>>('/v1/management/people', {}, signal),
    enabled: isKnown,
  });
  const able = (data?.data ?? []).filter(({ role }) => (roles as readonly string[]).includes(role));
  return (
    <div className="grid justify-items-start gap-2 rounded-box border border-line bg-card p-6">
      <h2 className="text-base font-semibold">This is not for your role</h2>
      {organization ? (
        <p className="max-w-prose text-soft">
          To {says}, a person needs the role {roles.join(' or ')}. You are {organization.role} in{' '}
          <bdi>{organization.name}</bdi>.
        </p>
      ) : (
        <p className="text-soft">You are in no organization yet. Ask somebody to invite you.</p>
      )}
      {able.length > 0 ? (
        <p className="max-w-prose text-soft">
          You can ask{' '}
          {able.slice(0, 3).map(({ id, name, email }, index) => (
            <span key={id}>
              {index > 0 ? ', ' : ''}
              <a href={`mailto:${email}`} className="text-accent underline">
                <bdi>{name}</bdi>
              </a>
            </span>
          ))}
          .
        </p>
      ) : null}
    </div>
  );
}
