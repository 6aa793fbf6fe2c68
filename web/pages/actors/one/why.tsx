import { whyWords } from '../../../../src/replay/why-words.ts';
import { wordsFor } from '../../../../src/replay/words.ts';
import { Time } from '../../../parts/time.tsx';
import { type ActorHistory, entryOf, isIn, type Moment, statesUntil } from './history.ts';

interface WhyProps {
  readonly history: ActorHistory;
  readonly index: number;
  /** The state that the reader asks about; undefined: the one that the actor is in. */
  readonly chosen: string | undefined;
  readonly choose: (path: string | undefined) => void;
  readonly go: (index: number) => void;
}

/** Why an actor is in a state, or was: the event and the guard that led there, in words. */
export function Why({ history, index, chosen, choose, go }: WhyProps) {
  const { kind, moments } = history;
  const state = moments[index]?.state ?? '';
  const path = chosen ?? state;
  const entry = entryOf(history, path, index);
  const others = statesUntil(history, index).filter((each) => each !== state);
  // The page says it already of the state that the actor is in now.
  const isNow = index === moments.length - 1 && chosen === undefined;
  const words = isNow ? '' : wordsFor(kind, path);
  return (
    <section aria-label="Why?" className="grid gap-2 rounded-box border border-line bg-card p-4">
      <div className="flex flex-wrap items-baseline justify-between gap-3">
        <h2 className="text-lg font-semibold">
          Why <code className="font-mono text-[0.92em]">{path}</code>?
        </h2>
        <select
          aria-label="The state to explain"
          className="control w-auto! max-w-full"
          value={path}
          onChange={({ target }) => choose(target.value === state ? undefined : target.value)}
        >
          <option value={state}>{state}, where it is</option>
          {others.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
          {path === state || others.includes(path) ? null : <option value={path}>{path}</option>}
        </select>
      </div>
      {isIn(state, path) && words !== '' ? <p className="text-soft">It {words}.</p> : null}
      {entry === 'never' ? (
        <p>Up to this moment, it was never in this state.</p>
      ) : entry === 'before' ? (
        <p>
          {history.isWhole
            ? 'Each actor of this machine begins in this state.'
            : 'It came into this state with an event that is no longer kept.'}
        </p>
      ) : (
        <>
          <Reason kind={kind} moment={moments[entry.entered]} go={() => go(entry.entered)} />
          <Earlier history={history} entered={entry.entered} choose={choose} />
        </>
      )}
    </section>
  );
}

function Reason({
  kind,
  moment,
  go,
}: {
  kind: string;
  moment: Moment | undefined;
  go: () => void;
}) {
  if (!moment?.event) return null;
  const { event, seq, taken } = moment;
  const words = taken ? whyWords(kind, taken) : '';
  return (
    <div className="grid gap-1">
      <p className="max-w-prose text-[1.05em]">
        {words === '' ? `The event ${event.event.type} led here.` : `Because ${words}.`}
      </p>
      <p className="text-sm text-soft">
        <button type="button" className="text-accent hover:underline" onClick={go}>
          Event {seq}
        </button>
        , <code className="font-mono">{event.event.type}</code>
        {taken?.guard ? (
          <>
            {' if '}
            <code className="font-mono">{taken.guard}</code>
          </>
        ) : taken && taken.failed.length > 0 ? (
          <>
            {', not '}
            <code className="font-mono">{taken.failed.join(', ')}</code>
          </>
        ) : null}
        , from <code className="font-mono">{event.from}</code>, <Time at={event.at} short />
      </p>
    </div>
  );
}

interface EarlierProps {
  readonly history: ActorHistory;
  /** The index of the moment that led into the explained state. */
  readonly entered: number;
  readonly choose: (path: string) => void;
}

/** Why the actor was in the state before: the last event of a failure says little of its reason. */
function Earlier({ history, entered, choose }: EarlierProps) {
  const { kind, moments } = history;
  const from = moments[entered - 1]?.state;
  if (from === undefined) return null;
  const entry = entryOf(history, from, entered - 1);
  const taken = typeof entry === 'object' ? moments[entry.entered]?.taken : undefined;
  const words = taken ? whyWords(kind, taken) : '';
  if (words === '') return null;
  return (
    <p className="text-sm text-soft">
      It was in{' '}
      <button
        type="button"
        className="font-mono text-accent hover:underline"
        onClick={() => choose(from)}
      >
        {from}
      </button>{' '}
      because {words}.
    </p>
  );
}
