// toolcrib script examples/starter/scripts/towns.js --config examples/starter/toolcrib.yaml word=harbour
const factors = await Promise.all([12, 35, 97].map((number) => tools.prime_factors({ number })));
const { words } = await tools.count_words({ text: `The ${input.word ?? 'town'} has a market.` });
console.log('factors of', factors.length, 'numbers');
return { factors, words };
