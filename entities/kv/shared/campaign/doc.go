// Package campaign holds nothing but tests: a store that three machines share over three
// servers, all of them real processes, to which bad things are done in turn.
//
// The test program starts itself again as servers and as daemons. Daemons open the store
// through package shared, over the stream of package stream, and carry out operations that
// come as lines of JSON. Between all processes stand proxies of the test, which cut
// connections and lose one direction. Every operation is noted with the times of its call and
// of its answer, and porcupine says whether some order explains all answers. Errors fail the
// test. The short form takes some seconds; CTXD_CAMPAIGN=full does two hundred faults. Where
// processes can't be stopped and continued, on Windows, there are no tests.
package campaign
