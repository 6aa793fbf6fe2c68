import { checkedAddress } from '../../../storage/checked-address.ts';
import { Connection, type Http1Request } from './connection.ts';

let allowed_hosts: ReadonlySet<string> = new Set();

/**
 * Sets the internal hosts (`host:port`) that guarded connections may reach. The operator lists them;
 * default: none.
 */
export function allowGuardedHosts(hosts: ReadonlySet<string>): void {
  allowed_hosts = hosts;
}

/** The internal hosts that guarded connections may reach. */
export function guardedHosts(): ReadonlySet<string> {
  return allowed_hosts;
}

/**
 * A connection to an address that a tenant gave. The host is resolved here and checked each time, so a
 * later DNS answer leads to no internal address.
 */
export class GuardedConnection extends Connection {
  override open(request: Http1Request): void {
    this.expect(request);
    const { hostname, port } = this.address;
    checkedAddress(hostname, port, allowed_hosts).then(
      (address) => this.connect(address),
      (error: unknown) => this.onLost(error),
    );
  }
}
