/**
 * Providers of generations for the kill matrix. There is one for each trait that decides what Weir may do after a
 * lost answer. They run in the process of the experiment, so they survive every kill. Their books
 * count the accepted submissions.
 */
import type {
  GenerationProtocol,
  JobCall,
  Progress,
  SubmitResult,
  UpstreamJob,
} from '../../src/upstreams/generation/contract.ts';
import { LostSubmissionError } from '../../src/upstreams/generation/contract.ts';

/** The abilities of a kind of provider. */
export interface Trait {
  readonly name: string;
  /** False if the answer to the submission is the result. */
  readonly by_job: boolean;
  readonly idempotent: boolean;
  readonly finds: boolean;
}

export const TRAITS: readonly Trait[] = [
  { name: 'job, idempotent', by_job: true, idempotent: true, finds: false },
  { name: 'job, lookup by key', by_job: true, idempotent: false, finds: true },
  { name: 'job, neither', by_job: true, idempotent: false, finds: false },
  { name: 'inline, idempotent', by_job: false, idempotent: true, finds: false },
  { name: 'inline, neither', by_job: false, idempotent: false, finds: false },
];

interface Accepted {
  id: string;
  key: string;
  fails: boolean;
}

export interface ChaosProvider {
  url: string;
  /** Number of accepted submissions for each key. */
  accepted(): Map<string, number>;
  stop(): Promise<void>;
}

const PNG = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64');

/** Starts the provider of one trait. A prompt with `fail` makes a job that fails. */
export function startChaosProvider({ idempotent }: Trait): ChaosProvider {
  const jobs: Accepted[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    routes: {
      '/submit': {
        POST: async (request) => {
          const { key, prompt } = (await request.json()) as { key: string; prompt: string };
          const known = idempotent ? jobs.find((job) => job.key === key) : undefined;
          const job = known ?? { id: crypto.randomUUID(), key, fails: /fail/.test(prompt) };
          if (!known) jobs.push(job);
          return Response.json(job);
        },
      },
      '/jobs/:id': (request) => Response.json(jobs.find(({ id }) => id === request.params.id)),
      '/find/:key': (request) =>
        Response.json(jobs.find(({ key }) => key === request.params.key) ?? null),
      '/files/:id': () => new Response('result', { headers: { 'content-type': 'video/mp4' } }),
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    accepted() {
      const counts = new Map<string, number>();
      for (const { key } of jobs) counts.set(key, (counts.get(key) ?? 0) + 1);
      return counts;
    },
    stop: () => server.stop(true),
  };
}

/** Weir's protocol for such a provider. It calls `hit` at each step of a submission. */
export function chaosProtocol(trait: Trait, hit: (step: string) => void): GenerationProtocol {
  const { idempotent, by_job, finds } = trait;
  return {
    name: trait.name,
    idempotent,
    async submit({ target, idempotency_key, input }): Promise<SubmitResult> {
      hit('submit, nothing sent yet');
      const body = JSON.stringify({ key: idempotency_key, prompt: input.prompt });
      const job = await exchange<Accepted>(`${target.base_url}/submit`, { method: 'POST', body });
      hit('submit, accepted upstream');
      if (by_job) return { type: 'accepted', job: { id: job.id } };
      if (job.fails) return FAILED;
      return {
        type: 'produced',
        outputs: [{ kind: 'image', base64: PNG, content_type: 'image/png' }],
        usage: {},
      };
    },
    ...(by_job ? { poll } : {}),
    ...(finds
      ? {
          async find({ target, idempotency_key }): Promise<UpstreamJob | undefined> {
            const url = `${target.base_url}/find/${idempotency_key}`;
            const job = await exchange<Accepted | null>(url);
            return job ? { id: job.id } : undefined;
          },
        }
      : {}),
  };
}

const FAILED = {
  type: 'failed',
  reason: 'upstream',
  public_message: 'The generation failed.',
  message: 'asked for',
} as const;

async function poll({ target }: JobCall, { id }: UpstreamJob): Promise<Progress> {
  const job = await exchange<Accepted>(`${target.base_url}/jobs/${id}`);
  if (job.fails) return FAILED;
  const url = `${target.base_url}/files/${id}`;
  return { type: 'produced', outputs: [{ kind: 'video', url }], usage: {} };
}

async function exchange<Answer>(url: string, init: RequestInit = {}): Promise<Answer> {
  try {
    return (await (await fetch(url, init)).json()) as Answer;
  } catch (error) {
    throw new LostSubmissionError(String(error));
  }
}
