/** Refuses calls whose arguments say a certain word. */
export function curfew({ word }) {
  return {
    name: 'curfew',
    veto: (call) => (JSON.stringify(call.input).includes(word) ? `"${word}" is not said here.` : undefined),
  };
}
