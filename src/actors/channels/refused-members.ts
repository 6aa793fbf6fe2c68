import { OUTPUT_LIMITS } from '../../protocols/dialects.ts';
import type { RefusedMembers } from '../../upstreams/contract.ts';

/** Only this many members are remembered. Weir adds fewer members to a request. */
const MAX_MEMBERS = 8;

/**
 * The members that Weir added to requests and that the upstream refused. This replica remembers
 * them until it restarts or until the channel's account changes. Other replicas learn on their own,
 * which costs each of them one refused request.
 */
export class RefusedMemberList implements RefusedMembers {
  private readonly members = new Set<string>();

  has(member: string): boolean {
    return this.members.has(member);
  }

  add(member: string): void {
    // A request always has one of the two names of the output limit. So a refusal of one name
    // means that the upstream now knows the other.
    if (OUTPUT_LIMITS.some((name) => name === member)) {
      for (const name of OUTPUT_LIMITS) this.members.delete(name);
    }
    if (this.members.size < MAX_MEMBERS) this.members.add(member);
  }

  clear(): void {
    this.members.clear();
  }

  /** The names of the members, for the operator. */
  get names(): readonly string[] {
    return [...this.members].sort();
  }
}
