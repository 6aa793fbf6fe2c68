/**
 * Weir as the kill matrix starts it: the product's own startup, with its own protocols or with a
 * provider of one trait. Once the process is armed by SIGUSR2, it kills itself at a given step. The
 * product cannot reach this code.
 */
import type { DurableKind, Effect } from '../../src/actors/durable/kind.ts';
import { readEnvironment } from '../../src/config/environment.ts';
import type { GenerationOverrides } from '../../src/start/generation.ts';
import { createLog } from '../../src/start/log.ts';
import { startWeir } from '../../src/start/weir.ts';
import type { GenerationProtocol } from '../../src/upstreams/generation/contract.ts';
import { GENERATION_PROTOCOLS } from '../../src/upstreams/generation/protocols.ts';
import { chaosProtocol, TRAITS, type Trait } from './tasks-provider.ts';

const { CHAOS_TRAIT, CHAOS_STEP } = process.env;
const trait = TRAITS.find(({ name }) => name === CHAOS_TRAIT);

let isArmed = false;
process.on('SIGUSR2', () => {
  isArmed = true;
  process.stdout.write('Armed\n');
});

/** Kills this process with -9 if it is armed and `step` is the step of this case. */
function hit(step: string): void {
  if (isArmed && step === CHAOS_STEP) process.kill(process.pid, 'SIGKILL');
}

/** Adds steps to a kind: before and after every effect, and before every commit. */
function watched(kind: DurableKind): DurableKind {
  const watch = (name: string, effect: Effect): Effect => {
    return async (params, context) => {
      hit(`${name}, not begun`);
      const outcome = await effect(params, context);
      hit(`${name}, done and not committed`);
      return outcome;
    };
  };
  return {
    ...kind,
    effects: Object.fromEntries(
      Object.entries(kind.effects).map(([name, effect]) => [name, watch(name, effect)]),
    ),
    async project(tx, changes) {
      await kind.project?.(tx, changes);
      for (const { to_state } of changes) hit(`${to_state}, written and not committed`);
    },
  };
}

/** The product's protocols, with steps in each submission. */
function ownProtocols(): Record<string, GenerationProtocol> {
  const watch = (protocol: GenerationProtocol): GenerationProtocol => ({
    ...protocol,
    async submit(call) {
      hit('submit, nothing sent yet');
      const submitted = await protocol.submit(call);
      hit('submit, accepted upstream');
      return submitted;
    },
  });
  return Object.fromEntries(
    Object.entries(GENERATION_PROTOCOLS).map(([name, each]) => [name, watch(each)]),
  );
}

function providerOf(trait: Trait): GenerationOverrides {
  const protocol = chaosProtocol(trait, hit);
  return {
    protocols: { veo: protocol, 'openai-images': protocol },
    fetchResult: async (url) => {
      const response = await fetch(url);
      return {
        stream: response.body ?? new ReadableStream(),
        content_type: response.headers.get('content-type') ?? '',
      };
    },
  };
}

const { environment } = readEnvironment(process.argv.slice(2), process.env);
const log = createLog(environment.WEIR_LOG_LEVEL);
process.on('unhandledRejection', (error) => log.error({ error }, 'unhandled rejection'));
const weir = await startWeir(environment, log, {
  ...(trait ? providerOf(trait) : { protocols: ownProtocols() }),
  decorate: watched,
});
process.stdout.write(`Base URL  ${weir.base_url}\nWeir is ready\n`);
process.on('SIGTERM', () => {
  weir.stop().then(
    () => process.exit(0),
    () => process.exit(1),
  );
});
