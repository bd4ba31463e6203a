/**
 * Drives one peer: `cycles` approve-then-execute cycles with `inFlight` of them at once, for each number in flight. Prints
 * one JSON object: cycles per second by the number in flight.
 */
export async function drive(name, cycle) {
  const plan = JSON.parse(process.argv[2] ?? '[[1,100],[64,200],[256,300]]');
  let next = 0;
  const run = async (inFlight, cycles) => {
    let left = cycles;
    const startedAt = performance.now();
    await Promise.all(
      Array.from({ length: inFlight }, async () => {
        while (left-- > 0) await cycle(++next);
      }),
    );
    return cycles / ((performance.now() - startedAt) / 1000);
  };
  await run(1, 20);
  const rates = {};
  for (const [inFlight, cycles] of plan) rates[inFlight] = await run(inFlight, cycles);
  process.stdout.write(`${JSON.stringify({ name, rates })}\n`);
}
