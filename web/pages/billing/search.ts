const GROUPS = ['model', 'vendor', 'scene', 'channel', 'key', 'day'] as const;

/** By what a month is shown. */
export type BillGroup = (typeof GROUPS)[number];

/** What the address of the bill has. */
export const billingSearchOf = ({ by }: Record<string, unknown>): { by?: BillGroup | undefined } =>
  GROUPS.includes(by as BillGroup) ? { by: by as BillGroup } : {};
