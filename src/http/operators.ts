/**
 * The budget of bodies counts bytes by key id. The bodies of all operators are counted under this
 * id, because operators have no API key.
 */
export const OPERATORS = 'operators';
