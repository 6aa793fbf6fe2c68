import { type Static, Type } from '@sinclair/typebox';
import { writeAsOf } from '../../../../db/usage/as-of.ts';
import { SharedReads } from '../../../inference/records/shared-reads.ts';
import { type Handler, jsonText } from '../../endpoint.ts';
import { admitManager } from '../keys.ts';
import { type ExploreQuery, ExploreSchema, exploredAnswers, validateExplored } from './explore.ts';
import type { UsageQueriesSchema } from './explore-answer.ts';
import { KeptAnswers } from './kept-answers.ts';
import type { UsageDeps } from './lines.ts';
import { asOf, invalid, parametersOf, querySchema, text } from './query.ts';

/** The most queries of one request: an overview needs seven. */
const MAX_QUERIES = 10;

const { metric: _, ...COMMON } = ExploreSchema.properties;

/** `GET /v1/management/usage/queries` */
export const ExploreSeveralSchema = querySchema({
  query: Type.Array(text(2_000), {
    minItems: 1,
    maxItems: MAX_QUERIES,
    description: `The parameters of one query, as \`usage/query\` takes them: \`metric=cost&bucket=day\`. Sent once for each query, at most ${MAX_QUERIES} times.`,
  }),
  ...COMMON,
});

/**
 * `GET /v1/management/usage/queries`: several queries of usage, all of the same instant, in one answer. A
 * page with many figures asks once, and all its figures agree.
 */
export function queryUsageSeveral(deps: UsageDeps): Handler {
  const reads = new SharedReads<string>();
  const answers = new KeptAnswers();
  return async (context) => {
    const { organization_id } = await admitManager(deps, context);
    const queries = queriesOf(context.request);
    const name = JSON.stringify([organization_id, queries]);
    const read = async () => JSON.stringify(await listOf(deps, organization_id, queries));
    const isOfState = queries[0]?.as_of !== undefined;
    return jsonText(await (isOfState ? answers : reads).run(name, read));
  };
}

/** Returns the queries of a request, each with what is sent for all of them. Throws WeirError (400). */
function queriesOf({ url }: Request): ExploreQuery[] {
  const { searchParams } = new URL(url);
  const asked = searchParams.getAll('query');
  if (asked.length === 0) throw invalid('query', 'is missing');
  if (asked.length > MAX_QUERIES) throw invalid('query', `may be sent ${MAX_QUERIES} times`);
  searchParams.delete('query');
  const common = parametersOf(searchParams);
  return asked.map((each) => {
    const own = parametersOf(new URLSearchParams(each));
    if (own['as_of'] !== undefined) throw invalid('as_of', 'counts for all queries');
    return validateExplored({ ...common, ...own });
  });
}

async function listOf(
  deps: UsageDeps,
  organization_id: string,
  queries: readonly ExploreQuery[],
): Promise<Static<typeof UsageQueriesSchema>> {
  const as_of = await asOf(queries[0] ?? {}, deps.usage());
  const data = await exploredAnswers(deps, organization_id, queries, as_of);
  return { object: 'list', data, as_of: writeAsOf(as_of) };
}
