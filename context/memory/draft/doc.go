// Package draft says what a new memory may be, before it is written down.
//
// A Draft is what a client says of one. Record makes it a record, but for what a transaction adds: id, number, handle
// and times. Check refuses a memory that says what none may, and tidies its texts and lists. It is a package of its own
// since who only proposes a memory checks it too, without the room that writes it. Lengths are in code points. The errors
// are Invalid and Limit, with the member at fault. Nothing is kept, and all of it is safe for concurrent use. O(size).
package draft
