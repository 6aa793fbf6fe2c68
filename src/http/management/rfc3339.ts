const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

const MINUTE_MS = 60_000;
/** The years that JavaScript and PostgreSQL both write with four digits. */
const EARLIEST_MS = Date.parse('0001-01-01T00:00:00Z');
const LATEST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Parses an RFC 3339 datetime and truncates it to milliseconds. A time zone is required: without a
 * time zone the instant would depend on the machine. Returns undefined for other text and for days
 * that do not exist. A leap second becomes the next second.
 */
export function parseRfc3339(text: string): Date | undefined {
  const match = DATE_TIME.exec(text);
  if (!match) return undefined;
  const field = (index: number) => Number(match[index] ?? 0);
  const [year, month, day] = [field(1), field(2), field(3)];
  const [hour, minute, second] = [field(4), field(5), field(6)];
  const [offsetHour, offsetMinute] = [field(9), field(10)];
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) {
    return undefined;
  }
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const milliseconds = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3));
  date.setUTCHours(hour, minute, second, milliseconds);
  const offset_ms = (offsetHour * 60 + offsetMinute) * MINUTE_MS;
  const time_ms = date.getTime() - (match[8] === '-' ? -offset_ms : offset_ms);
  return time_ms < EARLIEST_MS || time_ms > LATEST_MS ? undefined : new Date(time_ms);
}
