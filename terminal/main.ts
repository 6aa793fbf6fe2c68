/** The program `bin/weir`: the actors of a running Weir in a terminal. */
import { actorCommand } from './actor.ts';
import { listCommand } from './actors.ts';
import { findAddress } from './address.ts';
import { ArgumentError, readArguments } from './arguments.ts';
import { InspectClient, RequestError } from './inspect-client.ts';
import { inspectorCommand } from './inspector.ts';
import { standardOutput } from './output.ts';

const REFUSED = 1;
const WRONG_ARGUMENTS = 2;

const output = standardOutput();
try {
  const command = readArguments(process.argv.slice(2));
  const client = new InspectClient(findAddress(command));
  if (command.command === 'actors') await listCommand(client, command, output);
  else if (command.command === 'actor') await actorCommand(client, command, output);
  else await inspectorCommand(client, command, output);
} catch (error) {
  if (error instanceof ArgumentError) {
    output.note(`${error.message}\nbin/weir --help shows all arguments.`);
    process.exitCode = WRONG_ARGUMENTS;
  } else if (error instanceof RequestError) {
    output.note(error.message);
    process.exitCode = REFUSED;
  } else throw error;
}
