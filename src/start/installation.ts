import { existsSync, readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { CurrentInstallation } from '../config/current-installation.ts';
import { demoInstallation } from '../config/demo.ts';
import { ConfigurationError } from '../config/environment.ts';
import { type Installation, installationOf } from '../config/installation.ts';
import { parseWeirYaml } from '../config/weir-yaml.ts';
import { startSimulator } from './simulator.ts';

const DEFAULT_CONFIG = './weir.yaml';
/** A change is seen within this time, ms: by its content, which works on every file system. */
const LOOK_MS = 400;

export interface OpenInstallation {
  readonly live: CurrentInstallation;
  /** False while the file holds mistakes; what held before them holds on. */
  isValid(): boolean;
  /** Stops looking at the file, or stops the simulator. */
  close(): Promise<void>;
}

/**
 * The file's channels and models, applied again whenever it changes; without a file the demo, and the
 * simulator that serves it (design 8). Throws ConfigurationError where the file cannot be used.
 */
export async function openInstallation(
  configured: string | undefined,
  log: Logger,
): Promise<OpenInstallation> {
  const file = configured ?? (existsSync(DEFAULT_CONFIG) ? DEFAULT_CONFIG : undefined);
  if (file) return watch(file, log);
  const simulator = await startSimulator();
  const live = new CurrentInstallation(demoInstallation(simulator.url));
  return { live, isValid: () => true, close: () => simulator.stop() };
}

function watch(file: string, log: Logger): OpenInstallation {
  let applied = readConfig(file);
  /** What was looked at last; undefined = it could not be read. */
  let seen: string | undefined = applied;
  const live = new CurrentInstallation(read(applied, file));
  const look = () => {
    let text: string | undefined;
    try {
      text = readConfig(file);
      if (text === seen) return;
      if (text !== applied) {
        live.replace(read(text, file));
        applied = text;
        log.info({ file, channels: live.now.channels.length }, 'the configuration was applied');
      }
    } catch (error) {
      // Said once, not at every look.
      if (text !== seen) log.error({ error }, 'the configuration was not applied');
    }
    seen = text;
  };
  const timer = setInterval(look, LOOK_MS);
  process.on('SIGHUP', look);
  return {
    live,
    isValid: () => seen === applied,
    async close() {
      clearInterval(timer);
      process.off('SIGHUP', look);
    },
  };
}

function read(text: string, file: string): Installation {
  return installationOf(parseWeirYaml(text, process.env, file));
}

function readConfig(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigurationError(`WEIR_CONFIG cannot be read: ${(error as Error).message}`);
  }
}
