import { type RunningSimulator, startSimulator } from './simulator.ts';
import { type RunningWeir, startWeir, type WeirOptions } from './weir.ts';

/** A real Weir in front of a real simulator, each a process of its own. */
export interface TestInstallation {
  weir: RunningWeir;
  simulator: RunningSimulator;
  /** Sends a management request and returns the parsed answer. */
  manage<Answer>(method: string, path: string, body?: object): Promise<Answer>;
  stop(): Promise<void>;
}

/** An API key record of the management interface. */
export interface KeyAnswer {
  id: string;
  key: string;
  used_amount: number;
  limit_amount: number | null;
  status: string;
}

/**
 * The channels of each public model. No two models share a channel, so a fault of one model's
 * channel does not affect other models.
 */
const CHANNELS: Record<string, { id: string; protocol: 'openai' | 'anthropic' }[]> = {
  'gpt-4o': [
    { id: 'openai-main', protocol: 'openai' },
    { id: 'openai-spare', protocol: 'openai' },
  ],
  'gpt-4o-mini': [{ id: 'openai-mini', protocol: 'openai' }],
  'gpt-4.1': [{ id: 'openai-lonely', protocol: 'openai' }],
  'o4-mini': [{ id: 'openai-busy', protocol: 'openai' }],
  'claude-opus-4-5': [{ id: 'anthropic-main', protocol: 'anthropic' }],
  'claude-haiku-4-5': [{ id: 'anthropic-busy', protocol: 'anthropic' }],
};

/**
 * Returns a configuration with the channels above, in order of priority. Its rate limit is too high
 * for any test to reach.
 */
export function configOf(simulatorUrl: string): string {
  const channels = Object.entries(CHANNELS).flatMap(([model, serving]) =>
    serving.map(({ id, protocol }, priority) => ({
      id,
      protocol,
      priority,
      base_url: `${simulatorUrl}/${protocol === 'openai' ? 'openai/v1' : 'anthropic'}`,
      api_key: `sim-${id}`,
      models: { [model]: `${model}-physical` },
    })),
  );
  // YAML includes JSON.
  return JSON.stringify({ channels, roles: { standard: 1_000_000 } }, null, 2);
}

/** Starts simulator and Weir; `options.config` replaces the channels above. */
export async function startInstallation(options: WeirOptions = {}): Promise<TestInstallation> {
  const simulator = await startSimulator();
  const weir = await startWeir({ config: configOf(simulator.url), ...options });
  return {
    weir,
    simulator,
    async manage(method, path, body) {
      const response = await fetch(`${weir.base_url}/v1/management${path}`, {
        method,
        headers: {
          authorization: `Bearer ${weir.management_token}`,
          'content-type': 'application/json',
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      return response.json() as never;
    },
    async stop() {
      await weir.stop();
      await simulator.stop();
    },
  };
}
