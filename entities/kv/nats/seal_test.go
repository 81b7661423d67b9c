package nats_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/nats"
)

var (
	store  = nats.StoreID{1, 2, 3}
	secret = nats.Secret{4, 5, 6}
	later  = nats.Secret{7, 8, 9}
)

func ring() *nats.KeyRing { return nats.NewKeyRing(store, map[uint32]nats.Secret{0: secret, 1: later}) }

func header() *nats.MessageHeader {
	return &nats.MessageHeader{Epoch: 1, Machine: 3, Seq: 42, Group: [16]byte{9}, Part: 0, Last: true, Prev: nats.Mark{7}}
}

func TestSYNC6_OnlyTheRightKeyAtTheRightPlaceOpensAMessage(t *testing.T) {
	h := header()
	m := ring().Seal(h, []byte("The rent is due."))
	got, part, err := ring().Open(m, 42, nats.Mark{7})
	if err != nil || string(part) != "The rent is due." || got != *h {
		t.Fatalf("opened %+v, %q, %v", got, part, err)
	}
	if len(m) != nats.MessageOverhead+len("The rent is due.") {
		t.Errorf("the message has %d bytes", len(m))
	}
	if bytes.Contains(m, []byte("rent")) {
		t.Error("the text is readable in the message")
	}
	for name, c := range map[string]struct {
		ring *nats.KeyRing
		seq  uint64
		prev nats.Mark
		want nats.Reason
	}{
		"another secret":                {nats.NewKeyRing(store, map[uint32]nats.Secret{0: secret, 1: {1}}), 42, nats.Mark{7}, nats.ReasonWrongKey},
		"no key of its epoch":           {nats.NewKeyRing(store, map[uint32]nats.Secret{0: secret}), 42, nats.Mark{7}, nats.ReasonWrongKey},
		"the log of another store":      {nats.NewKeyRing(nats.StoreID{2}, map[uint32]nats.Secret{0: secret, 1: later}), 42, nats.Mark{7}, nats.ReasonMoved},
		"at a later place":              {ring(), 43, nats.Mark{7}, nats.ReasonMoved},
		"at an earlier place":           {ring(), 41, nats.Mark{7}, nats.ReasonMoved},
		"after another entry":           {ring(), 42, nats.Mark{8}, nats.ReasonCut},
		"as if nothing had gone before": {ring(), 42, nats.Mark{}, nats.ReasonCut},
	} {
		_, part, err := c.ring.Open(m, c.seq, c.prev)
		if nats.ReasonOf(err) != c.want || part != nil {
			t.Errorf("%s: got %q, %v; want refused as %s", name, part, err, c.want)
		}
		if fault.KindOf(err) != fault.Unavailable {
			t.Errorf("%s: kind %s", name, fault.KindOf(err))
		}
	}
}

func TestSYNC6_EveryChangedBitIsRefused(t *testing.T) {
	m := ring().Seal(header(), []byte("text"))
	for i := range len(m) * 8 {
		changed := bytes.Clone(m)
		changed[i/8] ^= 1 << (i % 8)
		if _, part, err := ring().Open(changed, 42, nats.Mark{7}); nats.ReasonOf(err) == "" || part != nil {
			t.Errorf("bit %d: got %q, %v", i, part, err)
		}
	}
	for n := range m {
		if _, _, err := ring().Open(m[:n], 42, nats.Mark{7}); nats.ReasonOf(err) == "" {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
}

func TestSYNC6_SealingTheSameTwiceShowsNothing(t *testing.T) {
	a, b := ring().Seal(header(), []byte("same")), ring().Seal(header(), []byte("same"))
	if bytes.Equal(a[nats.MessageHeaderSize:], b[nats.MessageHeaderSize:]) {
		t.Error("the same text gives the same ciphertext")
	}
}

func TestSYNC6_MarksDependOnAllThatWentBefore(t *testing.T) {
	marks := make(map[nats.Mark]string)
	for name, m := range map[string]nats.Mark{
		"nothing":      {},
		"a":            nats.NextMark(nats.Mark{}, []byte("a")),
		"a, then b":    nats.NextMark(nats.NextMark(nats.Mark{}, []byte("a")), []byte("b")),
		"b, then a":    nats.NextMark(nats.NextMark(nats.Mark{}, []byte("b")), []byte("a")),
		"a and b":      nats.NextMark(nats.Mark{}, []byte("a"), []byte("b")),
		"ab":           nats.NextMark(nats.Mark{}, []byte("ab")),
		"empty and ab": nats.NextMark(nats.Mark{}, nil, []byte("ab")),
	} {
		if other, twice := marks[m]; twice {
			t.Errorf("%s and %s have one mark", name, other)
		}
		marks[m] = name
	}
}

func TestSYNC6_RecordsAreBoundToTheirName(t *testing.T) {
	sealed := ring().SealRecord(1, "machine/3", []byte("laptop"))
	epoch, record, err := ring().OpenRecord("machine/3", sealed)
	if err != nil || epoch != 1 || string(record) != "laptop" {
		t.Fatalf("opened %d, %q, %v", epoch, record, err)
	}
	if _, _, err := ring().OpenRecord("machine/4", sealed); nats.ReasonOf(err) != nats.ReasonAltered {
		t.Errorf("under another name: %v", err)
	}
	old := nats.NewKeyRing(store, map[uint32]nats.Secret{0: secret})
	if _, _, err := old.OpenRecord("machine/3", sealed); nats.ReasonOf(err) != nats.ReasonWrongKey {
		t.Errorf("without the key: %v", err)
	}
	for i := range len(sealed) * 8 {
		changed := bytes.Clone(sealed)
		changed[i/8] ^= 1 << (i % 8)
		if _, _, err := ring().OpenRecord("machine/3", changed); nats.ReasonOf(err) == "" {
			t.Errorf("bit %d: %v", i, err)
		}
	}
	if _, _, err := ring().OpenRecord("machine/3", sealed[:20]); nats.ReasonOf(err) != nats.ReasonMalformed {
		t.Errorf("cut: %v", err)
	}
}

func TestSYNC8_ABoxOpensForItsMachineAlone(t *testing.T) {
	laptop, desktop := nats.NewMachineKey(), nats.NewMachineKey()
	box, err := nats.SealBox(laptop.PublicKey(), "epoch 1, machine 3", later[:])
	if err != nil || len(box) != len(later)+nats.BoxOverhead {
		t.Fatal(len(box), err)
	}
	if got, err := nats.OpenBox(laptop, "epoch 1, machine 3", box); err != nil || !bytes.Equal(got, later[:]) {
		t.Errorf("got %x, %v", got, err)
	}
	if _, err := nats.OpenBox(desktop, "epoch 1, machine 3", box); nats.ReasonOf(err) != nats.ReasonAltered {
		t.Errorf("another machine: %v", err)
	}
	if _, err := nats.OpenBox(laptop, "epoch 2, machine 3", box); nats.ReasonOf(err) != nats.ReasonAltered {
		t.Errorf("about something else: %v", err)
	}
	for n := range box {
		if _, err := nats.OpenBox(laptop, "epoch 1, machine 3", box[:n]); nats.ReasonOf(err) == "" {
			t.Errorf("cut to %d: %v", n, err)
		}
	}
	if _, err := nats.OpenBox(laptop, "", make([]byte, 100)); nats.ReasonOf(err) == "" {
		t.Errorf("a public key of zeros: %v", err)
	}
}

func TestSYNC6_PackingGivesBackTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entry := bytes.Repeat(rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "entry"), rapid.IntRange(1, 50).Draw(t, "times"))
		packed, smaller := nats.PackEntry(entry)
		if !smaller {
			if !bytes.Equal(packed, entry) {
				t.Fatal("not packed, and not the same")
			}
			return
		}
		got, err := nats.UnpackEntry(packed, len(entry))
		if err != nil || !bytes.Equal(got, entry) {
			t.Fatalf("%d bytes became %d, %v", len(entry), len(got), err)
		}
	})
}

func TestSYNC6_WhatWouldBecomeTooLargeIsRefused(t *testing.T) {
	packed, smaller := nats.PackEntry(make([]byte, 4<<20))
	if !smaller || len(packed) > 1000 {
		t.Fatal("zeros do not pack")
	}
	if _, err := nats.UnpackEntry(packed, 1<<20); nats.ReasonOf(err) != nats.ReasonTooLarge {
		t.Errorf("got %v", err)
	}
	if _, err := nats.UnpackEntry([]byte("no such thing"), 1<<20); nats.ReasonOf(err) != nats.ReasonMalformed {
		t.Errorf("got %v", err)
	}
}

// The list is that of BIP-39, and the words are those of its published test vectors.
func TestSYNC6_WordsAreThoseOfBIP39(t *testing.T) {
	var list strings.Builder
	for i := range 2048 {
		list.WriteString(nats.WordAt(i) + "\n")
	}
	if sum := sha256.Sum256([]byte(list.String())); hex.EncodeToString(sum[:]) != "2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda" {
		t.Errorf("the list has the checksum %x", sum)
	}
	for hexed, want := range map[string]string{
		strings.Repeat("00", 32): strings.Repeat("abandon ", 23) + "art",
		strings.Repeat("7f", 32): "legal winner thank year wave sausage worth useful legal winner thank year wave sausage worth useful legal winner thank year wave sausage worth title",
		strings.Repeat("ff", 32): strings.Repeat("zoo ", 23) + "vote",
		"68a79eaca2324873eacc50cb9c6eca8cc68ea5d936f98787c60c7ebc74e6ce7c": "hamster diagram private dutch cause delay private meat slide toddler razor book happy fancy gospel tennis maple dilemma loan word shrug inflict delay length",
	} {
		var s nats.Secret
		if _, err := hex.Decode(s[:], []byte(hexed)); err != nil {
			t.Fatal(err)
		}
		if got := s.Words(); got != want {
			t.Errorf("%s: got %s", hexed, got)
		}
	}
}

func TestSYNC6_WordsAreReadBackAndMistakesAreFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s nats.Secret
		copy(s[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "secret"))
		list := strings.Fields(s.Words())
		for i, w := range list {
			if rapid.Bool().Draw(t, "cut") && len(w) > 4 {
				list[i] = w[:4]
			}
		}
		got, err := nats.ParseSecret(" " + strings.ToUpper(strings.Join(list, "\n ")) + " ")
		if err != nil || got != s {
			t.Fatalf("%v", err)
		}
		if got.Check() != s.Check() {
			t.Fatal("the check differs")
		}
	})
	right := strings.Fields(secret.Words())
	for name, list := range map[string][]string{
		"one missing":  right[1:],
		"no such word": append([]string{"ctxd"}, right[1:]...),
		"exchanged":    append([]string{right[1], right[0]}, right[2:]...),
	} {
		_, err := nats.ParseSecret(strings.Join(list, " "))
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSEC2_ASecretPrintsNothing(t *testing.T) {
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if got := fmt.Sprintf(format, secret); got != "[secret]" {
			t.Errorf("%s prints %s", format, got)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(ring().Seal(header(), []byte("text")))
	f.Add(ring().SealRecord(0, "name", []byte("text")))
	f.Add([]byte("CTX1"))
	whole := ring().Seal(header(), []byte("whole"))
	f.Fuzz(func(t *testing.T, m []byte) {
		if _, part, err := ring().Open(m, 42, nats.Mark{7}); err == nil && string(part) != "text" {
			t.Errorf("opened %q", part)
		} else if err != nil && nats.ReasonOf(err) == "" {
			t.Errorf("no reason: %v", err)
		}
		if _, _, err := ring().OpenRecord("other", m); nats.ReasonOf(err) == "" {
			t.Errorf("a record was opened: %v", err)
		}
		if _, err := nats.UnpackEntry(m, 1<<16); err != nil && nats.ReasonOf(err) == "" {
			t.Errorf("no reason: %v", err)
		}
		if _, err := nats.PeekHeader(append(whole[:0:0], m...)); err != nil && nats.ReasonOf(err) == "" {
			t.Errorf("no reason: %v", err)
		}
	})
}
