package outbox

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
)

// Limits of what waits.
const (
	MaxItems = 10_000
	MaxBytes = 64 << 20
)

// Keys of an outbox.
const (
	HeadKey       = "!outbox"
	waitingPrefix = "!waiting "
	basePrefix    = "!base "
	sentPrefix    = "!sent "
)

// BaseKey is the key of the base of a record: what the record is according to the log.
func BaseKey(key string) string { return basePrefix + key }

func sentKey(sent string) string { return sentPrefix + sent }

func waitingKey(number uint64) string { return fmt.Sprintf("%s%016x", waitingPrefix, number) }

// IsKey reports whether a key is one of an outbox.
func IsKey(key string) bool {
	return key == HeadKey || strings.HasPrefix(key, waitingPrefix) || strings.HasPrefix(key, basePrefix) || strings.HasPrefix(key, sentPrefix)
}

// Write is what a transaction has made of a record that other machines have, too.
type Write struct {
	Key, Raw string
	Deleted  bool
	Old      string // before the transaction
	Had      bool
}

// Tx is a transaction of the store.
type Tx interface {
	Get(key string) (raw string, ok bool, err error)
	Put(key, raw string) error
	Delete(key string) error
	// Scan calls fn with the keys that have a prefix, in order, until it returns false.
	Scan(prefix string, fn func(key, raw string) (more bool, err error)) error
	// Shared returns what it has written that goes to other machines, in order.
	Shared() []Write
	// Done returns up to which number an outbox is replayed, by a record that all machines
	// have. SetDone writes it.
	Done(id string) (uint64, error)
	SetDone(id string, number uint64) error
	Time() time.Time
}

// Head is what is to be known without looking at the items.
type Head struct {
	ID      string `json:"id"`      // of this outbox, random; "": there was never an item
	Last    uint64 `json:"last"`    // number that an item got
	Batch   uint64 `json:"epoch"`   // the items of this one are applied; TakeBack begins another
	Applied int    `json:"applied"` // how many items these are
	Waiting int    `json:"waiting"` // the applied ones included
	Refused int    `json:"refused"`
	Bytes   int    `json:"bytes"`
	Sent    int    `json:"sent,omitempty"` // how many of the waiting ones have a Sent
}

// ParseHead reads a Head, "" is an empty one.
func ParseHead(raw string) (h Head, err error) {
	if raw != "" {
		err = decode(HeadKey, raw, &h)
	}
	return h, err
}

// item is a Waiting as it is stored.
type item struct {
	Waiting
	Batch uint64 `json:"epoch,omitempty"` // in which it was applied last; 0: never
	Size  int    `json:"size"`            // in bytes, as Head.Bytes counts them
	Sent  string `json:"sent,omitempty"`  // the transaction that may be in the log and is done then
}

func decode(key, raw string, v any) error {
	if err := json.Unmarshal([]byte(raw), v); err != nil {
		return fault.Wrap(fault.Internal, err, "what waits for the other machines can't be read").WithRef(key)
	}
	return nil
}

func putJSON(tx Tx, key string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "what waits for the other machines can't be encoded")
	}
	return tx.Put(key, string(raw))
}

func getHead(tx Tx) (Head, error) {
	raw, _, err := tx.Get(HeadKey)
	if err != nil {
		return Head{}, err
	}
	return ParseHead(raw)
}

func getItem(tx Tx, number uint64) (it item, ok bool, err error) {
	raw, ok, err := tx.Get(waitingKey(number))
	if err == nil && ok {
		err = decode(waitingKey(number), raw, &it)
	}
	return it, ok, err
}

func eachItem(tx Tx, fn func(it *item) (more bool, err error)) error {
	return tx.Scan(waitingPrefix, func(key, raw string) (bool, error) {
		var it item
		if err := decode(key, raw, &it); err != nil {
			return false, err
		}
		return fn(&it)
	})
}

// errDone is what a replay gets whose item has ended.
var errDone = fault.Clash(fault.State, "it has reached the other machines already")

// isDone reports whether an item is done, or there is none.
func isDone(tx Tx, number uint64) (bool, error) {
	h, err := getHead(tx)
	if err != nil {
		return false, err
	}
	_, ok, err := getItem(tx, number)
	if err != nil || !ok {
		return err == nil, err
	}
	done, err := tx.Done(h.ID)
	return done >= number, err
}

// Before is called before the function of a transaction.
func Before(tx Tx, c *Call) error {
	if !c.endsItem() {
		return nil
	}
	done, err := isDone(tx, c.number)
	if err == nil && done {
		return errDone
	}
	return err
}

// After is called when the function of a transaction has written what it writes. provisional says
// that it is to be taken here. It returns whether there was anything for other machines, and the
// number of the item that the transaction is in when it is taken here.
func After(tx Tx, c *Call, provisional bool) (wrote bool, number uint64, err error) {
	writes := tx.Shared()
	switch {
	case len(writes) == 0:
		return false, 0, nil
	case provisional:
		number, err = addToItem(tx, c, writes)
		return true, number, err
	case !c.endsItem():
		return true, 0, nil
	}
	h, err := getHead(tx)
	if err != nil {
		return true, 0, err
	}
	return true, 0, errors.Join(deleteItem(tx, c.number), tx.SetDone(h.ID, c.number))
}

// addToItem puts the writes of a transaction that is taken here into its item.
func addToItem(tx Tx, c *Call, writes []Write) (number uint64, err error) {
	h, err := getHead(tx)
	if err != nil {
		return 0, err
	}
	if h.ID == "" {
		h.ID, h.Batch = newID(), 1
	}
	it, err := itemOf(tx, c, &h)
	if err != nil {
		return 0, err
	}
	if it.Batch != h.Batch {
		it.Batch, it.Keys = h.Batch, nil
		h.Applied++
		h.Bytes -= it.Size
		it.Size = 0
	}
	size := 0
	if it.Size > 0 { // its body is counted already, and may be another one now
		size -= len(it.Body)
	}
	if !c.replay {
		it.Body, err = c.later.Body()
		if err != nil {
			return 0, err
		}
	}
	size += len(it.Body)
	for i := range writes {
		n, err := keepBase(tx, &writes[i])
		if err != nil {
			return 0, err
		}
		size += n
		if !slices.Contains(it.Keys, writes[i].Key) {
			it.Keys = append(it.Keys, writes[i].Key)
		}
	}
	it.Size += size
	h.Bytes += size
	if !c.replay && (h.Waiting+h.Refused > MaxItems || h.Bytes > MaxBytes) {
		return 0, fault.New(fault.Limit, "too much waits for the other machines: at most %d changes and %d MiB", MaxItems, MaxBytes>>20).
			WithHint("connect this machine with them, and drop what they have refused")
	}
	return it.Number, errors.Join(putJSON(tx, waitingKey(it.Number), it), putJSON(tx, HeadKey, h))
}

// itemOf returns the item of a call, a new one for its first transaction.
func itemOf(tx Tx, c *Call, h *Head) (*item, error) {
	number, had := c.Queued()
	if !had {
		h.Last++
		h.Waiting++
		it := &item{Waiting: Waiting{Number: h.Last, Kind: c.later.Kind, Time: tx.Time()}}
		sent, ok := c.Sent()
		if !ok {
			return it, nil
		}
		it.Sent = sent.String()
		h.Sent++
		return it, tx.Put(sentKey(it.Sent), strconv.FormatUint(it.Number, 10))
	}
	it, ok, err := getItem(tx, number)
	switch {
	case err != nil:
		return nil, err
	case ok && it.Refused == nil:
		return &it, nil
	}
	// What it began with went to the others meanwhile.
	e := fault.New(fault.Unavailable, "the other machines can't be reached any more, and have the first part of this change")
	e.Retryable = true
	return nil, e
}

// keepBase notes what a record is according to the log, unless that is noted already, and returns
// how many bytes the write has.
func keepBase(tx Tx, w *Write) (size int, err error) {
	key := BaseKey(w.Key)
	size = len(key) + len(w.Key) + len(w.Raw)
	_, ok, err := tx.Get(key)
	if err != nil || ok {
		return size, err
	}
	base := "-"
	if w.Had {
		base = "+" + w.Old
	}
	return size + len(base), tx.Put(key, base)
}

func newID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails, says its documentation
	return hex.EncodeToString(id[:])
}

// deleteItem deletes an item, if it is there.
func deleteItem(tx Tx, number uint64) error {
	h, err := getHead(tx)
	if err != nil {
		return err
	}
	it, ok, err := getItem(tx, number)
	if err != nil || !ok {
		return err
	}
	h.remove(&it)
	return errors.Join(tx.Delete(waitingKey(number)), forgetSent(tx, &h, &it), putJSON(tx, HeadKey, h))
}

// forgetSent has an item not wait for a transaction any more.
func forgetSent(tx Tx, h *Head, it *item) error {
	if it.Sent == "" {
		return nil
	}
	if it.Refused == nil {
		h.Sent--
	}
	key := sentKey(it.Sent)
	it.Sent = ""
	return tx.Delete(key)
}

// Found ends the item that waits for a transaction, since that was found in the log. There is none
// for most transactions.
func Found(tx Tx, sent SentTransaction) error {
	raw, ok, err := tx.Get(sentKey(sent.String()))
	if err != nil || !ok {
		return err
	}
	number, err := strconv.ParseUint(raw, 10, 64)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "what waits for the other machines can't be read").WithRef(raw)
	}
	return deleteItem(tx, number)
}

// remove counts an item no more.
func (h *Head) remove(it *item) {
	if it.Refused != nil {
		h.Refused--
	} else {
		h.Waiting--
	}
	if it.Batch == h.Batch {
		h.Applied--
	}
	h.Bytes -= it.Size
}

// TakeBack makes every record what it is according to the log. Items stay.
func TakeBack(tx Tx) error {
	h, err := getHead(tx)
	if err != nil || h.Applied == 0 {
		return err
	}
	var keys []string
	err = eachItem(tx, func(it *item) (bool, error) {
		if it.Batch == h.Batch {
			keys = append(keys, it.Keys...)
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	for _, key := range slices.Backward(keys) {
		base, ok, err := tx.Get(BaseKey(key))
		switch {
		case err != nil:
			return err
		case !ok:
			continue // it was written more than once
		case base == "-":
			err = tx.Delete(key)
		default:
			err = tx.Put(key, base[1:])
		}
		if err := errors.Join(err, tx.Delete(BaseKey(key))); err != nil {
			return err
		}
	}
	h.Batch++
	h.Applied = 0
	return putJSON(tx, HeadKey, h)
}

// List returns all items.
func List(tx Tx) (list []Waiting, err error) {
	err = eachItem(tx, func(it *item) (bool, error) {
		list = append(list, it.Waiting)
		return true, nil
	})
	return list, err
}

// missing is the error for a number that no item has.
func missing(number uint64) error {
	return fault.New(fault.NotFound, "nothing with the number %d waits for the other machines", number).
		WithRef(fmt.Sprint(number)).WithHint("ctxd sync conflicts lists what was refused")
}

// getRefused returns an item whose replay was refused.
func getRefused(tx Tx, number uint64) (*item, error) {
	it, ok, err := getItem(tx, number)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, missing(number)
	case it.Refused == nil:
		return nil, fault.Clash(fault.State, "the change with the number %d is not refused, and is going to reach the other machines", number).
			WithRef(fmt.Sprint(number))
	}
	return &it, nil
}

// Drop forgets an item whose replay was refused.
func Drop(tx Tx, number uint64) error {
	if _, err := getRefused(tx, number); err != nil {
		return err
	}
	return deleteItem(tx, number)
}

// Again puts an item whose replay was refused behind all others.
func Again(tx Tx, number uint64) error {
	it, err := getRefused(tx, number)
	if err != nil {
		return err
	}
	h, err := getHead(tx)
	if err != nil {
		return err
	}
	forgot := forgetSent(tx, &h, it)
	h.Last++
	h.Waiting++
	h.Refused--
	it.Number, it.Refused = h.Last, nil
	return errors.Join(forgot, tx.Delete(waitingKey(number)), putJSON(tx, waitingKey(it.Number), it), putJSON(tx, HeadKey, h))
}

// refuseItem notes why an item can't be done.
func refuseItem(tx Tx, number uint64, why *Refusal) error {
	it, ok, err := getItem(tx, number)
	if err != nil || !ok || it.Refused != nil {
		return err
	}
	h, err := getHead(tx)
	if err != nil {
		return err
	}
	forgot := forgetSent(tx, &h, &it)
	h.Waiting--
	h.Refused++
	it.Refused = why
	return errors.Join(forgot, putJSON(tx, waitingKey(number), it), putJSON(tx, HeadKey, h))
}

// Leave ends all items that are applied: their records are ordinary ones of this machine from now
// on. One that is not is refused, so that nothing of it is lost.
func Leave(tx Tx) error {
	h, err := getHead(tx)
	if err != nil || h.ID == "" {
		return err
	}
	var list []item
	var bases []string
	failed := eachItem(tx, func(it *item) (bool, error) {
		list = append(list, *it)
		return true, nil
	})
	err = tx.Scan(basePrefix, func(key, _ string) (bool, error) {
		bases = append(bases, key)
		return true, nil
	})
	err = errors.Join(failed, err)
	for i := range list {
		it := &list[i]
		switch {
		case it.Refused != nil:
		case it.Batch == h.Batch:
			err = errors.Join(err, deleteItem(tx, it.Number))
		default:
			err = errors.Join(err, refuseItem(tx, it.Number, &Refusal{
				Kind: fault.Unavailable.String(), Time: tx.Time(),
				Message: "this machine has left the others before it could be done again",
			}))
		}
	}
	for _, key := range bases {
		err = errors.Join(err, tx.Delete(key))
	}
	return err
}
