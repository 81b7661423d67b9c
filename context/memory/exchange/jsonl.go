package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/memory"
)

// formatName and formatVersion stand in the first line.
const (
	formatName    = "ctxd-memory"
	formatVersion = 1
)

// Types of lines.
const (
	typeHeader   = "header"
	typeSynonyms = "synonyms"
	typeContext  = "context"
	typeMemory   = "memory"
	typeVersion  = "version"
	typeNumbers  = "numbers"
	typeEnd      = "end"
)

type header struct {
	Type       string `json:"type"`
	Format     string `json:"format"`
	Version    int    `json:"version"`
	LastNumber int64  `json:"lastNumber"`
}

type synonymsLine struct {
	Type string `json:"type"`
	memory.Synonyms
}

type contextLine struct {
	Type string `json:"type"`
	memory.StoredContext
	Other json.RawMessage `json:"other,omitempty"` // what is not known stands among the members
}

type memoryLine struct {
	Type string `json:"type"`
	memory.Record
	Other    json.RawMessage     `json:"other,omitempty"` // as that of contextLine
	Use      *useLine            `json:"use,omitempty"`
	Contexts []memory.Membership `json:"contexts,omitempty"`
}

// useLine leaves out what is computed.
type useLine struct {
	memory.Use
	Wilson *float64 `json:"wilson,omitempty"`
}

type versionLine struct {
	Type string `json:"type"`
	memory.Former
}

type numbersLine struct {
	Type string `json:"type"`
	memory.Numbers
}

type endLine struct {
	Type  string `json:"type"`
	Lines int    `json:"lines"`
}

// lineOf returns what is written of a row, and its members that are not known.
func lineOf(r *memory.Row) (line any, other map[string]json.RawMessage) {
	switch {
	case r.Synonyms != nil:
		return &synonymsLine{typeSynonyms, *r.Synonyms}, nil
	case r.Context != nil:
		return &contextLine{Type: typeContext, StoredContext: *r.Context}, r.Context.Other
	case r.Memory != nil:
		l := &memoryLine{Type: typeMemory, Record: r.Memory.Record, Contexts: r.Memory.Contexts}
		if r.Memory.Use != nil {
			l.Use = &useLine{Use: *r.Memory.Use}
			l.Use.Score = memory.FromHundredths(memory.Score(r.Memory.Use))
		}
		return l, r.Memory.Other
	case r.Version != nil:
		return &versionLine{typeVersion, *r.Version}, nil
	}
	return &numbersLine{typeNumbers, *r.Used}, nil
}

// appendLine appends a line with its end.
func appendLine(buf *bytes.Buffer, line any, other map[string]json.RawMessage) error {
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(line); err != nil {
		return err
	}
	known := membersOf(reflect.TypeOf(line).Elem())
	for _, name := range slices.Sorted(maps.Keys(other)) {
		if known[strings.ToLower(name)] {
			continue // by now it is known
		}
		buf.Truncate(buf.Len() - len("}\n"))
		buf.WriteByte(',')
		if err := enc.Encode(name); err != nil {
			return err
		}
		buf.Truncate(buf.Len() - 1)
		buf.WriteByte(':')
		if err := json.Compact(buf, bytes.ToValidUTF8(other[name], []byte("\uFFFD"))); err != nil {
			return err
		}
		buf.WriteString("}\n")
	}
	return nil
}

// membersOf returns the names of the JSON members of a struct, in lower case: they are read in any case.
func membersOf(t reflect.Type) map[string]bool {
	out := make(map[string]bool)
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			maps.Copy(out, membersOf(f.Type))
		case name != "" && name != "-" && name != "other":
			out[strings.ToLower(name)] = true
		}
	}
	return out
}

var knownMembers = map[string]map[string]bool{
	typeContext: membersOf(reflect.TypeFor[contextLine]()),
	typeMemory:  membersOf(reflect.TypeFor[memoryLine]()),
}

// others returns the members of a line that are not known.
func others(line []byte, typ string) (map[string]json.RawMessage, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(line, &all); err != nil {
		return nil, err
	}
	var out map[string]json.RawMessage
	for name, value := range all {
		if knownMembers[typ][strings.ToLower(name)] {
			continue
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, value); err != nil {
			return nil, err
		}
		if out == nil {
			out = make(map[string]json.RawMessage)
		}
		out[name] = compact.Bytes()
	}
	return out, nil
}

// readHeader reads the first line of an export, and returns the last number that was given.
func readHeader(r *reader) (int64, error) {
	line, err := r.next()
	if errors.Is(err, io.EOF) {
		return 0, badAt("line", 1, "is missing: the file is empty")
	}
	if err != nil {
		return 0, err
	}
	var h header
	switch err := json.Unmarshal(line, &h); {
	case err != nil, h.Type != typeHeader, h.Format != formatName:
		return 0, r.bad("is not the first line of an export of memories")
	case h.Version != formatVersion:
		return 0, r.bad("names version %d of the format, and this program reads version %d", h.Version, formatVersion)
	}
	return h.LastNumber, nil
}

func readJSONL(r *reader, yield func(memory.Row) error) error {
	if _, err := readHeader(r); err != nil {
		return err
	}
	for {
		line, err := r.next()
		if errors.Is(err, io.EOF) {
			return badAt("line", r.line+1, "is missing: the file was cut off")
		}
		if err != nil {
			return err
		}
		row, end, err := rowOf(line)
		switch {
		case err != nil:
			return r.bad("cannot be read: %v", err)
		case end == nil:
		case end.Lines != r.line-1:
			return r.bad("counts %d lines before it, and there are %d", end.Lines, r.line-1)
		default:
			return nothingBehind(r)
		}
		row.Line = r.line
		if err := eachRow(row, yield); err != nil {
			return err
		}
	}
}

func nothingBehind(r *reader) error {
	for {
		line, err := r.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			return r.bad("stands behind the last one")
		}
	}
}

// usedAtOnce is how many numbers of deleted memories one row has.
const usedAtOnce = 1000

// eachRow yields a row, in pieces where it is numbers.
func eachRow(r memory.Row, yield func(memory.Row) error) error {
	if r.Used == nil || r.Used.To > memory.MaxNumber || r.Used.To-r.Used.From < usedAtOnce {
		return yield(r)
	}
	for n := r.Used.From; n <= r.Used.To; n += usedAtOnce {
		part := memory.Row{Line: r.Line, Used: &memory.Numbers{From: n, To: min(n+usedAtOnce-1, r.Used.To)}}
		if err := yield(part); err != nil {
			return err
		}
	}
	return nil
}

var errType = errors.New("its type is not known to this program")

// rowOf reads one line behind the header; end is the last one.
func rowOf(line []byte) (r memory.Row, end *endLine, err error) {
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(line, &kind); err != nil {
		return r, nil, plain(err)
	}
	switch kind.Type {
	case typeSynonyms:
		var l synonymsLine
		err = json.Unmarshal(line, &l)
		r.Synonyms = &l.Synonyms
	case typeContext:
		var l contextLine
		if err = json.Unmarshal(line, &l); err == nil {
			l.StoredContext.Other, err = others(line, typeContext)
		}
		r.Context = &l.StoredContext
	case typeMemory:
		var l memoryLine
		if err = json.Unmarshal(line, &l); err == nil {
			l.Record.Other, err = others(line, typeMemory)
		}
		r.Memory = &memory.Whole{Record: l.Record, Contexts: l.Contexts}
		if l.Use != nil {
			r.Memory.Use = &l.Use.Use
		}
	case typeVersion:
		var l versionLine
		err = json.Unmarshal(line, &l)
		r.Version = &l.Former
	case typeNumbers:
		var l numbersLine
		err = json.Unmarshal(line, &l)
		r.Used = &l.Numbers
	case typeEnd:
		end = new(endLine)
		err = json.Unmarshal(line, end)
	default:
		err = errType
	}
	return r, end, plain(err)
}

// plain says what is wrong with a JSON text without a word of it.
func plain(err error) error {
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case err == nil, errors.Is(err, errType):
		return err
	case errors.As(err, &syntax):
		return errors.New("it is no JSON object")
	case errors.As(err, &typ):
		return errors.New("a member of it, " + typ.Field + ", has the wrong type")
	}
	return errors.New("a member of it has a wrong value")
}
