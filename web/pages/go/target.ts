/** What an id belongs to (`GET /v1/management/find`). */
export interface Found {
  readonly kind: string;
  readonly id: string;
}

/** The path of each kind's page. `ID` is the id. */
const PAGES: Readonly<Record<string, string>> = {
  request: '/usage/requests/ID',
  task: '/tasks/ID',
  batch: '/batches/ID',
  delivery: '/tasks/ID',
  key: '/keys/ID',
  token: '/access/tokens',
  person: '/access/people',
  invitation: '/access/people',
  audit_line: '/access/audit',
  view: '/usage',
  debug_window: '/usage/requests',
  budget: '/billing',
  upstream_key: '/access/upstream-keys',
  alert: '/alerts',
  alert_endpoint: '/alerts',
  alert_delivery: '/alerts',
};

/** Returns the path of the page that shows what was found; undefined if none does. */
export function targetOf({ kind, id }: Found): string | undefined {
  // A webhook belongs to the task whose end it tells.
  const shown = kind === 'delivery' ? id.replace(/^msg_/, '') : id;
  return PAGES[kind]?.replace('ID', encodeURIComponent(shown));
}
