package memory

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

var drawnText = rapid.OneOf(rapid.SampledFrom([]string{"", "a", "{", "\x01", "日本", "a/b", "\u2028<&>"}), rapid.String())

// drawnTime is of the years that JSON knows.
var drawnTime = rapid.Custom(func(t *rapid.T) time.Time {
	first, last := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
	return time.Unix(rapid.Int64Range(first, last).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).UTC()
})

// drawnRecord is any record that can be stored.
var drawnRecord = rapid.Custom(func(t *rapid.T) *StoredMemory {
	m := &StoredMemory{MemoryRecord: record.MemoryRecord{
		Number: rapid.Int64Range(0, math.MaxInt64).Draw(t, "number"), Version: rapid.IntRange(0, math.MaxInt).Draw(t, "version"),
		EvidenceCount: rapid.IntRange(0, 1000).Draw(t, "evidence"),
		Importance:    rapid.Float64Range(0, 1).Draw(t, "importance"), Confidence: rapid.Float64Range(0, 1).Draw(t, "confidence"),
		Pinned: rapid.Bool().Draw(t, "pinned"), AlwaysInject: rapid.Bool().Draw(t, "injected"), Private: rapid.Bool().Draw(t, "private"),
		CreatedAt: drawnTime.Draw(t, "created"), UpdatedAt: drawnTime.Draw(t, "updated"),
		TierSince: drawnTime.Draw(t, "since"), ConfidenceAt: drawnTime.Draw(t, "confidence"),
	}}
	for _, s := range m.textMembers() {
		*s = drawnText.Draw(t, "text")
	}
	for _, list := range m.listMembers() {
		*list = append([]string{}, rapid.SliceOfN(drawnText, 0, 3).Draw(t, "list")...)
	}
	if len(m.Source.MessageIDs) == 0 {
		m.Source.MessageIDs = nil
	}
	for _, at := range m.timeMembers() {
		if rapid.Bool().Draw(t, "has a time") {
			drawn := drawnTime.Draw(t, "time")
			*at = &drawn
		}
	}
	m.Source.Machine = drawnText.Draw(t, "machine")
	if rapid.Bool().Draw(t, "has other members") {
		m.Other = map[string]json.RawMessage{drawnText.Draw(t, "name"): json.RawMessage(`{"x":[1,null]}`)}
	}
	if rapid.Bool().Draw(t, "was private") {
		m.OpenHandles = refs.OpenHandles{drawnText.Draw(t, "open")}
	}
	return m
})

// TestMEM1_StoredAsJSONSaysIt: a memory that was stored comes back as it would from JSON, which it was stored as
// before.
func TestMEM1_StoredAsJSONSaysIt(t *testing.T) {
	asJSON := kv.JSON[StoredMemory]()
	rapid.Check(t, func(t *rapid.T) {
		m := drawnRecord.Draw(t, "memory")
		stored, err := encodeStored(m)
		if err != nil {
			t.Fatal(err)
		}
		former, err := asJSON.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		for form, stored := range map[string]string{"now": stored, "as JSON": former} {
			got, err := decodeStored(stored)
			if err != nil {
				t.Fatalf("stored %s: %v", form, err)
			}
			want, err := asJSON.Decode(former)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(StoredMemory{})); diff != "" {
				t.Fatalf("stored %s it comes back as another:\n%s", form, diff)
			}
		}
	})
}

func sample() *StoredMemory {
	at := time.Date(2026, 3, 4, 9, 0, 0, 123456789, time.UTC)
	return &StoredMemory{MemoryRecord: record.MemoryRecord{
		ID: "m1", Number: 300, Handle: "prefer_mornings_a3f2", Tier: record.TierBank, Kind: record.MemoryFact, Status: record.MemoryActive,
		Statement: "I prefer mornings", Tags: []string{"work", "日本"}, Importance: 0.7, Confidence: 0.29, Pinned: true, Version: 3,
		CreatedAt: at, UpdatedAt: at, TierSince: at, ConfidenceAt: at, ArchivedAt: &at,
		Source: record.MemorySource{Kind: "client", MessageIDs: []string{"x"}},
	}}
}

// TestMEM1_UnknownMembersSurviveARewrite: those of a later program, and of a memory that was stored as JSON.
func TestMEM1_UnknownMembersSurviveARewrite(t *testing.T) {
	m := sample()
	m.Other = map[string]json.RawMessage{"mood": json.RawMessage(`"calm"`)}
	former, err := kv.JSON[StoredMemory]().Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	now, err := encodeStored(m)
	if err != nil {
		t.Fatal(err)
	}
	const added = `"later":{"a":[1,2]},`
	for _, stored := range []string{strings.Replace(former, "{", "{"+added, 1), strings.Replace(now, `{"other"`, "{"+added+`"other"`, 1)} {
		got, err := decodeStored(stored)
		if err != nil {
			t.Fatal(err)
		}
		got.Statement = "I prefer evenings"
		again, err := encodeStored(got)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(again, `"later":{"a":[1,2]}`) || !strings.Contains(again, `"other":{"mood":"calm"}`) {
			t.Errorf("%q is written again as %q", stored, again)
		}
		back, err := decodeStored(again)
		if err != nil || back.Statement != got.Statement || string(back.Other["mood"]) != `"calm"` {
			t.Errorf("it comes back as %+v, %v", back, err)
		}
	}
}

// TestSYNC7_AnOlderProgramNamesNoMachine: one that does not know the machine keeps what it reads of it. When it writes the
// next version, that is not of that machine.
func TestSYNC7_AnOlderProgramNamesNoMachine(t *testing.T) {
	m := sample()
	m.Source.Machine = "desk"
	stored, err := encodeStored(m)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(stored, `{"writtenOn":{"machine":"desk","version":3}}`) {
		t.Errorf("stored as %q", stored)
	}
	for version, want := range map[int]string{3: "desk", 4: ""} {
		older := sample()
		older.Version, older.unknown = version, map[string]json.RawMessage{"writtenOn": json.RawMessage(`{"machine":"desk","version":3}`)}
		stored, err := encodeStored(older)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeStored(stored)
		if err != nil || got.Source.Machine != want || got.unknown != nil {
			t.Errorf("version %d is of the machine %q, %+v, %v", version, got.Source.Machine, got.unknown, err)
		}
	}
	m.Source.Machine = ""
	stored, err = encodeStored(m)
	if err != nil || strings.Contains(stored, "writtenOn") {
		t.Errorf("that of one machine is stored as %q, %v", stored, err)
	}
}

func TestMEM1_WhatIsNoRecord(t *testing.T) {
	stored, err := encodeStored(sample())
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(stored) {
		if _, err := decodeStored(stored[:cut]); err == nil {
			t.Errorf("the first %d bytes of %d are taken for a record", cut, len(stored))
		}
	}
	for name, other := range map[string]string{
		"another form": "\x02" + stored[1:], "a flag of no meaning": stored[:1] + "\xff\x0f" + stored[3:], "no JSON behind it": stored + "x",
	} {
		if _, err := decodeStored(other); err == nil {
			t.Errorf("%s: %q is taken for a record", name, other)
		}
	}
	for name, change := range map[string]func(*StoredMemory){
		"a number below 0":  func(m *StoredMemory) { m.Number = -1 },
		"a version below 0": func(m *StoredMemory) { m.Version = -1 },
		"less than nothing": func(m *StoredMemory) { m.EvidenceCount = -1 },
		"no weight":         func(m *StoredMemory) { m.Importance = math.NaN() },
		"a late time":       func(m *StoredMemory) { m.CreatedAt = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
		"no JSON in it":     func(m *StoredMemory) { m.Other = map[string]json.RawMessage{"x": json.RawMessage("{")} },
	} {
		m := sample()
		change(m)
		if stored, err := encodeStored(m); err == nil {
			t.Errorf("%s is stored as %q", name, stored)
		}
	}
}

func FuzzMemoryRecord(f *testing.F) {
	for _, change := range []func(*StoredMemory){func(*StoredMemory) {}, func(m *StoredMemory) {
		m.Other = map[string]json.RawMessage{"mood": json.RawMessage(`"calm"`)}
	}, func(m *StoredMemory) { m.Source.Machine = "desk" }} {
		m := sample()
		change(m)
		stored, err := encodeStored(m)
		if err != nil {
			f.Fatal(err)
		}
		former, err := kv.JSON[StoredMemory]().Encode(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(stored)
		f.Add(former)
	}
	f.Fuzz(func(t *testing.T, stored string) {
		m, err := decodeStored(stored)
		if err != nil {
			return
		}
		again, err := encodeStored(m)
		if isJSON(stored) && err != nil {
			return // JSON may say what no memory is
		}
		if err != nil {
			t.Fatalf("%q is read, and not written: %v", stored, err)
		}
		if !isJSON(stored) && m.Other == nil && m.unknown == nil && again != stored && !strings.HasSuffix(stored, "}") {
			t.Fatalf("%q is read, but would be written as %q", stored, again)
		}
		back, err := decodeStored(again)
		if err != nil {
			t.Fatal(err)
		}
		twice, err := encodeStored(back)
		if err != nil || twice != again {
			t.Fatalf("%q is written again as %q: %v", again, twice, err)
		}
	})
}

// TestMEM1_NumbersAsTheyWereStored: who has a number was JSON, too.
func TestMEM1_NumbersAsTheyWereStored(t *testing.T) {
	for stored, want := range map[string]string{`{"id":"m1"}`: "m1", "{}": "", numberedForm: "", numberedForm + "{": "{"} {
		got, err := usedNumberCodec.Decode(stored)
		if err != nil || got.ID != want {
			t.Errorf("%q is read as %+v, %v", stored, got, err)
		}
	}
	for _, stored := range []string{"", "m1", "\x02m1", "{"} {
		if got, err := usedNumberCodec.Decode(stored); err == nil {
			t.Errorf("%q is taken for %+v", stored, got)
		}
	}
	for _, n := range []int64{1, 42, math.MaxInt64} {
		stored, err := lastNumberCodec.Encode(&n)
		if err != nil {
			t.Fatal(err)
		}
		was, err := kv.JSON[int64]().Decode(stored)
		if err != nil || *was != n {
			t.Errorf("%d is stored as %q, which JSON reads as %v: %v", n, stored, was, err)
		}
	}
}
