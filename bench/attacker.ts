/**
 * The process of an attack. It attacks until it is killed, in a process of its own, so that its work
 * does not delay the neighbour's clock. Its argument is a `Victim` as JSON.
 */
import { attackOf } from './client-attacks.ts';
import type { Victim } from './raw-client.ts';

const { name, ...victim } = JSON.parse(process.argv[2] ?? '{}') as Victim & { name: string };
process.on('unhandledRejection', () => undefined);
attackOf(name)(victim);
console.log('attacking');
setInterval(() => undefined, 60_000);
