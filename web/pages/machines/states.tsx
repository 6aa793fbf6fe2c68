import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { ChartBox, ChartEvent, ChartLayout, ChartNote } from '../../charts/layout.ts';

interface StatesProps {
  readonly layout: ChartLayout;
  /** Path of the chosen state. */
  readonly chosen: string | undefined;
}

/** Each state of a machine in words: what it is, what happens in it, and where its events lead. */
export function States({ layout, chosen }: StatesProps) {
  const states = layout.boxes.filter(({ kind }) => kind !== 'start');
  return (
    <ul className="grid gap-3">
      {states.map((box) => (
        <State key={box.id} box={box} layout={layout} isChosen={box.id === chosen} />
      ))}
    </ul>
  );
}

interface StateProps {
  readonly box: ChartBox;
  readonly layout: ChartLayout;
  readonly isChosen: boolean;
}

function State({ box, layout, isChosen }: StateProps) {
  const element = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isChosen) element.current?.scrollIntoView({ block: 'nearest' });
  }, [isChosen]);
  const leading = layout.arrows.filter(({ source }) => source === box.id);
  return (
    <li
      ref={element}
      aria-current={isChosen || undefined}
      className="grid min-w-0 gap-1 rounded-box border border-line bg-card px-4 py-3 aria-[current=true]:border-accent aria-[current=true]:bg-accent-soft"
    >
      <h3 className="font-mono text-sm font-semibold">
        {box.kind === 'any' ? (
          <AnyState id={box.id} />
        ) : (
          <StateLink machine={layout.machine} path={box.id} />
        )}
        {box.kind === 'final' ? (
          <span className="font-sans font-normal text-soft"> · the end</span>
        ) : null}
      </h3>
      {box.description === undefined ? null : <p>{box.description}</p>}
      <ul className="grid gap-0.5 text-sm text-soft">
        {box.notes.map((note) => (
          <li key={`${note.on} ${note.guard}`}>
            <Note note={note} />
          </li>
        ))}
        {leading.flatMap(({ target, label }) =>
          (label?.events ?? []).map((event) => (
            <li key={`${target} ${event.event} ${event.guard}`}>
              <Transition event={event} /> → <StateLink machine={layout.machine} path={target} />
              <Does actions={event.actions} />
            </li>
          )),
        )}
      </ul>
    </li>
  );
}

/** `processing#any` stands for all states in `processing`. */
function AnyState({ id }: { id: string }) {
  const around = id.replace(/#any$/, '');
  return <>any state{around === '' ? '' : ` in ${around}`}</>;
}

function StateLink({ machine, path }: { machine: string; path: string }) {
  return (
    <Link
      to="/machines/$machine"
      params={{ machine }}
      search={{ state: path }}
      resetScroll={false}
      className="font-mono text-accent underline underline-offset-2"
    >
      {path}
    </Link>
  );
}

function Note({ note: { on, guard, actions } }: { note: ChartNote }) {
  if (on === 'entry' || on === 'exit') {
    return (
      <>
        on {on}
        <Does actions={actions} />
      </>
    );
  }
  return (
    <>
      <Transition event={{ event: on, guard, except: [], actions }} /> changes no state
      <Does actions={actions} />
    </>
  );
}

function Transition({ event: { event, guard, except } }: { event: ChartEvent }) {
  return (
    <>
      <code className="font-mono text-ink">{event}</code>
      {guard === '' ? null : guard === 'else' ? (
        ', else'
      ) : (
        <>
          {' if '}
          <code className="font-mono">{guard}</code>
        </>
      )}
      {except.length === 0 ? '' : `, not in ${except.join(', ')}`}
    </>
  );
}

function Does({ actions }: { actions: readonly string[] }) {
  if (actions.length === 0) return null;
  return (
    <>
      {': '}
      {actions.join(', ')}
    </>
  );
}
