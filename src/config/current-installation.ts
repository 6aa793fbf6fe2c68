import type { Installation } from './installation.ts';

type Listener = (now: Installation) => void;

/** The installation as it is now. Whoever needs it asks anew each time, or listens to changes. */
export class CurrentInstallation {
  private readonly listeners: Listener[] = [];

  constructor(private latest: Installation) {}

  get now(): Installation {
    return this.latest;
  }

  onChange(listener: Listener): void {
    this.listeners.push(listener);
  }

  /** Calls under way end as they began. */
  replace(by: Installation): void {
    this.latest = by;
    for (const listener of this.listeners) listener(by);
  }
}
