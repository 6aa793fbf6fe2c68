/** How many calls of a Weir were answered from its cache. */
import { until } from '../../support/until.ts';
import type { RunningWeir } from '../../support/weir.ts';

/** Waits until the cache has answered so many calls. The record of a call is written soon after it. */
export async function waitForHits(
  { base_url, management_token }: RunningWeir,
  hits: number,
): Promise<void> {
  await until(`${hits} answers came from the cache`, async () => {
    const answer = await fetch(
      `${base_url}/v1/management/usage/query?metric=cache_hits&bucket=none`,
      { headers: { authorization: `Bearer ${management_token}` } },
    );
    const { total } = (await answer.json()) as { total: { value: number } };
    return total.value >= hits;
  });
}
