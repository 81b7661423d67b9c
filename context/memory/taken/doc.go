// Package taken knows which numbers memories have, and what they say, for transactions that must not choose the
// same: what is committed, and what transactions have chosen that are not committed yet.
//
// Package memory owns an Index and may call it: in Claim and End for each of its transactions, in Commit for what
// was committed. What the Index says of statements is a hint: records that were changed since still stand in it, and
// whoever asks reads the record. Nothing of it is stored; it is made of the memories at the start.
//
// All methods are safe for concurrent use.
package taken
