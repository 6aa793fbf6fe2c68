/** How the values of many usage lines are sent: what they share once, and what few have for these only. */
import type { InlineLine } from './usage-line.ts';

/** Columns that usually have the same values in many lines of one settlement. */
const COMMON = [
  'grant_id',
  'model',
  'channel_id',
  'outcome',
  'estimated',
  'access_channel',
  'organization_id',
  'key_id',
  'scene',
  'model_vendor',
] as const;

type Common = Pick<InlineLine, (typeof COMMON)[number]> & {
  readonly protocol: string;
  readonly program: string;
  readonly looked_up: boolean;
};

/**
 * Returns each combination of common values once, and for each line the index of its combination.
 */
export function groupByCommon(lines: readonly InlineLine[]): {
  common: (Common & { number: number })[];
  common_of: number[];
} {
  const common: (Common & { number: number })[] = [];
  const numbers = new Map<string, number>();
  let number = -1;
  const common_of = lines.map((line) => {
    // In most cases the line has the combination of the previous line.
    const last = common[number];
    if (last && haveSameCommon(line, last)) return number;
    const { protocol = '', program = '', looked_up = false } = line.record ?? {};
    const text = JSON.stringify([
      protocol,
      program,
      looked_up,
      ...COMMON.map((name) => line[name]),
    ]);
    number = numbers.get(text) ?? common.length;
    if (number === common.length) {
      numbers.set(text, number);
      common.push({ ...pickCommon(line), protocol, program, looked_up, number });
    }
    return number;
  });
  return { common, common_of };
}

/** Compares the columns of `COMMON`. It runs for every line, and a loop over names is slower. */
function haveSameCommon(a: InlineLine, b: Common): boolean {
  return (
    (a.record?.protocol ?? '') === b.protocol &&
    (a.record?.program ?? '') === b.program &&
    (a.record?.looked_up ?? false) === b.looked_up &&
    a.grant_id === b.grant_id &&
    a.model === b.model &&
    a.channel_id === b.channel_id &&
    a.outcome === b.outcome &&
    a.estimated === b.estimated &&
    a.access_channel === b.access_channel &&
    a.organization_id === b.organization_id &&
    a.key_id === b.key_id &&
    a.scene === b.scene &&
    a.model_vendor === b.model_vendor
  );
}

function pickCommon(line: InlineLine): Common {
  return Object.fromEntries(COMMON.map((name) => [name, line[name]])) as unknown as Common;
}

/**
 * Returns the values that few lines have, with the place of the line: its index plus 1. Returns nothing
 * for a line without such values.
 */
export function rareOf(line: InlineLine, at: number): object[] {
  const { cached_input_tokens, cache_write_tokens, overrun_nano_usd } = line;
  const { reasoning_tokens = 0, audio_tokens = 0, list_nano_usd, counted_nano_usd } = line;
  const detail = line.record?.detail;
  const request_id = line.request_id === line.id ? undefined : line.request_id;
  if (
    cached_input_tokens === 0 &&
    cache_write_tokens === 0 &&
    overrun_nano_usd === 0 &&
    reasoning_tokens === 0 &&
    audio_tokens === 0 &&
    list_nano_usd === undefined &&
    counted_nano_usd === undefined &&
    !detail &&
    !request_id
  ) {
    return [];
  }
  const counts = { cached_input_tokens, cache_write_tokens, reasoning_tokens, audio_tokens };
  return [
    {
      place: at + 1,
      request_id,
      ...counts,
      overrun_nano_usd,
      list_nano_usd,
      counted_nano_usd,
      detail,
    },
  ];
}
