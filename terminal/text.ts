const MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const NANO_DIGITS = 9;

/** Returns the milliseconds of e.g. `90s`, `10m`, `2h` or `1d`; undefined for other texts. */
export function durationMs(text: string): number | undefined {
  const [, digits = '', unit] = /^(\d{1,7})([smhd])$/.exec(text) ?? [];
  return unit === undefined ? undefined : Number(digits) * MS[unit as keyof typeof MS];
}

/** Returns a duration in its two largest units, e.g. `14m 38s`. `ms` is in milliseconds. */
export function age(ms: number): string {
  const units = Object.entries(MS).reverse() as [string, number][];
  const first = units.findIndex(([, size]) => ms >= size);
  if (first < 0) return '0s';
  let rest = ms;
  const parts = units.slice(first, first + 2).map(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return `${count}${unit}`;
  });
  return parts.filter((part, index) => index === 0 || !part.startsWith('0')).join(' ');
}

/** Returns nano-USD as dollars, with all digits that are not 0 and at least two decimals. */
export function dollars(nano: number): string {
  const digits = String(Math.abs(nano)).padStart(NANO_DIGITS + 1, '0');
  const decimals = digits.slice(-NANO_DIGITS).replace(/0{1,7}$/, '');
  return `${nano < 0 ? '-' : ''}$${digits.slice(0, -NANO_DIGITS)}.${decimals}`;
}

/**
 * Returns the text without control characters. A name from outside could contain sequences that
 * a terminal executes.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, '�');
}

/** Returns the lines of a table. The last column is not padded. */
export function tableLines(rows: readonly (readonly string[])[]): string[] {
  const safe = rows.map((row) => row.map(printable));
  const widths = (safe[0] ?? []).map((_, column) =>
    Math.max(...safe.map((row) => row[column]?.length ?? 0)),
  );
  return safe.map((row) =>
    row
      .map((cell, column) => (column < row.length - 1 ? cell.padEnd(widths[column] ?? 0) : cell))
      .join('  ')
      .trimEnd(),
  );
}
