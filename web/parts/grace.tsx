import type { SelectHTMLAttributes } from 'react';

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;

/** How long a replaced secret may stay valid, seconds. */
const GRACES: readonly (readonly [seconds: number, says: string])[] = [
  [0, 'not any more, it ends now'],
  [HOUR_S, 'for an hour'],
  [DAY_S, 'for a day'],
  [7 * DAY_S, 'for a week'],
  [30 * DAY_S, 'for 30 days, the longest'],
];

interface GraceProps extends Omit<SelectHTMLAttributes<HTMLSelectElement>, 'onChange'> {
  /** Seconds. */
  readonly value: number;
  readonly onChange: (seconds: number) => void;
}

/** Chooses how long a replaced secret stays valid. */
export function Grace({ value, onChange, ...rest }: GraceProps) {
  return (
    <select
      {...rest}
      className="control"
      value={value}
      onChange={(event) => onChange(Number(event.target.value))}
    >
      {GRACES.map(([seconds, says]) => (
        <option key={seconds} value={seconds}>
          {says}
        </option>
      ))}
    </select>
  );
}
