/**
 * Weir as the kill matrix starts it: the product's own composition, with a provider of one trait,
 * and with a step at which the process kills itself. Nothing of this is reachable in the product.
 */
import type { DurableKind, Effect } from '../../src/actors/durable-kind.ts';
import { readEnvironment } from '../../src/config/environment.ts';
import { createLog } from '../../src/start/log.ts';
import { startWeir } from '../../src/start/weir.ts';
import { chaosProtocol, TRAITS } from './tasks-provider.ts';

const { CHAOS_TRAIT, CHAOS_STEP } = process.env;
const trait = TRAITS.find(({ name }) => name === CHAOS_TRAIT);
if (!trait) throw new Error(`no such trait: ${CHAOS_TRAIT}`);

/** kill -9 of this very process, in the middle of what it does. */
function hit(step: string): void {
  if (step === CHAOS_STEP) process.kill(process.pid, 'SIGKILL');
}

/** Every effect has a step before and one after it; every commit has one right before it. */
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

const { environment } = readEnvironment(process.argv.slice(2), process.env);
const log = createLog(environment.WEIR_LOG_LEVEL);
process.on('unhandledRejection', (error) => log.error({ error }, 'unhandled rejection'));
const protocol = chaosProtocol(trait, hit);
const weir = await startWeir(environment, log, {
  protocols: { veo: protocol, 'openai-images': protocol },
  decorate: watched,
  fetchOutput: async (url) => {
    const response = await fetch(url);
    return {
      stream: response.body ?? new ReadableStream(),
      content_type: response.headers.get('content-type') ?? '',
    };
  },
});
process.stdout.write('Weir is ready\n');
process.on('SIGTERM', () => {
  weir.stop().then(
    () => process.exit(0),
    () => process.exit(1),
  );
});
