/**
 * How a PostgreSQL program is started: never as root, and never to outlive this process.
 */

/** The prefix of a command line and the owner that files of the cluster must have. */
export interface LaunchPlan {
  prefix: string[];
  /** The uid, seen from outside, that must own the cluster's folder. */
  owner_uid: number;
}

/** `nobody` on Debian, and the kernel's overflow id, so that no account gains anything by it. */
const UNPRIVILEGED_ID = 65534;

let cached: LaunchPlan | undefined;

/**
 * Finds, once per process, how programs can be started here.
 *
 * PostgreSQL refuses to run as root. Where we are root, a user namespace makes the server believe
 * that it is somebody else while its files stay root's, wherever they lie. Where the system forbids
 * namespaces (some containers), the server becomes `nobody` and keeps the one capability that lets
 * it reach its folder below directories that are closed to others.
 *
 * @throws when this process is root and neither way works.
 */
export function launchPlan(): LaunchPlan {
  cached ??= findLaunchPlan();
  return cached;
}

/**
 * The part of the prefix that ties a long-running server to this process: if we are killed -9, the
 * kernel sends it SIGINT, PostgreSQL's fast shutdown. Empty where `setpriv` does not exist (macOS);
 * there the next start stops the orphan.
 */
export function dieWithParentPrefix(): string[] {
  const prefix = ['setpriv', '--pdeathsig', 'SIGINT'];
  return works([...prefix, 'true']) ? prefix : [];
}

function findLaunchPlan(): LaunchPlan {
  const uid = process.getuid?.() ?? 0;
  if (uid !== 0) return { prefix: [], owner_uid: uid };
  const forced = process.env.WEIR_EMBEDDED_ROOT_MODE;
  const namespace = [
    'unshare',
    '--user',
    `--map-user=${UNPRIVILEGED_ID}`,
    `--map-group=${UNPRIVILEGED_ID}`,
  ];
  if (forced !== 'setpriv' && works([...namespace, 'true'])) {
    return { prefix: namespace, owner_uid: 0 };
  }
  const identity = [
    'setpriv',
    `--reuid=${UNPRIVILEGED_ID}`,
    `--regid=${UNPRIVILEGED_ID}`,
    '--clear-groups',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
  ];
  if (works([...identity, 'true'])) return { prefix: identity, owner_uid: UNPRIVILEGED_ID };
  throw new Error(
    'PostgreSQL does not run as root, and neither "unshare --user" nor "setpriv" (util-linux) ' +
      'works here. Start Weir as an ordinary user, or set DATABASE_URL.',
  );
}

function works(command: string[]): boolean {
  try {
    return Bun.spawnSync(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' }).success;
  } catch {
    return false;
  }
}
