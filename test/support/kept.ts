/** How much of what ended calls held stays in memory until the next check of all waits. */
import { type Watched, watch } from '../../src/upstreams/transport/deadlines.ts';

const MANY = 200;

/** A wait that never ends by itself, so that the checks go on. */
class Running implements Watched {
  checks = 0;
  isOver = false;

  check(): boolean {
    this.checks += 1;
    return !this.isOver;
  }
}

/**
 * Runs `use` 200 times with an object each, and returns how many of these objects a collection then finds in use. A
 * check of all waits forgets ended ones too, so this tries again until none came between.
 */
export async function countKept(use: (held: object) => unknown): Promise<number> {
  const running = new Running();
  watch(running);
  try {
    for (;;) {
      const { checks } = running;
      const held = await usedBy(use);
      // The end of a turn: until then, weak references keep their objects.
      await new Promise((resolve) => setImmediate(resolve));
      Bun.gc(true);
      const kept = held.filter((each) => each.deref() !== undefined).length;
      if (running.checks === checks) return kept;
    }
  } finally {
    running.isOver = true;
  }
}

async function usedBy(use: (held: object) => unknown): Promise<WeakRef<object>[]> {
  const held: WeakRef<object>[] = [];
  for (let at = 0; at < MANY; at += 1) {
    const each = { at };
    held.push(new WeakRef(each));
    await use(each);
  }
  return held;
}
