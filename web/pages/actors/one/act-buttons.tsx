import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client.ts';
import type { InspectedActor } from '../../../api/types.ts';
import { urlOf } from '../../../api/url.ts';
import { Button } from '../../../parts/button.tsx';
import { Confirm } from '../../../parts/confirm.tsx';
import { say } from '../../../parts/said.tsx';

type Act = InspectedActor['acts'][number];

const ACTS: Readonly<Record<Act, { label: string; done: string; breaks: string }>> = {
  retry: {
    label: 'Retry now',
    done: 'The actor goes on now.',
    breaks: 'It does now what it would do at its next time. That uses up one of its attempts.',
  },
  cancel: {
    label: 'Request the end',
    done: 'The end is requested.',
    breaks:
      'What has not begun does not begin. What runs at a provider ends as the provider reports, and is charged if it has a result.',
  },
  reset: {
    label: 'Reset the circuit',
    done: 'The circuit is reset on all replicas.',
    breaks:
      'Calls go to the channel again on all replicas, at first one at a time. If the provider is still away, they fail over to other channels.',
  },
};

/** What an operator can do to an actor in its present state. Each act is confirmed, and on record in the audit log. */
export function ActButtons({ actor, path }: { actor: InspectedActor; path: string }) {
  const queries = useQueryClient();
  /** The act that is asked about, and the state in which the person decided. */
  const [asked, ask] = useState<{ act: Act; state: string }>();
  const send = async ({ act, state }: { act: Act; state: string }) => {
    const replica = actor.replicas === null ? undefined : (actor.replica ?? undefined);
    try {
      await api.post(urlOf(`${path}/${act}`, { replica }), { state });
      say(ACTS[act].done);
    } finally {
      await queries.invalidateQueries({ queryKey: ['actors'] });
    }
  };
  return (
    <>
      {actor.acts.map((act) => (
        <Button key={act} onClick={() => ask({ act, state: actor.state })}>
          {ACTS[act].label}…
        </Button>
      ))}
      {asked ? (
        <Confirm
          title={`${ACTS[asked.act].label}?`}
          label={ACTS[asked.act].label}
          act={() => send(asked)}
          onClose={() => ask(undefined)}
        >
          <p>{ACTS[asked.act].breaks}</p>
          <p>
            It is done only if the actor is still in the state{' '}
            <code className="font-mono text-[0.9em]">{asked.state}</code>.
          </p>
        </Confirm>
      ) : null}
    </>
  );
}
