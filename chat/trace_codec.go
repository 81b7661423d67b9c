package chat

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/disk"
	"github.com/ctxd/ctxd/entities/record"
)

// A prompt shows and drops a hundred records and more, whose ids and words are nearly all of a trace. So these two lists
// are no JSON: an id that is a UUID takes 16 bytes, and a word that was there before one. That of the sample vault has
// 4 KB instead of 12. The rest is JSON, and has room for what later versions add.

// form begins a Record.
const form = 1

// What a flag says of a Reference.
const (
	flagCut = 1 << iota
	flagUsed
)

var recordCodec = kv.Codec[Trace]{
	Encode: func(t *Trace) (string, error) {
		w := writer{b: append(make([]byte, 0, 1024), form)}
		w.number(len(t.References))
		for i := range t.References {
			w.reference(&t.References[i])
		}
		w.number(len(t.Dropped))
		for _, d := range t.Dropped {
			w.word(d.Kind)
			w.id(d.ID)
			w.word(string(d.Reason))
		}
		rest := *t
		rest.References, rest.Dropped = nil, nil
		more, err := json.Marshal(&rest)
		return string(append(w.b, more...)), err
	},
	Decode: func(stored string) (*Trace, error) {
		r := reader{RecordReader: disk.RecordReader{Rest: stored}}
		is := r.Byte()
		references := make([]TraceReference, r.length())
		for i := range references {
			r.reference(&references[i])
		}
		dropped := make([]TraceDrop, r.length())
		for i := range dropped {
			dropped[i] = TraceDrop{Kind: r.word(), ID: r.id(), Reason: prompt.Reason(r.word())}
		}
		if is != form || r.Bad {
			return nil, errors.New("it is no trace of an answer")
		}
		t := new(Trace)
		if err := json.Unmarshal([]byte(r.Rest), t); err != nil {
			return nil, err
		}
		t.References, t.Dropped = references, dropped
		return t, nil
	},
}

// writer writes the lists of a Record.
type writer struct {
	b     []byte
	words []string // that stand in it
}

func (w *writer) number(n int) { w.b = disk.AppendUint(w.b, uint64(max(n, 0))) }

// word writes a word, or its place among those before.
func (w *writer) word(word string) {
	at := slices.Index(w.words, word)
	w.number(at + 1)
	if at < 0 {
		w.b = disk.AppendText(w.b, word)
		w.words = append(w.words, word)
	}
}

// uuidBytes is how many bytes a UUID has, uuidLength how long it is as a text.
const (
	uuidBytes  = 16
	uuidLength = 36
)

// id writes an id: a 1 and its bytes when it is a UUID, else a 0 and its text.
func (w *writer) id(id string) {
	var raw [uuidBytes]byte
	if !parseUUID(id, &raw) {
		w.number(0)
		w.b = disk.AppendText(w.b, id)
		return
	}
	w.number(1)
	w.b = append(w.b, raw[:]...)
}

// parseUUID reads a UUID as this program writes them, in lower case, and reports whether it is one.
func parseUUID(id string, raw *[uuidBytes]byte) bool {
	if len(id) != uuidLength {
		return false
	}
	digits := 0
	for i := range len(id) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if id[i] != '-' {
				return false
			}
			continue
		}
		at := strings.IndexByte("0123456789abcdef", id[i])
		if at < 0 {
			return false
		}
		raw[digits/2] = raw[digits/2]<<4 | byte(at)
		digits++
	}
	return true
}

func writeUUID(raw *[uuidBytes]byte) string {
	s := hex.EncodeToString(raw[:])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

func (w *writer) reference(r *TraceReference) {
	w.word(r.Kind)
	w.id(r.ID)
	w.word(r.Origin)
	w.number(r.Section)
	w.number(r.Chars)
	w.number(r.Depth)
	flags := 0
	if r.Cut {
		flags |= flagCut
	}
	if r.Used {
		flags |= flagUsed
	}
	w.number(flags)
	w.word(string(r.How))
	w.number(len(r.Tools))
	for _, tool := range r.Tools {
		w.word(tool)
	}
}

// reader reads what a writer has written.
type reader struct {
	disk.RecordReader
	words []string
}

// length reads how many entries a list has: no more than there are bytes.
func (r *reader) length() int {
	n := r.Int()
	if r.Bad || n > len(r.Rest) {
		r.Bad = true
		return 0
	}
	return n
}

func (r *reader) word() string {
	at := r.Int()
	if at == 0 {
		r.words = append(r.words, r.Text())
		at = len(r.words)
	}
	if r.Bad || at > len(r.words) {
		r.Bad = true
		return ""
	}
	return r.words[at-1]
}

func (r *reader) id() string {
	switch r.Int() {
	case 0:
		return r.Text()
	case 1:
		if len(r.Rest) < uuidBytes {
			break
		}
		var raw [uuidBytes]byte
		copy(raw[:], r.Rest)
		r.Rest = r.Rest[uuidBytes:]
		return writeUUID(&raw)
	}
	r.Bad = true
	return ""
}

func (r *reader) reference(out *TraceReference) {
	out.Kind, out.ID, out.Origin = r.word(), r.id(), r.word()
	out.Section, out.Chars, out.Depth = r.Int(), r.Int(), r.Int()
	flags := r.Int()
	out.Cut, out.Used = flags&flagCut != 0, flags&flagUsed != 0
	out.How = record.ToolHow(r.word())
	for range r.length() {
		out.Tools = append(out.Tools, r.word())
	}
}
