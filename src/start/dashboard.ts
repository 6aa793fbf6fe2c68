import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { type Dashboard, readBuild } from '../http/web/build.ts';

const BUILDER = fileURLToPath(new URL('../../web/build.ts', import.meta.url));

/**
 * The dashboard, which another process builds, unless these sources are built already. Meanwhile Weir
 * serves calls, and asks for pages get a page that waits.
 */
export class BuiltDashboard implements Dashboard {
  state: Dashboard['state'] = 'building';
  private child: ReturnType<typeof spawnBuilder> | undefined;

  constructor(private readonly log: Logger) {}

  /** Builds the dashboard. Resolves when the build has ended, also if it failed or was stopped. */
  async build(): Promise<void> {
    const child = spawnBuilder();
    this.child = child;
    try {
      const [folder, mistakes, code] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ]);
      if (child.signalCode !== null) return;
      if (code !== 0) throw new Error(`web/build.ts failed: ${mistakes.slice(0, 2_000)}`);
      this.state = readBuild(folder.trim());
    } catch (error) {
      this.state = 'failed';
      this.log.error({ error }, 'the dashboard could not be built');
    }
  }

  /** Ends a build that still runs. */
  stop(): void {
    this.child?.kill();
  }
}

function spawnBuilder() {
  return Bun.spawn([process.execPath, BUILDER], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
}
