export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;

/** What the address of the page of alerts has. */
export interface AlertsSearch {
  /** True: the form of a new endpoint is open. */
  readonly create?: boolean | undefined;
  /** Only alerts of this kind. */
  readonly kind?: string | undefined;
  /** Only deliveries in this state. */
  readonly state?: (typeof DELIVERY_STATES)[number] | undefined;
  /** Only deliveries to this endpoint. */
  readonly endpoint_id?: string | undefined;
  /** Only deliveries of this alert. */
  readonly alert_id?: string | undefined;
}

export function alertsSearchOf(search: Record<string, unknown>): AlertsSearch {
  const { create, kind, state, endpoint_id, alert_id } = search;
  return {
    ...(create === true || create === 'true' ? { create: true } : {}),
    ...(isText(kind) ? { kind } : {}),
    ...(DELIVERY_STATES.includes(state as never) ? { state: state as AlertsSearch['state'] } : {}),
    ...(isText(endpoint_id) ? { endpoint_id } : {}),
    ...(isText(alert_id) ? { alert_id } : {}),
  };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
