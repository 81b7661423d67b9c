// Package events tells connections of what happens: of records that were changed, of
// vaults that are read, and of the health of the daemon. A Hub tells, a Subscription is
// what one connection has subscribed to. protocol.TopicTable says what is told of each
// topic, and how it is merged.
//
// A commit leaves the ids and kinds of what it changed in a queue (changes.go): once for
// local readers, and once for remote ones where the two are told of different records,
// which the View of a remote reader decides. A goroutine that lives while anybody is
// subscribed encodes each event once and sends it to all (hub.go). It waits for nobody: a
// connection with much to read already gets its events merged when it has read the rest
// (subscription.go). What is held for one is bounded, by ListedIDs for each topic.
//
// It stands apart from rpc because it knows no method, no session and no gate. Of a
// connection it needs what Connection lists, and who reads it. The rooms of a store come
// and go, and subscriptions outlive them: only Commit sees a store, as what a transaction
// of it has changed.
//
// rpc calls it, and its tests over the socket are there. A Hub and a Subscription may be
// used concurrently. A commit waits while Commit runs, so that has to stay short.
package events
