/** The colours of lanes, in their order. The name beside each lane says what it is. */
const COLOURS = ['soft', 'accent', 'warn', 'good', 'held', 'bad', 'edge'] as const;

/** The colour of the lane with this index, as a CSS value. */
export const colourOf = (index: number): string =>
  `var(--color-${COLOURS[index % COLOURS.length] ?? 'soft'})`;
