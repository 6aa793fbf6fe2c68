import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import type { Alert, AlertDelivery, AlertEndpoint, AlertSettings, List } from '../../api/types.ts';
import type { Query } from '../../api/url.ts';
import { listPages } from '../../parts/list-pages.tsx';
import type { AlertsSearch } from './search.ts';

/** The first part of the query keys of this folder. */
const ALERTS = 'alerts';
const MANAGEMENT = '/v1/management';
export const ALERTS_PATH = `${MANAGEMENT}/alerts`;
export const ENDPOINTS_PATH = `${MANAGEMENT}/alert-endpoints`;
export const DELIVERIES_PATH = `${MANAGEMENT}/alert-deliveries`;
export const SETTINGS_PATH = `${MANAGEMENT}/alert-settings`;
export const endpointPath = (id: string, act = ''): string =>
  `${ENDPOINTS_PATH}/${encodeURIComponent(id)}${act}`;

/** How often the page is read again, ms. No event says that there is an alert. */
export const REREAD_MS = 30_000;
/** How often deliveries are read again while one of them is under way, ms. */
export const PENDING_MS = 2_000;
/** More than an organization can have. */
const ALL_ENDPOINTS = 100;

export const ENDPOINTS_QUERY: Query = { limit: ALL_ENDPOINTS };

/** The endpoints of the organization. */
export const endpointsQuery = queryOptions({
  queryKey: [ALERTS, 'endpoints'],
  queryFn: async ({ signal }) =>
    (await api.get<List<AlertEndpoint>>(ENDPOINTS_PATH, ENDPOINTS_QUERY, signal)).data,
});

export const settingsQuery = queryOptions({
  queryKey: [ALERTS, 'settings'],
  queryFn: ({ signal }) => api.getTagged<AlertSettings>(SETTINGS_PATH, {}, signal),
});

/** The list of alerts that an address asks for. */
export const alertsList = ({ kind }: AlertsSearch) => ({
  key: [ALERTS, 'list', kind ?? 'all'],
  path: ALERTS_PATH,
  query: { kind, limit: 20 },
});

/** The list of deliveries that an address asks for. */
export const deliveriesList = ({ state, endpoint_id, alert_id }: AlertsSearch) => ({
  key: [ALERTS, 'deliveries', { state, endpoint_id, alert_id }],
  path: DELIVERIES_PATH,
  query: { state, endpoint_id, alert_id, limit: 20 },
});

/** Reads all of the page again, e.g. after a change. */
export const rereadAlerts = (queries: QueryClient): Promise<void> =>
  queries.invalidateQueries({ queryKey: [ALERTS] });

/** Begins the reads of the page. */
export function beginAlerts(queries: QueryClient, search: AlertsSearch): void {
  const [alerts, deliveries] = [alertsList(search), deliveriesList(search)];
  queries.prefetchQuery(endpointsQuery);
  queries.prefetchQuery(settingsQuery);
  queries.prefetchInfiniteQuery(listPages<Alert>(alerts.key, alerts.path, alerts.query));
  queries.prefetchInfiniteQuery(
    listPages<AlertDelivery>(deliveries.key, deliveries.path, deliveries.query),
  );
}
