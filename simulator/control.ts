import type { Simulator } from './exchange.ts';
import type { Account } from './shared/accounts.ts';
import { totalsOf } from './shared/books.ts';
import { jobs } from './tasks/desk.ts';
import { type Job, stateOf } from './tasks/jobs.ts';

/** The simulator's own routes below `/_sim`, for tests. No provider has them. */
export async function controlRoute(
  simulator: Simulator,
  path: string,
  request: Request,
): Promise<Response> {
  const [, collection, id] = path.split('/');
  if (collection === 'books' && id === undefined) return books(simulator, request);
  if (collection === 'jobs' && id === undefined) {
    const of = new URL(request.url).searchParams.get('account');
    return Response.json({ jobs: jobs.list(of ?? undefined).map(entry) });
  }
  if (collection === 'accounts' && id === undefined && request.method === 'GET') {
    return Response.json({ accounts: simulator.accounts.all().map(shown) });
  }
  if (collection === 'accounts' && id === undefined && request.method === 'DELETE') {
    for (const { id } of simulator.accounts.all()) simulator.accounts.reset(id);
    return Response.json({ accounts: simulator.accounts.all().map(shown) });
  }
  if (collection === 'accounts' && id !== undefined) {
    return account(simulator, decodeURIComponent(id), request);
  }
  return refusal(404, `nothing at ${request.method} /_sim${path}`);
}

/**
 * Query parameters: `account`, `since` (the id of a call), and `calls=0` for totals only. DELETE
 * empties the books; with `take=1` it removes the calls that have ended, and answers with them.
 */
function books({ books }: Simulator, request: Request): Response {
  const query = new URL(request.url).searchParams;
  const account = query.get('account') ?? undefined;
  if (request.method === 'DELETE' && query.get('take') === '1') {
    return Response.json(books.take(account));
  }
  if (request.method === 'DELETE') {
    books.clear();
    return new Response(null, { status: 204 });
  }
  const since = query.get('since');
  const calls = books.list({
    ...(account === undefined ? {} : { account }),
    ...(since === null ? {} : { since }),
  });
  const totals = totalsOf(calls);
  const forgotten = books.forgotten(account);
  return Response.json(
    query.get('calls') === '0' ? { totals, forgotten } : { calls, totals, forgotten },
  );
}

async function account(simulator: Simulator, id: string, request: Request): Promise<Response> {
  const { accounts } = simulator;
  switch (request.method) {
    case 'GET':
      return Response.json(shown(accounts.get(id)));
    case 'DELETE':
      return Response.json(shown(accounts.reset(id)));
    case 'PUT':
      try {
        return Response.json(shown(accounts.set(id, await request.json())));
      } catch (error) {
        return refusal(400, String(error));
      }
    default:
      return refusal(405, 'GET, PUT and DELETE');
  }
}

/** A job in the provider's books: one for each accepted submission. */
function entry(job: Job): object {
  const { script: _script, details: _details, prompt: _prompt, ...shown } = job;
  return { ...shown, state: stateOf(job) };
}

function shown({ id, control, calls, running }: Account): object {
  return { id, control, calls, running };
}

function refusal(status: number, error: string): Response {
  return Response.json({ error }, { status });
}
