/** Tones of a state: each has a shape of its own, so that no state is told by colour alone. */
export type Tone = 'good' | 'danger' | 'warn' | 'active' | 'quiet';
