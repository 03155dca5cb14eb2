// Package javapeer runs real instances of Elastic-Job-Lite 2.1.5 and ElasticJob 3.0.4 for tests: Java
// processes that take part in jobs over ZooKeeper, and do what a test tells them.
//
//	peer := javapeer.Start(t, javapeer.WithRelease(javapeer.ElasticJob3), javapeer.WithIP("10.0.0.1"))
//	belief, err := peer.Join(cluster, javapeer.NewJob("orders", "0/2 * * * * ?", 3))
//	peer.Last("orders", javapeer.UntilTold)   // executions go on until the test says otherwise
//
// The Java side is written for these tests. It uses the library as an application does, and its lifecycle API as the console
// does. Each [Release] has a Maven project, which is the folder of its name with the sources of the folder shared. It is
// built once for each content, into the user's cache folder. What it needs of a machine is what package maven needs.
//
// A process reads requests from its standard input and writes answers and events to its standard
// output, a JSON object a line. It halts when its input ends, so none outlives the test.
//
// A Java process may take part in many jobs, under a session for each. A test that kills it kills them
// all.
package javapeer
