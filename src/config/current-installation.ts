import type { Installation } from './installation.ts';

type Listener = (now: Installation) => void;

/**
 * Holds the current installation: channels, models and roles. Code that uses the installation reads
 * `now` each time, or subscribes with `onChange`.
 */
export class CurrentInstallation {
  private readonly listeners: Listener[] = [];

  constructor(private latest: Installation) {}

  get now(): Installation {
    return this.latest;
  }

  /** Calls `listener` after each change. */
  onChange(listener: Listener): void {
    this.listeners.push(listener);
  }

  /** Replaces the installation and calls all listeners. Calls in flight keep the previous one. */
  replace(next: Installation): void {
    this.latest = next;
    for (const listener of this.listeners) listener(next);
  }
}
