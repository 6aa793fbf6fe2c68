import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { ApiError } from '../../api/error.ts';
import type { ModelDetail } from '../../api/types.ts';
import { exampleCall } from '../../catalogue/example.ts';
import { modelQuery, SPEND_PATH, spendParameters, spendQuery } from '../../catalogue/queries.ts';
import { whyRanked } from '../../catalogue/rank.ts';
import { ModelStatus, statusText } from '../../catalogue/status.tsx';
import { ApiCall } from '../../parts/api-call.tsx';
import { Copy } from '../../parts/copy.tsx';
import { counted } from '../../parts/figures.ts';
import { GoLink } from '../../parts/go-link.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Money } from '../../parts/money.tsx';
import { Card, Page, Section } from '../../parts/page.tsx';
import { useHere } from '../../shell/here.ts';
import { Missing } from '../../shell/missing.tsx';
import { Snippets } from '../../snippets/snippets.tsx';
import { sceneOfModel } from '../playground/scenes.ts';
import { Contract } from './contract.tsx';
import { Prices } from './prices.tsx';

/** One model: what it costs, what it takes, how it does now, and the call that uses it. */
export function ModelPage() {
  const { model: id } = useParams({ from: '/inside/models/$model' });
  const query = useQuery(modelQuery(id));
  if (query.error instanceof ApiError && query.error.status === 404) return <Missing />;
  return (
    <Page
      title={id}
      question={query.data ? <About model={query.data} /> : 'A model of the catalogue'}
      acts={query.data ? <Try model={query.data} /> : null}
      call={<ApiCall path={`/v1/management/models/${encodeURIComponent(id)}`} />}
    >
      <Loaded query={query} height="h-96">
        {(model) => (
          <>
            <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
              <Now model={model} />
              <Rank model={model} />
              <Spent model={model} />
            </div>
            <Section title="Price">
              <Prices model={model} />
            </Section>
            <Section title="The call">
              <Snippets call={exampleCall(model)} />
            </Section>
            <Section title="What it takes">
              <Contract model={model} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function About({ model }: { model: ModelDetail }) {
  return (
    <>
      <Copy text={model.id} what="model id" /> by <bdi>{model.owned_by}</bdi>, makes{' '}
      {model.category}
      {model.aliases.length > 0 ? `, also called ${model.aliases.join(', ')}` : ''}
    </>
  );
}

function Try({ model }: { model: ModelDetail }) {
  const { may } = useHere();
  const scene = sceneOfModel(model);
  if (!scene || !may('keys.use')) return null;
  return (
    <Link
      to="/playground"
      search={{ scene, models: [model.id] }}
      className="inline-flex min-h-9 items-center rounded-control bg-accent px-3 py-1 font-medium text-on-accent hover:opacity-90"
    >
      Try it in the playground
    </Link>
  );
}

function Now({ model: { status } }: { model: ModelDetail }) {
  return (
    <Card>
      <h2 className="mb-1 text-sm text-soft">Now</h2>
      <ModelStatus status={status} />
      <p className="mt-1 text-sm text-soft">{statusText(status)}</p>
    </Card>
  );
}

function Rank({ model: { rank, category } }: { model: ModelDetail }) {
  return (
    <Card>
      <h2 className="mb-1 text-sm text-soft">Rank</h2>
      {rank ? (
        <>
          <p className="text-xl figures">
            {rank.place} <span className="text-base text-soft">of {rank.of}</span>
          </p>
          <p className="mt-1 text-sm text-soft">{whyRanked(rank)}</p>
        </>
      ) : (
        <p className="text-sm text-soft">Weir does not rank models that make {category}.</p>
      )}
    </Card>
  );
}

function Spent({ model: { id } }: { model: ModelDetail }) {
  const { may } = useHere();
  const query = useQuery({ ...spendQuery(id), enabled: may('usage.read') });
  return (
    <Card>
      <h2 className="mb-1 text-sm text-soft">What it cost you, last 30 days</h2>
      <Loaded query={query} height="h-12">
        {(spend) => {
          const own = spend.get(id);
          return own ? (
            <>
              <Money usd={own.usd} className="text-xl" />
              <p className="mt-1 text-sm text-soft">
                <GoLink to="/usage/requests" query={own.rows}>
                  {counted(own.requests, 'request')}
                </GoLink>
              </p>
            </>
          ) : (
            <p className="text-sm text-soft">Nobody of your organization called it.</p>
          );
        }}
      </Loaded>
      <ApiCall path={SPEND_PATH} query={spendParameters(id)} />
    </Card>
  );
}
