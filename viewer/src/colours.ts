// Colours that people with any colour vision tell apart.

/** Okabe and Ito, without black and yellow, one per leg. */
export const LEGS = [0x0072b2, 0x009e73, 0xcc79a7, 0x56b4e9, 0x7a6fac, 0x4d9221, 0x8c510a, 0x999999];
export const MOTOR = 0xe69f00;
export const PASSIVE = 0x777777;
/** Joints that close loops. */
export const LOOP = 0x009e73;
export const PLATFORM = 0x3b4cc0;
export const REFUSED = 0xd62d20;

const VIRIDIS = [
  [68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37],
] as const;

/** Viridis at 0 to 1, as red, green, blue of 0 to 255. */
export function viridis(x: number): [number, number, number] {
  const at = Math.min(1, Math.max(0, x)) * (VIRIDIS.length - 1);
  const i = Math.min(VIRIDIS.length - 2, Math.floor(at));
  const [a, b] = [VIRIDIS[i] ?? VIRIDIS[0], VIRIDIS[i + 1] ?? VIRIDIS[0]];
  const mix = (k: 0 | 1 | 2): number => Math.round(a[k] + (at - i) * (b[k] - a[k]));
  return [mix(0), mix(1), mix(2)];
}

/** Forces of the ground. */
export const GROUND = 0x1a7f37;
