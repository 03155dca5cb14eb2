// Package registrytest is the conformance suite that every registry backend must pass, and the
// benchmarks that compare them. Only tests import it.
//
// # How to use it
//
// Describe the backend with a [Backend] and call [Run] from a test, and [Bench] from a benchmark:
//
//	func TestConformance(t *testing.T) {
//		registrytest.Run(t, registrytest.Backend{
//			Start: func(tb testing.TB, needs []registrytest.Ability) *registrytest.Store {
//				server := memory.NewServer()
//				return &registrytest.Store{
//					TTL: time.Second,
//					Open: func(tb testing.TB, namespace string) *registrytest.Participant {
//						r := server.Open(namespace, memory.WithTTL(time.Second))
//						return &registrytest.Participant{Registry: r, Cut: r.Cut, Heal: r.Heal, ...}
//					},
//				}
//			},
//		})
//	}
//
// Each case is named after what it proves, "Sessions/NodesOutliveManyTTLs", gets a namespace of its
// own, and runs in parallel with the others.
//
// # What a backend cannot do
//
// Many cases break something: they cut a connection, lose an answer, restart the store. A backend
// that cannot produce a fault, or does not have a property, must say so and why in [Backend.Lacks];
// the cases that need it are then reported as skipped, with the reason. A fault that is neither
// there nor declared as lacking fails the case, so that a green suite means what it says.
//
// # Time
//
// Durations are fractions and multiples of the session's TTL, and cases wait for what they expect
// rather than for time to pass, except where passing time is what they test. So the suite runs in
// real time as well as in testing/synctest bubbles: see [Backend.Around].
package registrytest
