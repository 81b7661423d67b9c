package memory

// A StoredMemory says how a memory lies in the store, a usedNumber how the numbers that were used do.
//
// A memory has many small members, and all memories are in memory, so they are no JSON: the texts of one that was read
// are parts of the stored record. Up to format 9 of the store they were JSON, and are read as that; members that a
// program does not know are kept when the record is written again.
//
// A record of a memory is
//
//	form      one byte, 1
//	flags     a number, see the constants below
//	texts     those of StoredMemory.textMembers
//	lists     those of StoredMemory.listMembers
//	numbers   number, version, how many supported it
//	weights   importance and confidence, 8 bytes each
//	times     created, updated, tier since, confidence at; then those of StoredMemory.timeMembers that it has
//	the rest  a JSON object, if there is any: "other", "writtenOn", and members that are not known to this program
//
// Nothing is kept, and all of it is safe for concurrent use.

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/disk"
	"github.com/ctxd/ctxd/entities/record"
)

// StoredMemory is a memory as it is stored.
type StoredMemory struct {
	record.MemoryRecord
	// HandleText is what the handle was made of, once the memory says something else: who may not
	// see a name in it does not see the handle.
	HandleText string `json:"handleText,omitempty"`
	// OpenHandles are those that a remote reader may know it by, once it has been private.
	OpenHandles refs.OpenHandles `json:"openHandles,omitempty"`
	// StatusChanges say which memories ended or contested it, for those who do not see these.
	StatusChanges []StatusChange `json:"statusChanges,omitempty"`
	// Other is what an import said of it in members that are not known here. Exports say it again.
	Other map[string]json.RawMessage `json:"other,omitempty"`

	unknown map[string]json.RawMessage // members of the stored record that this program does not know
}

// usedNumber is a number that was used. Up to format 10 of the store it had the id of its memory while there was one.
type usedNumber struct {
	ID string `json:"id,omitempty"`
}

const recordForm = 1

// The flags of a record. Behind them stands one for each of Memory.timeMembers.
const (
	flagPinned = 1 << iota
	flagAlwaysInject
	flagPrivate
	firstFlagOfTimes
)

var errRecord = errors.New("malformed memory record")

// isJSON reports whether a record is of format 9 or older: no other one begins so.
func isJSON(stored string) bool { return strings.HasPrefix(stored, "{") }

func (m *StoredMemory) textMembers() [14]*string {
	return [...]*string{
		&m.ID, &m.Handle, &m.HandleText, &m.Tier, &m.Kind, &m.Status, &m.Statement, &m.Summary,
		&m.Source.Kind, &m.Source.Client, &m.Source.ConversationID, &m.Source.NoteID, &m.SupersededBy, &m.MergedInto,
	}
}

func (m *StoredMemory) listMembers() [10]*[]string {
	return [...]*[]string{
		&m.Aliases, &m.Questions, &m.Domains, &m.Tags, &m.EntityIDs, &m.NoteIDs, &m.Source.MessageIDs,
		&m.Evidence, &m.Supersedes, &m.Contradicts,
	}
}

func (m *StoredMemory) timeMembers() [5]**time.Time {
	return [...]**time.Time{&m.ValidFrom, &m.ValidTo, &m.LastEvidenceAt, &m.EvidenceUpTo, &m.ArchivedAt}
}

// encodeStored writes a memory. What can't be of any memory, such as a number below 0, is an error.
func encodeStored(m *StoredMemory) (string, error) {
	if m.Number < 0 || m.Version < 0 || m.EvidenceCount < 0 || !isWeight(m.Importance) || !isWeight(m.Confidence) {
		return "", fmt.Errorf("number %d, version %d, evidence %d", m.Number, m.Version, m.EvidenceCount)
	}
	flags := flagIf(flagPinned, m.Pinned) | flagIf(flagAlwaysInject, m.AlwaysInject) | flagIf(flagPrivate, m.Private)
	for i, t := range m.timeMembers() {
		flags |= flagIf(firstFlagOfTimes<<i, *t != nil)
	}
	b := append(make([]byte, 0, len(m.Statement)+512), recordForm)
	b = disk.AppendUint(b, flags)
	for _, s := range m.textMembers() {
		b = disk.AppendText(b, *s)
	}
	for _, list := range m.listMembers() {
		b = disk.AppendTexts(b, *list)
	}
	for _, n := range [...]uint64{uint64(m.Number), uint64(m.Version), uint64(m.EvidenceCount)} {
		b = disk.AppendUint(b, n)
	}
	for _, weight := range [...]float64{m.Importance, m.Confidence} {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(weight))
	}
	b, err := appendTimes(b, m)
	if err != nil {
		return "", err
	}
	if b, err = appendRest(b, m); err != nil {
		return "", err
	}
	return string(b), nil
}

func appendTimes(b []byte, m *StoredMemory) ([]byte, error) {
	var err error
	for _, t := range [...]time.Time{m.CreatedAt, m.UpdatedAt, m.TierSince, m.ConfidenceAt} {
		if b, err = disk.AppendTime(b, t); err != nil {
			return nil, err
		}
	}
	for _, t := range m.timeMembers() {
		if *t == nil {
			continue
		}
		if b, err = disk.AppendTime(b, **t); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// Members of the rest.
const (
	restOther         = "other"         // what an import said
	restWrittenOn     = "writtenOn"     // see writtenOn
	restOpenHandles   = "openHandles"   // see StoredMemory
	restStatusChanges = "statusChanges" // see StoredMemory
)

// writtenOn says on which machine a version of a memory was written. A program that does not know it keeps it, also
// when it writes the next version, of which it says nothing then.
type writtenOn struct {
	Machine string `json:"machine"`
	Version int    `json:"version"`
}

var (
	writtenOnJSON = kv.JSON[writtenOn]()
	handlesJSON   = kv.JSON[refs.OpenHandles]()
	changesJSON   = kv.JSON[[]StatusChange]()
)

// membersJSON writes what is not known as it was read.
var membersJSON = kv.JSON[map[string]json.RawMessage]()

func appendRest(b []byte, m *StoredMemory) ([]byte, error) {
	if len(m.unknown) == 0 && len(m.Other) == 0 && len(m.OpenHandles) == 0 && len(m.StatusChanges) == 0 && m.Source.Machine == "" {
		return b, nil
	}
	rest := make(map[string]json.RawMessage, len(m.unknown)+4)
	maps.Copy(rest, m.unknown)
	if m.Source.Machine != "" {
		on, err := writtenOnJSON.Encode(&writtenOn{m.Source.Machine, m.Version})
		if err != nil {
			return nil, err
		}
		rest[restWrittenOn] = json.RawMessage(on)
	}
	if len(m.Other) > 0 {
		other, err := membersJSON.Encode(&m.Other)
		if err != nil {
			return nil, err
		}
		rest[restOther] = json.RawMessage(other)
	}
	if len(m.OpenHandles) > 0 {
		open, err := handlesJSON.Encode(&m.OpenHandles)
		if err != nil {
			return nil, err
		}
		rest[restOpenHandles] = json.RawMessage(open)
	}
	if len(m.StatusChanges) > 0 {
		changes, err := changesJSON.Encode(&m.StatusChanges)
		if err != nil {
			return nil, err
		}
		rest[restStatusChanges] = json.RawMessage(changes)
	}
	text, err := membersJSON.Encode(&rest)
	return append(b, text...), err
}

func isWeight(w float64) bool { return w >= 0 && w <= 1 }

func flagIf(flag uint64, set bool) uint64 {
	if set {
		return flag
	}
	return 0
}

// decodeStored reads what Encode or a program of an older format wrote.
func decodeStored(stored string) (*StoredMemory, error) {
	if isJSON(stored) {
		return decodeJSON(stored)
	}
	r := disk.RecordReader{Rest: stored}
	form, flags := r.Byte(), r.Uint()
	m := new(StoredMemory)
	m.Pinned, m.AlwaysInject, m.Private = flags&flagPinned != 0, flags&flagAlwaysInject != 0, flags&flagPrivate != 0
	for _, s := range m.textMembers() {
		*s = r.Text()
	}
	for _, list := range m.listMembers() {
		*list = r.Texts()
	}
	if len(m.Source.MessageIDs) == 0 {
		m.Source.MessageIDs = nil
	}
	m.Number, m.Version, m.EvidenceCount = int64(r.Int()), r.Int(), r.Int()
	m.Importance, m.Confidence = readWeight(&r), readWeight(&r)
	m.CreatedAt, m.UpdatedAt, m.TierSince, m.ConfidenceAt = r.Time(), r.Time(), r.Time(), r.Time()
	times := m.timeMembers()
	for i, t := range times {
		if flags&(firstFlagOfTimes<<i) != 0 {
			at := r.Time()
			*t = &at
		}
	}
	if form != recordForm || r.Bad || flags >= firstFlagOfTimes<<len(times) {
		return nil, errRecord
	}
	if r.Rest == "" {
		return m, nil
	}
	return m, m.readRest(r.Rest)
}

func readWeight(r *disk.RecordReader) float64 {
	const size = 8
	if len(r.Rest) < size {
		r.Bad = true
		return 0
	}
	weight := math.Float64frombits(binary.LittleEndian.Uint64([]byte(r.Rest[:size])))
	r.Rest = r.Rest[size:]
	r.Bad = r.Bad || !isWeight(weight)
	return weight
}

func (m *StoredMemory) readRest(text string) error {
	var rest map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &rest); err != nil {
		return err
	}
	if other, ok := rest[restOther]; ok {
		if err := json.Unmarshal(other, &m.Other); err != nil {
			return err
		}
		delete(rest, restOther)
	}
	if open, ok := rest[restOpenHandles]; ok {
		if err := json.Unmarshal(open, &m.OpenHandles); err != nil {
			return err
		}
		delete(rest, restOpenHandles)
	}
	if changes, ok := rest[restStatusChanges]; ok {
		if err := json.Unmarshal(changes, &m.StatusChanges); err != nil {
			return err
		}
		delete(rest, restStatusChanges)
	}
	if text, ok := rest[restWrittenOn]; ok {
		on, err := writtenOnJSON.Decode(string(text))
		if err != nil {
			return err
		}
		if on.Version == m.Version {
			m.Source.Machine = on.Machine
		}
		delete(rest, restWrittenOn)
	}
	if len(rest) > 0 {
		m.unknown = rest
	}
	return nil
}

// decodeJSON reads a memory as it was stored up to format 9. Members that are not known are kept.
func decodeJSON(stored string) (*StoredMemory, error) {
	m := new(StoredMemory)
	strict := json.NewDecoder(strings.NewReader(stored))
	strict.DisallowUnknownFields()
	if strict.Decode(m) == nil && !strict.More() {
		return m, nil // as nearly all of them
	}
	m = new(StoredMemory)
	if err := json.Unmarshal([]byte(stored), m); err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(stored), &all); err != nil {
		return nil, err
	}
	for _, member := range reflect.VisibleFields(reflect.TypeFor[StoredMemory]()) {
		name, _, _ := strings.Cut(member.Tag.Get("json"), ",")
		delete(all, name)
	}
	delete(all, restWrittenOn) // means nothing here
	if len(all) > 0 {
		m.unknown = all
	}
	return m, nil
}

const numberedForm = "\x01"

// usedNumberCodec writes a number that was used as the form and the id.
var usedNumberCodec = kv.Codec[usedNumber]{
	Encode: func(n *usedNumber) (string, error) { return numberedForm + n.ID, nil },
	Decode: func(stored string) (*usedNumber, error) {
		if isJSON(stored) {
			return numberedJSON.Decode(stored)
		}
		id, ok := strings.CutPrefix(stored, numberedForm)
		if !ok {
			return nil, errRecord
		}
		return &usedNumber{ID: id}, nil
	},
}

var numberedJSON = kv.JSON[usedNumber]()

// lastNumberCodec writes the last number in digits, as JSON does.
var lastNumberCodec = kv.Codec[int64]{
	Encode: func(n *int64) (string, error) { return strconv.FormatInt(*n, 10), nil },
	Decode: func(stored string) (*int64, error) {
		n, err := strconv.ParseInt(stored, 10, 64)
		return &n, err
	},
}
