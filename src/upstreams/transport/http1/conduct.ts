/**
 * If a host is not proven (see `Conduct`), its connection must receive no byte for this time after
 * a response, ms. Then the connection may be reused.
 */
export const QUIET_MS = 100;
/** After this number of reuses without a surplus byte, a host is proven. */
export const CLEAN_REUSES = 20;
/** After a surplus byte, no connection to the host is reused for this time, ms. */
export const SUSPENSION_MS = 5 * 60_000;

/** Called with a host that sent surplus bytes. */
type SurplusListener = (host: string) => void;

let reportSurplus: SurplusListener = () => undefined;

/**
 * Sets the function that reports a host which sent surplus bytes. A host is reported once, and
 * again if it sends surplus bytes after its suspension. The function gets only the host's name.
 */
export function onSurplusBytes(listener: SurplusListener): void {
  reportSurplus = listener;
}

/**
 * Whether the connections to one host may be reused. HTTP/1.1 has no number that connects a
 * response with its request. So bytes that follow a complete response (surplus bytes) would look
 * like the response to the next request, which may be another client's.
 *
 * `proven`: after `CLEAN_REUSES` reuses without a surplus byte, each connection is reused at once.
 * `unproven`: a connection is reused only if it received no byte for `QUIET_MS` after its response.
 * `suspended`: the host sent surplus bytes, so no connection is reused for `SUSPENSION_MS`.
 */
export class Conduct {
  private clean_reuses = 0;
  private suspended_until_ms = 0;

  constructor(
    private readonly host: string,
    private readonly now: () => number = () => performance.now(),
  ) {}

  get isProven(): boolean {
    return this.clean_reuses >= CLEAN_REUSES;
  }

  get isSuspended(): boolean {
    return this.suspended_until_ms > 0 && this.suspended_until_ms > this.now();
  }

  /** Called when a reused connection carried a complete response without a surplus byte. */
  onCleanReuse(): void {
    if (!this.isProven) this.clean_reuses += 1;
  }

  /** Called when the host has sent bytes that belong to no response. */
  onSurplus(): void {
    const wasSuspended = this.isSuspended;
    this.clean_reuses = 0;
    this.suspended_until_ms = this.now() + SUSPENSION_MS;
    if (!wasSuspended) reportSurplus(this.host);
  }
}
