import { queryOptions } from '@tanstack/react-query';
import { api } from '../api/client.ts';
import type { List, Model, ModelDetail } from '../api/types.ts';
import type { Query } from '../api/url.ts';

/** How often the state of models is read again, ms. No event says that it changed. */
const REFRESH_MS = 15_000;

/** Every model of the catalogue. */
export const modelsQuery = () =>
  queryOptions({
    queryKey: ['models'],
    queryFn: async ({ signal }) =>
      (await api.get<List<Model>>('/v1/management/models', {}, signal)).data,
    refetchInterval: REFRESH_MS,
  });

/** One model with its contract. */
export const modelQuery = (id: string) =>
  queryOptions({
    queryKey: ['models', id],
    queryFn: ({ signal }) =>
      api.get<ModelDetail>(`/v1/management/models/${encodeURIComponent(id)}`, {}, signal),
    refetchInterval: REFRESH_MS,
  });

/** What the API says of the spend of 30 days, by model. */
interface SpendByModel {
  readonly from: string;
  readonly until: string;
  readonly as_of: string;
  readonly series: readonly {
    readonly group: string | null;
    readonly value: number | null;
    readonly requests: number;
  }[];
}

/** The spend of one model or all, in the last 30 days. */
export interface Spend {
  readonly usd: number;
  readonly requests: number;
  /** The filters of the list of requests that has exactly these requests. */
  readonly rows: Query;
}

/** The path and query of the spend of 30 days, which pages show as their API call. */
export const SPEND_PATH = '/v1/management/usage/query';
export const spendParameters = (model?: string) => ({
  ...{ metric: 'cost', group: 'logical_model', bucket: 'none', top: 50 },
  ...(model === undefined ? {} : { logicalModel: model }),
});

/** The spend of the organization in the last 30 days by model. A model without calls is missing. */
export const spendQuery = (model?: string) =>
  queryOptions({
    queryKey: ['usage', 'spend by model', model ?? null],
    queryFn: async ({ signal }) => {
      const { series, from, until, as_of } = await api.get<SpendByModel>(
        SPEND_PATH,
        spendParameters(model),
        signal,
      );
      const rowsOf = (logicalModel: string) => ({
        ...{ logicalModel, startDate: from, as_of },
        // The list includes its last instant, and the sums do not.
        endDate: new Date(Date.parse(until) - 1).toISOString(),
      });
      return new Map<string, Spend>(
        series.flatMap(({ group, value, requests }) =>
          group === null || value === null
            ? []
            : [[group, { usd: value, requests, rows: rowsOf(group) }]],
        ),
      );
    },
  });
