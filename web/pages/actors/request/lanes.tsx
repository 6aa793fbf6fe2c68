import { urlOf } from '../../../api/url.ts';
import { GoLink } from '../../../parts/go-link.tsx';
import { colourOf } from './colours.ts';
import { sinceArrival } from './times.ts';
import type { Lane, Way } from './way.ts';

/** Each lane with its steps as marks, all to one scale of time. */
export function Lanes({ way: { lanes, steps, whole_ms } }: { way: Way }) {
  const percent = (ms: number) => `${(Math.max(0, ms) / Math.max(whole_ms, 0.001)) * 100}%`;
  return (
    <ol className="grid gap-3 rounded-box border border-line bg-card p-4" aria-label="Lanes">
      {lanes.map((lane, index) => (
        <li
          key={lane.id}
          className="grid items-center gap-x-4 gap-y-1 sm:grid-cols-[15rem_minmax(0,1fr)]"
        >
          <LaneName lane={lane} index={index} />
          {lane.silence === undefined ? (
            <span aria-hidden="true" className="relative h-4 rounded bg-sunk">
              {steps
                .filter((step) => step.lane === lane.id)
                .map((step) => (
                  <span
                    key={`${step.at_ms} ${step.event?.seq} ${step.says}`}
                    className="absolute inset-y-0 w-[3px] rounded-full"
                    style={{
                      left: `min(${percent(step.at_ms)}, calc(100% - 3px))`,
                      background: step.isBad ? 'var(--color-bad)' : colourOf(index),
                    }}
                  />
                ))}
            </span>
          ) : (
            <span className="text-sm text-soft">{lane.silence}</span>
          )}
        </li>
      ))}
      <li
        aria-hidden="true"
        className="flex justify-between text-sm text-soft figures sm:pl-[16rem]"
      >
        <span>0</span>
        <span>{sinceArrival(whole_ms / 2)}</span>
        <span>{sinceArrival(whole_ms)}</span>
      </li>
    </ol>
  );
}

function LaneName({ lane: { title, actor }, index }: { lane: Lane; index: number }) {
  return (
    <span className="flex min-w-0 items-baseline gap-2">
      <span
        aria-hidden="true"
        className="size-2.5 shrink-0 rounded-full"
        style={{ background: colourOf(index) }}
      />
      <span className="min-w-0">
        <span className="block">{title}</span>
        {actor ? (
          <GoLink
            to={urlOf(pathOfActor(actor), { replica: actor.replica ?? undefined })}
            className="block font-mono text-[0.82em] break-all"
          >
            {actor.id}
          </GoLink>
        ) : null}
      </span>
    </span>
  );
}

/** The page of an actor. */
export const pathOfActor = ({ kind, id }: NonNullable<Lane['actor']>): string =>
  `/actors/${kind}/${encodeURIComponent(id)}`;
