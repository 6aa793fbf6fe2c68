import { classes } from '../../../parts/classes.ts';
import { counted } from '../../../parts/figures.ts';
import { Money } from '../../../parts/money.tsx';
import type { Bank, Dock, Ribbon, River } from './river.ts';

interface RiverViewProps {
  readonly river: River;
  /** What the amounts are, e.g. `held`. */
  readonly money: string;
  readonly keyName: (id: string) => string;
  /** The id of the chosen call. */
  readonly chosen: string | undefined;
  readonly choose: (request_id: string) => void;
  readonly isChosen: (dock: Dock) => boolean;
  readonly chooseDock: (dock: Dock) => void;
}

const TITLES: Readonly<Record<Bank, string>> = {
  key: 'Keys',
  admission: 'Admission',
  channel: 'Channels',
  ledger: 'Ledger',
};

/** The width of a box, in percent of the river. */
const BOX_PERCENT = { 3: 24, 4: 18.5 } as const;

const COLOURS: Readonly<Record<string, string>> = {
  ...{ healthy: 'var(--color-good)', degraded: 'var(--color-warn)', probing: 'var(--color-warn)' },
  ...{ open: 'var(--color-bad)', disabled: 'var(--color-bad)' },
};

/**
 * The river: a ribbon for each call, as high as its money, in the colour of its channel's circuit. Ribbons run
 * between the boxes only, so no label is covered. On a phone the river scrolls.
 */
export function RiverView(props: RiverViewProps) {
  const { river, chosen, choose } = props;
  const { banks, docks, ribbons, height } = river;
  const box = banks.length === 4 ? BOX_PERCENT[4] : BOX_PERCENT[3];
  const gap = (100 - box * banks.length) / (banks.length - 1);
  const left = (bank: Bank) => banks.indexOf(bank) * (box + gap);
  return (
    <section
      // Who has no mouse scrolls it by keyboard.
      tabIndex={0}
      aria-label="The river, which scrolls"
      className="overflow-x-auto rounded-box border border-line bg-card p-4"
    >
      <div className="min-w-[38rem]">
        <div aria-hidden="true" className="relative h-7 text-sm text-soft">
          {banks.map((bank) => (
            <span key={bank} className="absolute" style={{ left: `${left(bank)}%` }}>
              {TITLES[bank]}
            </span>
          ))}
        </div>
        <div className="relative" style={{ height }}>
          {/* Each ribbon is also a row of the table below. */}
          <svg
            aria-hidden="true"
            className="absolute inset-0 size-full"
            viewBox={`0 0 100 ${height}`}
            preserveAspectRatio="none"
          >
            {ribbons.map((ribbon) => (
              // biome-ignore lint/a11y/noStaticElementInteractions: each call is also a button below
              <path
                key={`${ribbon.call.request_id} ${ribbon.to}`}
                data-call={ribbon.call.request_id}
                d={shapeOf(ribbon, left(ribbon.from) + box, left(ribbon.to))}
                fill={COLOURS[ribbon.circuit ?? ''] ?? 'var(--color-held)'}
                opacity={chosen === ribbon.call.request_id ? 1 : 0.5}
                className="cursor-pointer hover:opacity-80"
                onClick={() => choose(ribbon.call.request_id)}
              />
            ))}
          </svg>
          {docks.map((dock) => (
            <Box key={dock.id} dock={dock} left={left(dock.bank)} width={box} {...props} />
          ))}
        </div>
      </div>
    </section>
  );
}

/** The id of a channel has no slash; the name of a model may have some. */
function modelAndChannel(name: string): [model: string, channel: string] {
  const at = name.indexOf('/');
  return [name.slice(at + 1), name.slice(0, at)];
}

function shapeOf({ from_top, to_top, height }: Ribbon, from: number, to: number): string {
  const middle = (from + to) / 2;
  // A hair between two ribbons, so that each is seen.
  const high = Math.max(1, height - 1);
  return [
    `M${from},${from_top}C${middle},${from_top} ${middle},${to_top} ${to},${to_top}`,
    `L${to},${to_top + high}C${middle},${to_top + high} ${middle},${from_top + high}`,
    `${from},${from_top + high}Z`,
  ].join(' ');
}

interface BoxProps extends RiverViewProps {
  readonly dock: Dock;
  readonly left: number;
  readonly width: number;
}

function Box({ dock, left, width, money, keyName, isChosen, chooseDock }: BoxProps) {
  const { bank, name, rest, calls, usd, circuit, top, height } = dock;
  const [said, under] =
    rest > 0
      ? [`${rest} other ${bank === 'key' ? 'keys' : 'channels'}`]
      : bank === 'key'
        ? [keyName(name)]
        : bank === 'channel'
          ? modelAndChannel(name)
          : [TITLES[bank]];
  return (
    <button
      type="button"
      aria-pressed={isChosen(dock)}
      title={under === undefined ? said : `${said}, ${under}`}
      onClick={() => chooseDock(dock)}
      className={classes(
        'absolute grid content-center overflow-hidden rounded-control border border-line bg-paper px-2 text-left text-sm leading-tight aria-pressed:border-accent aria-pressed:bg-accent-soft',
        circuit !== undefined && 'border-l-4',
      )}
      style={{
        ...{ left: `${left}%`, width: `${width}%`, top, height },
        ...(circuit === undefined ? {} : { borderLeftColor: COLOURS[circuit] }),
      }}
    >
      <span className="truncate font-medium">
        <bdi>{said}</bdi>
      </span>
      {under === undefined ? null : (
        <span className="truncate text-soft">
          <bdi>{under}</bdi>
        </span>
      )}
      <span className="truncate text-soft">
        {calls === 0 ? (
          'no call'
        ) : (
          <>
            <Money usd={usd} /> {money}
          </>
        )}
      </span>
      <span className="truncate text-[0.85em] text-soft">
        {calls === 0 ? '' : counted(calls, 'call')}
        {circuit === undefined ? '' : `, ${circuit}`}
      </span>
    </button>
  );
}
