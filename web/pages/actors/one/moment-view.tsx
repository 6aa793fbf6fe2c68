import type { ReactNode } from 'react';
import { Section } from '../../../parts/page.tsx';
import { Table } from '../../../parts/table.tsx';
import { type ActorHistory, type Change, changesAt, type Moment } from './history.ts';
import { MemberValue, NanoMoney } from './member-value.tsx';

interface MomentViewProps {
  readonly history: ActorHistory;
  readonly index: number;
}

/** What the event of a moment did: the members that it changed, and the money that moved. */
export function MomentView({ history, index }: MomentViewProps) {
  const { kind, moments } = history;
  const moment = moments[index] ?? moments[0];
  const changes = changesAt(history, index);
  return (
    <div className="grid gap-6 lg:grid-cols-2">
      <Section title={moment.event ? `What event ${moment.seq} changed` : 'Its context'}>
        {changes && changes.length > 0 ? (
          <Changes kind={kind} changes={changes} />
        ) : (
          <p className="text-sm text-soft">
            {moment.event
              ? changes
                ? 'Nothing in the context.'
                : 'Unknown: the replay stopped before.'
              : 'No event has changed it yet.'}
          </p>
        )}
        <Money kind={kind} moment={moment} changes={changes ?? []} />
        {moment.event ? <Details kind={kind} moment={moment} /> : null}
      </Section>
      <Section title="The context at this moment">
        {moment.context ? (
          <Members kind={kind} members={moment.context} />
        ) : (
          <p className="text-sm text-soft">Unknown: the replay stopped before.</p>
        )}
      </Section>
    </div>
  );
}

function Changes({ kind, changes }: { kind: string; changes: readonly Change[] }) {
  return (
    <Table
      caption="Changed members of the context"
      rows={changes}
      keyOf={({ member }) => member}
      columns={[
        { title: 'Member', cell: ({ member }) => <code className="font-mono">{member}</code> },
        {
          title: 'Before',
          cell: ({ member, before }) => <MemberValue kind={kind} member={member} value={before} />,
        },
        {
          title: 'After',
          cell: ({ member, after }) => (
            <strong className="font-medium">
              <MemberValue kind={kind} member={member} value={after} />
            </strong>
          ),
        },
      ]}
    />
  );
}

/** The money that the event moved, and what moved up to it. */
function Money({ kind, moment, changes }: { kind: string; moment: Moment; changes: Change[] }) {
  const { event, money } = moment;
  const lines = kind === 'quota' ? quotaLines(changes) : ledgerLines(event?.money ?? null);
  const hasMoved = money.held > 0 || money.settled > 0 || money.released > 0;
  if (lines.length === 0 && !hasMoved) return null;
  return (
    <div className="grid gap-1 rounded-box border border-line bg-card px-4 py-3">
      <h3 className="text-sm font-medium text-soft">Money</h3>
      {lines.length === 0 ? <p>This event moved none.</p> : null}
      {lines.map(([nano, says]) => (
        <p key={says}>
          <strong className="font-semibold">
            <NanoMoney nano={nano} />
          </strong>{' '}
          {says}
        </p>
      ))}
      {hasMoved ? (
        <p className="text-sm text-soft">
          Up to here: <NanoMoney nano={money.held} /> held, <NanoMoney nano={money.settled} />{' '}
          charged, <NanoMoney nano={money.released} /> released.
        </p>
      ) : null}
    </div>
  );
}

type Line = readonly [nano: number, says: string];

function ledgerLines(money: NonNullable<Moment['event']>['money']): Line[] {
  if (!money) return [];
  const lines: Line[] = [
    [money.held_nano_usd, 'were held for it'],
    [money.settled_nano_usd, 'were charged'],
    [money.released_nano_usd, 'were released: they went back to the key'],
  ];
  return lines.filter(([nano]) => nano > 0);
}

const QUOTA_WORDS: Readonly<Record<string, readonly [string, string]>> = {
  granted: ['more were granted by the ledger', 'were returned to the ledger'],
  reserved: ['more were reserved for running calls', 'are no longer reserved for running calls'],
  settled: ['were charged', 'were not booked after all'],
};

function quotaLines(changes: readonly Change[]): Line[] {
  return changes.flatMap(({ member, before, after }): Line[] => {
    const words = QUOTA_WORDS[member];
    const difference = Number(after) - Number(before);
    if (!words) return [];
    return [[Math.abs(difference), difference > 0 ? words[0] : words[1]]];
  });
}

/** The members of the event itself. */
function Details({ kind, moment: { event } }: { kind: string; moment: Moment }) {
  const { type: _, ...members } = event?.event ?? { type: '' };
  if (Object.keys(members).length === 0) return null;
  return (
    <div className="grid gap-1.5">
      <h3 className="text-sm font-medium text-soft">The event had</h3>
      <Members kind={kind} members={members} />
    </div>
  );
}

function Members({ kind, members }: { kind: string; members: Readonly<Record<string, unknown>> }) {
  const rows = Object.entries(members).map(([member, value]): [string, ReactNode] => [
    member,
    <MemberValue key={member} kind={kind} member={member} value={value} />,
  ]);
  return (
    <dl className="grid gap-x-5 gap-y-1 rounded-box border border-line bg-card px-4 py-3 text-[0.9rem] sm:grid-cols-[auto_minmax(0,1fr)]">
      {rows.map(([member, value]) => (
        <div key={member} className="contents">
          <dt className="font-mono text-[0.92em] text-soft">{member}</dt>
          <dd className="min-w-0">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
