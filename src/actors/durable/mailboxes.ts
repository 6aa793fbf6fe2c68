import { WeirError } from '../../errors/weir-error.ts';
import type { ActorCommand, CommandResult } from './command.ts';

/**
 * The most commands of one actor that wait for their commit. Further commands are refused with 503.
 */
export const MAX_WAITING_COMMANDS = 64;

/** Limits how many commands of one durable actor wait on this replica. */
export class Mailboxes {
  private readonly waiting = new Map<string, number>();

  constructor(private readonly sendNow: (command: ActorCommand) => Promise<CommandResult>) {}

  /**
   * Sends a command; throws `service_unavailable` if too many commands to this actor are waiting.
   */
  async send(command: ActorCommand): Promise<CommandResult> {
    const name = `${command.kind}/${command.id}`;
    const waiting = this.waiting.get(name) ?? 0;
    if (waiting >= MAX_WAITING_COMMANDS) {
      throw new WeirError('service_unavailable', 'Too many requests for this task are waiting.', {
        retry_after: 1,
      });
    }
    this.waiting.set(name, waiting + 1);
    try {
      return await this.sendNow(command);
    } finally {
      const left = (this.waiting.get(name) ?? 1) - 1;
      if (left === 0) this.waiting.delete(name);
      else this.waiting.set(name, left);
    }
  }
}
