import type { ActorList } from '../../api/types.ts';
import { Badge } from '../../parts/badge.tsx';
import { NAMES } from './names.ts';
import { toneOf } from './tones.ts';

interface LegendProps {
  readonly counts: ActorList['counts'];
  readonly kind: string | undefined;
  readonly state: string | undefined;
  readonly choose: (kind: string | undefined, state: string | undefined) => void;
}

/** How many actors are in each state. A click shows only these, and a second one shows all again. */
export function Legend({ counts, kind, state, choose }: LegendProps) {
  const kinds = [...new Set(counts.map((each) => each.kind))];
  if (kinds.length === 0) return null;
  return (
    <dl className="grid gap-x-6 gap-y-2 sm:grid-cols-[auto_minmax(0,1fr)]">
      {kinds.map((each) => (
        <div key={each} className="contents">
          <dt className="pt-1 text-sm text-soft">{NAMES[each] ?? each}</dt>
          <dd className="flex flex-wrap gap-1.5">
            {counts
              .filter((count) => count.kind === each)
              .map((count) => {
                const isChosen = kind === each && state === count.state;
                return (
                  <button
                    key={count.state}
                    type="button"
                    aria-pressed={isChosen}
                    onClick={() =>
                      isChosen ? choose(undefined, undefined) : choose(each, count.state)
                    }
                    className="inline-flex items-center gap-1.5 rounded-full border border-line bg-card py-0.5 pr-2.5 pl-1 text-sm hover:border-edge aria-pressed:border-accent aria-pressed:bg-accent-soft"
                  >
                    <Badge tone={toneOf(each, count.state)}>
                      <span className="font-mono">{count.state}</span>
                    </Badge>
                    <span className="figures">{count.actors}</span>
                  </button>
                );
              })}
          </dd>
        </div>
      ))}
    </dl>
  );
}
