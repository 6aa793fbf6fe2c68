import type { ReactNode } from 'react';
import type { InspectedActor } from '../../../api/types.ts';
import { Badge } from '../../../parts/badge.tsx';
import { ChoiceFilter } from '../../../parts/choice-filter.tsx';
import { Card } from '../../../parts/page.tsx';
import { duration, Time, useNow } from '../../../parts/time.tsx';
import { toneOf } from '../tones.ts';
import type { Following } from './use-actor.ts';

interface PresentProps {
  readonly actor: InspectedActor;
  readonly following: Following;
  readonly choose: (replica: string | undefined) => void;
}

/** What an actor does now: its state, since when, which attempt, and what happens next. */
export function Present({ actor, following, choose }: PresentProps) {
  const { kind, state, says, live, since, usual_ms, is_stuck, attempt, replicas, replica } = actor;
  const now = useNow(1_000);
  return (
    <Card className="grid gap-3">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1" aria-live="polite">
        <Badge tone={toneOf(kind, state)}>
          <span className="font-mono">{state}</span>
        </Badge>
        <span>It {says}.</span>
        <Followed live={live} following={following} />
      </p>
      <dl className="grid grid-cols-2 gap-x-6 gap-y-2 text-[0.9rem] sm:grid-cols-[repeat(auto-fit,minmax(9rem,1fr))]">
        <Fact name={live ? 'In this state' : 'Ended'}>
          {live ? (
            <>
              {duration(Math.max(0, now - Date.parse(since)))}
              {is_stuck && usual_ms !== null ? (
                <span className="block text-warn">longer than usual: {duration(usual_ms)}</span>
              ) : null}
            </>
          ) : (
            <Time at={since} ago />
          )}
        </Fact>
        {live ? <Fact name="Next by itself">{nextOf(actor, now)}</Fact> : null}
        {attempt === null ? null : <Fact name="Attempt">{attempt}</Fact>}
        {actor.deadline_at === null ? null : (
          <Fact name="Ends at the latest">{countdown(actor.deadline_at, now)}</Fact>
        )}
        {replica === null ? null : (
          <Fact name="On replica">
            {replicas !== null && replicas.length > 1 ? (
              <ChoiceFilter
                label="Replica"
                all={replicas[0] ?? ''}
                values={replicas.slice(1)}
                chosen={replica === replicas[0] ? undefined : replica}
                choose={choose}
              />
            ) : (
              <code className="font-mono text-[0.85em] break-all">{replica}</code>
            )}
          </Fact>
        )}
      </dl>
      {following === 'late' ? (
        <p role="status" className="rounded-control bg-warn-soft px-3 py-1.5 text-sm text-warn">
          Its events cannot be read as they happen. The page reads the actor every few seconds.
        </p>
      ) : null}
    </Card>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-sm text-soft">{name}</dt>
      <dd className="min-w-0 figures">{children}</dd>
    </div>
  );
}

function Followed({ live, following }: { live: boolean; following: Following }) {
  if (!live) return <Badge tone="calm">ended</Badge>;
  if (following !== 'live') return null;
  return (
    <span className="inline-flex items-center gap-1.5 text-sm text-good">
      <span aria-hidden="true" className="size-2 rounded-full bg-good" />
      live
    </span>
  );
}

/** What happens next, and when. */
function nextOf({ effects, timers, next_at }: InspectedActor, now: number): ReactNode {
  const timer = timers.find(({ fires_at }) => fires_at === next_at);
  const effect = effects[0];
  if (next_at !== null) {
    const name = timer?.name ?? effect?.name;
    return (
      <>
        {name === undefined ? null : <code className="font-mono">{name} </code>}
        {countdown(next_at, now)}
      </>
    );
  }
  if (effect) {
    return (
      <>
        <code className="font-mono">{effect.name}</code> is running
      </>
    );
  }
  return <span className="text-soft">nothing: it waits for an event</span>;
}

function countdown(at: string, now: number): string {
  const rest = Date.parse(at) - now;
  if (rest < -GRACE_MS) return `overdue for ${duration(-rest)}`;
  return rest <= 0 ? 'now' : `in ${duration(Math.ceil(rest / 1_000) * 1_000)}`;
}

/** A timer that fires within this is in time, ms. */
const GRACE_MS = 2_000;
