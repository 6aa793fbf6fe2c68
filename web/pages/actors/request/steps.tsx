import { urlOf } from '../../../api/url.ts';
import { GoLink } from '../../../parts/go-link.tsx';
import { NanoMoney } from '../one/member-value.tsx';
import { colourOf } from './colours.ts';
import { pathOfActor } from './lanes.tsx';
import { sinceArrival } from './times.ts';
import type { Step, Way } from './way.ts';

/** The most steps that are drawn: a task may have been polled for hours. The first and the last ones. */
const MAX_DRAWN = 200;
/** Between two rails, and from the edge to the first one, px. */
const RAIL_PX = 15;
/** From the top of a row to its dot, px. */
const DOT_PX = 19;

/** All steps in their order. Each lane is a rail, and each step a dot on the rail of its lane. */
export function Steps({ way: { lanes, steps } }: { way: Way }) {
  const hidden = Math.max(0, steps.length - MAX_DRAWN);
  const from = hidden === 0 ? steps.length : MAX_DRAWN / 2;
  const rail = (step: Step) =>
    Math.max(
      0,
      lanes.findIndex(({ id }) => id === step.lane),
    );
  return (
    <ol aria-label="Steps" className="rounded-box border border-line bg-card py-1">
      {steps.map((step, at) => {
        if (at > from && at < from + hidden) return null;
        const key = `${at} ${step.lane}`;
        if (hidden > 0 && at === from) {
          return (
            <li key={key} className="px-4 py-2 text-sm text-soft">
              {hidden} more steps are left out here. The page of their actor has all.
            </li>
          );
        }
        const index = rail(step);
        return (
          <li key={key} className="flex min-w-0 pr-4 pl-2">
            <Rails count={lanes.length} index={index} isBad={step.isBad === true} />
            <OneStep step={step} title={lanes[index]?.title ?? ''} />
          </li>
        );
      })}
    </ol>
  );
}

/** The rails of one row. They join those of the rows above and below. */
function Rails({ count, index, isBad }: { count: number; index: number; isBad: boolean }) {
  const x = (at: number) => at * RAIL_PX + RAIL_PX / 2;
  return (
    <span
      aria-hidden="true"
      className="relative shrink-0 self-stretch"
      style={{ width: count * RAIL_PX, minHeight: 2 * DOT_PX }}
    >
      <svg className="absolute inset-0 size-full">
        {Array.from({ length: count }, (_, at) => (
          <line
            key={x(at)}
            x1={x(at)}
            x2={x(at)}
            y1="0"
            y2="100%"
            stroke={colourOf(at)}
            strokeWidth={at === index ? 2.5 : 1.25}
            opacity={at === index ? 1 : 0.45}
          />
        ))}
        <circle
          cx={x(index)}
          cy={DOT_PX}
          r={5.5}
          fill={isBad ? 'var(--color-bad)' : colourOf(index)}
          stroke="var(--color-card)"
          strokeWidth={2}
        />
      </svg>
    </span>
  );
}

function OneStep({ step, title }: { step: Step; title: string }) {
  const { at_ms, says, event, actor, nano_usd, isBad } = step;
  return (
    <div className="grid min-w-0 flex-1 gap-x-3 py-1.5 pl-2 text-sm sm:grid-cols-[6rem_9rem_minmax(0,1fr)]">
      <span className="pt-px text-soft figures">+{sinceArrival(Math.max(0, at_ms))}</span>
      <span className="pt-px">{title}</span>
      <span className={`min-w-0 ${isBad ? 'text-bad' : ''}`}>
        {nano_usd === undefined ? null : (
          <strong className="font-semibold">
            <NanoMoney nano={nano_usd} />{' '}
          </strong>
        )}
        {says}
        {event && nano_usd === undefined && event.from !== event.to ? (
          <span className="text-soft">
            {' '}
            → <code className="font-mono">{event.to}</code>
          </span>
        ) : null}
        {event && actor ? (
          <GoLink
            to={urlOf(pathOfActor(actor), { at: event.seq, replica: actor.replica ?? undefined })}
            className="ml-2 font-mono text-[0.92em] whitespace-nowrap"
          >
            {event.event.type} {event.seq}
          </GoLink>
        ) : null}
      </span>
    </div>
  );
}
